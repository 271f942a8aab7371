//! The rules of `deny.toml`, as far as they need no network: licences, duplicates, sources.
//!
//! The file is that of cargo-deny, which checks the same and takes ten times as long to install.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;

use informer_surface::{Package, Workspace, root};
use serde_json::Value;

use crate::licence;

/// How cargo names crates.io, whichever mirror the crates came from.
const CRATES_IO: &str = "/rust-lang/crates.io-index";

struct Rules {
    licences: Vec<String>,
    /// The older versions of crates that are there in several, such as `syn@2`.
    skipped: BTreeSet<String>,
}

/// Checks all packages of the lock file.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let rules = Rules::read(&fs::read_to_string(root().join("deny.toml"))?)?;
    let workspace = Workspace::all()?;
    let packages: Vec<_> = workspace.packages.iter().collect();
    let complaints = rules.complaints(&packages);
    if complaints.is_empty() {
        let foreign = workspace.foreign().count();
        println!(
            "{foreign} crates of others: licences, duplicates and sources are as deny.toml wants them"
        );
        return Ok(());
    }
    Err(format!("deny.toml is not met:\n  {}", complaints.join("\n  ")).into())
}

impl Rules {
    fn read(text: &str) -> Result<Self, Box<dyn Error>> {
        let file: Value = toml::from_str(text)?;
        let list = |pointer| {
            let values = file.pointer(pointer).and_then(Value::as_array);
            values.ok_or_else(|| format!("deny.toml has no list {pointer}"))
        };
        let licences = list("/licenses/allow")?.iter().filter_map(Value::as_str);
        let skipped = list("/bans/skip")?
            .iter()
            .map(|entry| {
                let text = |name| entry.get(name).and_then(Value::as_str);
                let reason = text("reason").filter(|reason| !reason.is_empty());
                match (text("crate"), reason) {
                    (Some(name), Some(_)) => Ok(name.to_owned()),
                    _ => Err(format!("{entry} of deny.toml needs a crate and a reason")),
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            licences: licences.map(str::to_owned).collect(),
            skipped,
        })
    }

    fn complaints(&self, packages: &[&Package]) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut versions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut unused = self.skipped.clone();
        for package in packages {
            let id = format!("{}@{}", package.name, package.version);
            match self.skipped.iter().find(|skipped| is_of(package, skipped)) {
                Some(skipped) => _ = unused.remove(skipped),
                None => versions.entry(&package.name).or_default().push(id.clone()),
            }
            if package
                .source
                .as_deref()
                .is_some_and(|it| !it.ends_with(CRATES_IO))
            {
                complaints.push(format!("{id} is not from crates.io"));
            }
            let licence = package.license.as_deref().unwrap_or_default();
            match licence::is_met(licence, &self.licences) {
                Some(true) => {}
                Some(false) => {
                    complaints.push(format!("{id}: the licence {licence} is not allowed"))
                }
                None => complaints.push(format!("{id}: the licence {licence:?} cannot be read")),
            }
        }
        for ids in versions.values().filter(|ids| ids.len() > 1) {
            let ids = ids.join(", ");
            complaints.push(format!(
                "{ids}: one crate in several versions; explain all but one"
            ));
        }
        let unused = unused.iter();
        complaints.extend(unused.map(|id| format!("{id} is explained, but it is not there")));
        complaints
    }
}

/// Whether `syn@2` or the like is meant to be this package.
fn is_of(package: &Package, skipped: &str) -> bool {
    let Some((name, version)) = skipped.split_once('@') else {
        return false;
    };
    let rest = package.version.strip_prefix(version);
    name == package.name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT"]
        [bans]
        skip = [{ crate = "syn@2", reason = "macros" }]
    "#;

    fn package(name: &str, version: &str, licence: &str, registry: &str) -> Package {
        let source = format!("registry+https://{registry}");
        let entry = json!({"name": name, "version": version, "license": licence, "source": source});
        Package::read(&entry)
    }

    fn complaints(packages: &[Package]) -> Vec<String> {
        let rules = Rules::read(RULES).map_err(|error| error.to_string());
        let packages: Vec<_> = packages.iter().collect();
        rules.map_or_else(|error| vec![error], |rules| rules.complaints(&packages))
    }

    #[test]
    fn each_rule_is_checked() {
        let ours = |name, version, licence| package(name, version, licence, CRATES_IO);
        let syn = || [ours("syn", "2.0.1", "MIT"), ours("syn", "3.0.1", "MIT")];
        assert_eq!(complaints(&syn()), [""; 0]);

        let mut packages = Vec::from(syn());
        packages.push(ours("gpl", "1.0.0", "GPL-3.0"));
        packages.push(package("private", "1.0.0", "MIT", "example.org/index"));
        packages.push(ours("twice", "1.0.0", "MIT"));
        packages.push(ours("twice", "2.0.0", "MIT"));
        assert_eq!(
            complaints(&packages),
            [
                "gpl@1.0.0: the licence GPL-3.0 is not allowed",
                "private@1.0.0 is not from crates.io",
                "twice@1.0.0, twice@2.0.0: one crate in several versions; explain all but one",
            ]
        );
        assert_eq!(
            complaints(&[ours("syn", "20.0.1", "MIT")]),
            ["syn@2 is explained, but it is not there"]
        );
    }

    #[test]
    fn an_exception_needs_a_reason() {
        let rules = RULES.replace(", reason = \"macros\"", "");
        assert!(Rules::read(&rules).is_err());
    }
}
