//! The indexers pull in only the core.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

#[test]
fn the_crate_does_not_depend_on_a_runtime_transport_or_front_door() {
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
        [
            "bytemuck",
            "foldhash",
            "informer_core",
            "informer_indexers",
            "memchr",
            "safe_arch",
            "triomphe",
            "wide"
        ],
        "only the core and its dependencies"
    );
}
