//! Controllers, other runtimes, other transports.

use std::fs;

use crate::program::{example, output, run, shown};

/// The tests that the example shows are tests: they run here.
#[allow(dead_code, reason = "`main` is called when it is a program")]
#[path = "../../test_your_controller.rs"]
mod test_your_controller;

#[test]
fn a_controller_retries_follows_owners_and_ends() {
    assert_eq!(output("controller"), shown("controller"));
}

#[test]
fn a_controller_names_the_server_that_does_not_answer() {
    let ran = run(example("controller").args(["--server", "http://127.0.0.1:1"]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("127.0.0.1:1"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn a_test_of_a_controller_passes_seconds_without_waiting() {
    assert_eq!(
        output("test_your_controller"),
        shown("test_your_controller")
    );
}

#[test]
fn threads_do_without_a_runtime() {
    assert_eq!(output("threads"), shown("threads"));
    let source = include_str!("../../threads.rs");
    let code = source.lines().filter(|line| !line.starts_with("//!"));
    let of_a_runtime = |line: &&str| line.contains("tokio") || line.contains("async");
    assert_eq!(code.filter(of_a_runtime).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn embassy_drives_the_core_in_fixed_storage() {
    assert_eq!(output("embassy"), shown("embassy"));
}

#[test]
fn a_recording_is_a_transport() {
    assert_eq!(output("own_transport"), shown("own_transport"));
    let lines = include_str!("../../own_transport.rs").lines().count();
    assert!(lines < 100, "{lines} lines");
}

/// The decorator itself is about twenty lines.
#[test]
fn a_decorator_counts_what_passes_through_any_transport() {
    assert_eq!(output("counting_transport"), shown("counting_transport"));
    let source = include_str!("../../counting_transport.rs");
    let (_, decorator) = source.split_once("impl<T: Transport>").unwrap();
    let (decorator, _) = decorator.split_once("\n}\n").unwrap();
    assert!(decorator.lines().count() <= 22, "{decorator}");
}

#[test]
fn a_recording_that_cannot_be_used_is_named() {
    let ran = run(example("own_transport").arg("/nonexistent/pods.jsonl"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.starts_with("error: /nonexistent/pods.jsonl: "),
        "{}",
        ran.stderr
    );

    // One that breaks off before the first state is complete.
    let whole = include_str!("../../recorded/pods.jsonl");
    let path = std::env::temp_dir().join(format!("pods-{}.jsonl", std::process::id()));
    fs::write(&path, whole.lines().next().unwrap()).unwrap();
    let ran = run(example("own_transport").arg(&path));
    fs::remove_file(&path).unwrap();
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("is not synced"), "{}", ran.stderr);

    let ran = run(example("own_transport").arg("--nosuch"));
    assert_eq!(ran.status, Some(2));
}
