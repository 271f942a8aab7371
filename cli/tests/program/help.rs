//! The help and `completions`.

use std::io::Read as _;
use std::process::Stdio;

use crate::program::{is_refused, program, run};

#[test]
fn the_help_says_what_the_exit_status_means() {
    let ran = run(&mut program(&["--help"]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let (_, statuses) = ran.stdout.split_once("\nExit status:\n").unwrap();
    let numbers = statuses
        .lines()
        .map(|line| line.trim().split_once(' ').unwrap().0);
    assert_eq!(numbers.collect::<Vec<_>>(), ["0", "1", "2"]);
    // Without a command, the help is on standard error.
    let ran = run(&mut program(&[]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    is_refused(&["tial"], "tail");
}

#[test]
fn every_shell_gets_its_script() {
    for (shell, part) in [
        ("bash", "-o default kubectl-informer"),
        ("zsh", "#compdef kubectl-informer"),
        ("fish", "complete -c kubectl-informer"),
        ("elvish", "edit:completion:arg-completer[kubectl-informer]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let ran = run(&mut program(&["completions", shell]));
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{shell}");
        for part in [part, "tail", "field-selector"] {
            assert!(ran.stdout.contains(part), "{shell}: {part}");
        }
    }
    is_refused(&["completions", "cmd"], "bash");
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let mut child = program(&["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}
