//! What a crate pulls in with its default features.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use crate::workspace::{APART, cargo};

/// A package: its name and its version.
pub type Id = (String, String);

/// Packages, and what each of them depends on.
pub type Graph = BTreeMap<Id, BTreeSet<Id>>;

/// The packages that a user of `package` compiles, with its default features, on `target`
/// (a triple, or `all`). What only its tests or build scripts need is not among them.
///
/// # Errors
/// Cargo fails, or prints something unexpected.
pub fn graph(package: &str, target: &str) -> Result<Graph, Box<dyn Error>> {
    let folder = package.trim_start_matches("informer-");
    let is_apart = APART.strip_suffix("/Cargo.toml") == Some(folder);
    let manifest = if is_apart { APART } else { "Cargo.toml" };
    let package = [
        "--package",
        package,
        "--edges",
        "normal",
        "--target",
        target,
    ];
    read(&tree(manifest, &package)?)
}

/// The packages that `cargo test --workspace` compiles, on all platforms.
///
/// # Errors
/// Cargo fails, or prints something unexpected.
pub fn tested() -> Result<Graph, Box<dyn Error>> {
    let all = [
        "--workspace",
        "--edges",
        "normal,build,dev",
        "--target",
        "all",
    ];
    read(&tree("Cargo.toml", &all)?)
}

fn tree(manifest: &str, of: &[&str]) -> Result<String, Box<dyn Error>> {
    let shape = [
        "tree",
        "--manifest-path",
        manifest,
        "--prefix",
        "depth",
        "--format",
        " {p}",
        "--locked",
    ];
    cargo(&[&shape, of].concat())
}

/// Reads lines such as `2 serde v1.0.229 (*)`: the depth, the name, the version.
fn read(printed: &str) -> Result<Graph, Box<dyn Error>> {
    let mut graph = Graph::new();
    let mut path: Vec<Id> = Vec::new();
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (Some(depth), Some(name), Some(version)) = (words.next(), words.next(), words.next())
        else {
            return Err(format!("`cargo tree` printed {line:?}").into());
        };
        let id = (name.to_owned(), version.trim_start_matches('v').to_owned());
        path.truncate(depth.parse()?);
        if let Some(parent) = path.last() {
            graph.entry(parent.clone()).or_default().insert(id.clone());
        }
        graph.entry(id.clone()).or_default();
        path.push(id);
    }
    Ok(graph)
}

/// The names of a graph, one per line. A name that stands for two versions is there twice.
#[must_use]
pub fn names(graph: &Graph) -> String {
    graph.keys().map(|(name, _)| format!("{name}\n")).collect()
}

/// How a tree differs from its record; `None` if it does not.
#[must_use]
pub fn difference(recorded: &str, found: &str) -> Option<String> {
    let (recorded, found) = (counted(recorded), counted(found));
    let beyond = |these: &BTreeMap<&str, usize>, those: &BTreeMap<&str, usize>| {
        let names = these.iter();
        let names = names.filter(|(name, count)| those.get(*name).is_none_or(|it| it < *count));
        names
            .map(|(name, _)| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let (new, gone) = (beyond(&found, &recorded), beyond(&recorded, &found));
    if new.is_empty() && gone.is_empty() {
        return None;
    }
    let size = |these: &BTreeMap<&str, usize>| these.values().sum::<usize>();
    Some(format!(
        "{} crates were recorded, {} are there; new: {}; gone: {}",
        size(&recorded),
        size(&found),
        if new.is_empty() {
            "none".to_owned()
        } else {
            new.join(", ")
        },
        if gone.is_empty() {
            "none".to_owned()
        } else {
            gone.join(", ")
        },
    ))
}

fn counted(names: &str) -> BTreeMap<&str, usize> {
    let mut counted = BTreeMap::new();
    for name in names.lines().filter(|line| !line.is_empty()) {
        *counted.entry(name).or_default() += 1;
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read() -> Result<(), Box<dyn Error>> {
        let graph =
            read("0 a v1.0.0 (/somewhere)\n1 b v2.0.0\n2 c v3.0.0\n1 c v3.0.0 (*)\n1 c v4.0.0\n")?;
        assert_eq!(names(&graph), "a\nb\nc\nc\n");
        let id = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        let below = [id("b", "2.0.0"), id("c", "3.0.0"), id("c", "4.0.0")];
        assert_eq!(graph.get(&id("a", "1.0.0")), Some(&BTreeSet::from(below)));
        Ok(())
    }

    #[test]
    fn a_difference_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let said = difference("a\nb\n", "a\nc\nd\n");
        let said = said.as_deref();
        assert_eq!(
            said,
            Some("2 crates were recorded, 3 are there; new: c, d; gone: b")
        );
        let twice = difference("a\n", "a\na\n");
        let twice = twice.as_deref();
        assert_eq!(
            twice,
            Some("1 crates were recorded, 2 are there; new: a; gone: none")
        );
    }
}
