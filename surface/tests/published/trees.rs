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
        "informer-cli",
        "informer-core",
        "informer-indexers",
        "informer-transport-http",
        "informer-transport-hyper",
        "informer-transport-kube",
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

#[test]
fn the_tests_of_the_project_compile_no_kube_rs() {
    let names = tree::names(&tree::tested().unwrap());
    assert!(names.lines().any(|name| name == "informer"));
    let kube: Vec<_> = names.lines().filter(|name| name.contains("kube")).collect();
    assert_eq!(kube, [""; 0]);
}

#[test]
fn those_who_do_not_use_kube_rs_do_not_get_it() {
    for package in [
        "informer",
        "informer-transport-hyper",
        "informer-transport-http",
    ] {
        let names = tree::names(&tree::graph(package, "all").unwrap());
        assert!(
            !names.lines().any(|name| name.contains("kube")),
            "{package}"
        );
    }
    let names = tree::names(&tree::graph("informer-transport-kube", "all").unwrap());
    assert!(names.lines().any(|name| name == "kube"));
}
