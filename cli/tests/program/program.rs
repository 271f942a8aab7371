//! Runs the program.

use std::process::{Command, Output};

/// The program with these arguments.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-informer"));
    // The configuration of this machine must not affect tests.
    command
        .args(arguments)
        .env_remove("KUBECONFIG")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .env("HOME", "/nonexistent");
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

/// The output and exit status of the program.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: Option<i32>,
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    Ran {
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
        status: status.code(),
    }
}

/// Asserts that the program cannot do this, and says why in one line that contains all of this.
pub(crate) fn fails(arguments: &[&str], said: &[&str]) {
    let ran = run(&mut program(arguments));
    assert_eq!(ran.status, Some(2), "{arguments:?}: {}", ran.stderr);
    assert_eq!(
        ran.stderr.lines().count(),
        1,
        "{arguments:?}: {}",
        ran.stderr
    );
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    for said in said {
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
}

/// Asserts that the program rejects its flags with this message, and prints nothing on standard output.
pub(crate) fn is_refused(arguments: &[&str], said: &str) {
    let ran = run(&mut program(arguments));
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (Some(2), ""),
        "{arguments:?}: {}",
        ran.stderr
    );
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.starts_with("error: "), "{arguments:?}: {first}");
    assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
}
