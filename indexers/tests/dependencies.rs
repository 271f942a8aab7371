//! Whoever uses the indexers alone gets nothing else.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

#[test]
fn there_is_no_runtime_transport_or_front_door_below_this_crate() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--package",
            "informer-indexers",
            "--edges",
            "normal",
        ])
        .args([
            "--prefix",
            "none",
            "--format",
            "{lib}",
            "--all-features",
            "--locked",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8(tree.stdout).unwrap();
    let mut found: Vec<_> = tree
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(
        found,
        ["foldhash", "informer_core", "informer_indexers", "memchr"],
        "the core and what it stands on, nothing more"
    );
}
