//! Controllers, other runtimes, other transports.

use std::fs;

use crate::program::{example, output, run, shown};

/// Runs the tests of the example.
#[allow(dead_code, reason = "only the program uses `main`")]
#[path = "../../test_your_controller.rs"]
mod test_your_controller;

#[test]
fn the_controller_follows_owners_retries_and_stops() {
    assert_eq!(output("controller"), shown("controller"));
}

#[test]
fn the_controller_names_a_server_that_does_not_answer() {
    let ran = run(example("controller").args(["--server", "http://127.0.0.1:1"]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("127.0.0.1:1"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn test_your_controller_runs_in_virtual_time() {
    assert_eq!(
        output("test_your_controller"),
        shown("test_your_controller")
    );
}

#[test]
fn threads_need_no_async_runtime() {
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

/// The decorator itself has about twenty lines.
#[test]
fn a_decorator_counts_requests_and_bytes() {
    assert_eq!(output("counting_transport"), shown("counting_transport"));
    let source = include_str!("../../counting_transport.rs");
    let (_, decorator) = source.split_once("impl<T: Transport>").unwrap();
    let (decorator, _) = decorator.split_once("\n}\n").unwrap();
    assert!(decorator.lines().count() <= 22, "{decorator}");
}

#[test]
fn an_unusable_recording_is_named() {
    let ran = run(example("own_transport").arg("/nonexistent/pods.jsonl"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.starts_with("error: /nonexistent/pods.jsonl: "),
        "{}",
        ran.stderr
    );

    // A recording that ends before the first state is complete.
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
