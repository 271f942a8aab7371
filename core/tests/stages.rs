//! Checks which modules of the core may use which others, and the size of its files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Each module and the modules that it may use. A module uses only modules above it, so there is no
/// cycle. `docs/architecture.md` has the same table.
const EDGES: &[(&str, &str)] = &[
    ("debug", ""),
    ("invariant", ""),
    ("time", ""),
    ("encoding", ""),
    ("limits", ""),
    ("version", ""),
    ("wakers", ""),
    ("object", ""),
    ("source", ""),
    ("metadata", ""),
    ("rng", ""),
    ("clock", "time"),
    ("bucket", "time"),
    ("storage", "invariant"),
    ("key", "invariant"),
    ("known", "object"),
    ("compress", ""),
    ("decoded", "compress encoding invariant key object"),
    ("failure", "invariant"),
    ("flow", "failure known object"),
    ("transport", "encoding failure source storage"),
    (
        "decode",
        "decoded encoding failure flow invariant key limits metadata object",
    ),
    ("pack", "compress decode decoded encoding"),
    (
        "reflector",
        "bucket failure flow invariant limits object rng source storage time transport version",
    ),
    ("queue", "flow invariant known limits object storage"),
    (
        "indexer",
        "flow invariant known limits object source storage version",
    ),
    ("processor", "flow indexer invariant object storage time"),
    (
        "informer",
        "decode encoding failure flow indexer invariant object processor queue reflector rng source storage time transport version",
    ),
    ("workqueue", "bucket invariant storage time"),
    ("election", "rng time"),
];

/// Returns the modules in the `use crate::…` lines of a file, without its tests.
fn used(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().map(str::trim_start);
    let lines = lines.filter_map(|line| {
        line.split_once("use crate::")
            .filter(|(before, _)| before.is_empty() || before.starts_with("pub"))
    });
    lines
        .map(|(_, path)| {
            path.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn collect(path: &Path, module: &str, edges: &mut BTreeMap<String, BTreeSet<String>>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let module = if module.is_empty() { name } else { module };
            collect(&path, module, edges);
        } else {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let module = if module.is_empty() { name } else { module };
            let used = used(&fs::read_to_string(&path).unwrap());
            let known = edges.entry(module.to_owned()).or_default();
            known.extend(used.into_iter().filter(|used| used != module));
        }
    }
}

#[test]
fn modules_use_only_modules_above_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut edges = BTreeMap::new();
    collect(&root.join("src"), "", &mut edges);
    edges.remove("lib");
    let mut above = BTreeSet::new();
    for (module, allowed) in EDGES {
        let allowed: BTreeSet<String> = allowed.split_whitespace().map(str::to_owned).collect();
        assert!(allowed.is_subset(&above), "{module} uses a module below it");
        let found = edges.remove(*module).unwrap_or_default();
        assert_eq!(found, allowed, "the modules that {module} uses");
        above.insert((*module).to_owned());
    }
    assert!(edges.is_empty(), "missing in the table: {edges:?}");
}

#[test]
fn the_document_has_the_same_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(document) = fs::read_to_string(root.join("../docs/architecture.md")) else {
        return; // A packaged crate does not contain the documents.
    };
    for (module, allowed) in EDGES {
        let uses = match allowed.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => "–".to_owned(),
            names => format!("`{}`", names.join("`, `")),
        };
        let row = format!("| `{module}` | {uses} |");
        assert!(document.contains(&row), "docs/architecture.md lacks: {row}");
    }
}

/// Files have at most 500 lines, and functions fewer than 70.
#[test]
fn files_and_functions_are_short() {
    fn visit(path: &Path) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = source.lines().collect();
            assert!(
                lines.len() <= 500,
                "{} has {} lines",
                path.display(),
                lines.len()
            );
            for (at, line) in lines.iter().enumerate() {
                let code = line.trim_start();
                let indent = line.len() - code.len();
                let is_function = [
                    "fn ",
                    "pub fn ",
                    "const fn ",
                    "pub const fn ",
                    "pub(super) fn ",
                    "pub(crate) fn ",
                    "pub(super) const fn ",
                    "pub(crate) const fn ",
                ]
                .iter()
                .any(|start| code.starts_with(start));
                if !is_function {
                    continue;
                }
                let signature = lines[at..].iter().find(|line| line.ends_with(['{', ';']));
                if signature.is_none_or(|line| line.ends_with(';')) {
                    continue;
                }
                let end = format!("{}}}", " ".repeat(indent));
                let length = lines[at..]
                    .iter()
                    .position(|line| *line == end)
                    .unwrap_or(0);
                assert!(
                    length < 70,
                    "{}:{} has {length} lines",
                    path.display(),
                    at + 1
                );
            }
        }
    }
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
