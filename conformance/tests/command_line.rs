//! The runner as a program: output and exit status.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;
use std::process::{Command, Output};

fn runner(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_informer-conformance"))
        .args(arguments)
        .output()
        .unwrap()
}

fn vectors() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors"))
}

#[test]
fn the_last_line_of_a_success_has_the_totals() {
    let output = runner(&[
        &vectors().join("keys.jsonl"),
        &vectors().join("indexer.jsonl"),
    ]);
    assert_eq!(output.status.code(), Some(0));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        printed,
        "keys.jsonl: 35 passed, 0 failed, 5 skipped\n  skipped 5: key_of_other\n\
         indexer.jsonl: 164 passed, 0 failed, 2 skipped\n  skipped 1: key_error\n  \
         skipped 1: index_error\n199 passed, 0 failed, 7 skipped\n"
    );
}

#[test]
fn unreadable_input_is_a_failure() {
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let not_vectors = sources.join("lib.rs");
    for (path, why) in [
        (Path::new("/no/such/file.jsonl"), "cannot be read: "),
        (sources, "there is no .jsonl file in this folder"),
        (&not_vectors, "lib.rs, line 1: not a case: "),
    ] {
        let output = runner(&[path]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains(why), "{printed}");
        assert!(printed.lines().last().unwrap().starts_with("0 passed, "));
    }
}

#[test]
fn wrong_usage_has_its_own_status() {
    let usage = |output: &[u8]| output.starts_with(b"usage: informer-conformance PATH");
    let none = runner(&[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(usage(&none.stderr) && none.stdout.is_empty());
    let unknown = runner(&[Path::new("--verbose"), vectors()]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(usage(&unknown.stderr));
    let help = runner(&[Path::new("--help")]);
    assert_eq!(help.status.code(), Some(0));
    assert!(usage(&help.stdout));
}
