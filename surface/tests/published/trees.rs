//! What comes with a crate is on record, name by name.

use std::fs;

use informer_surface::{root, tree};

/// A triple, so that the record is the same wherever the test runs.
const TARGET: &str = "x86_64-unknown-linux-gnu";

#[test]
fn no_crate_joins_a_tree_unseen() {
    let mut complaints = Vec::new();
    for package in [
        "informer",
        "informer-core",
        "informer-indexers",
        "informer-transport-http",
        "informer-transport-hyper",
        "informer-transport-mock",
    ] {
        let file = root().join(format!("surface/trees/{package}.txt"));
        let found = tree::names(&tree::graph(package, TARGET).unwrap());
        if std::env::var_os("RENEW").is_some() {
            fs::write(&file, &found).unwrap();
            continue;
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        if let Some(difference) = tree::difference(&recorded, &found) {
            complaints.push(format!("{package}: {difference}"));
        }
    }
    assert!(
        complaints.is_empty(),
        "{}\nIf you need what is new, run `RENEW=1 cargo test -p informer-surface` and commit surface/trees.",
        complaints.join("\n")
    );
}
