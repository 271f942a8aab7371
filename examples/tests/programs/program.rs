//! Runs an example, and reads its expected output from the README.

use std::process::{Command, Output};

const README: &str = include_str!("../../README.md");

/// An example, built by the same `cargo test` that built this test.
pub(crate) fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let program = profile
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{name} is not built; `cargo test -p informer-examples -p informer-example-embassy` builds all examples, \
         `--test` alone builds none"
    );
    let mut command = Command::new(program);
    // The configuration of this machine must not affect tests.
    command
        .env_remove("KUBECONFIG")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .env("HOME", "/nonexistent");
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

/// The output and exit status of a program.
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

/// Runs an example without flags. It must succeed and print nothing on standard error.
pub(crate) fn output(name: &str) -> String {
    let ran = run(&mut example(name));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{name}");
    ran.stdout
}

/// The output that the README shows below `$ cargo run --example NAME`.
pub(crate) fn shown(name: &str) -> String {
    let command = format!("```console\n$ cargo run --example {name}\n");
    let (_, block) = README
        .split_once(&command)
        .unwrap_or_else(|| panic!("examples/README.md does not show {name}"));
    block.split_once("```").unwrap().0.to_owned()
}
