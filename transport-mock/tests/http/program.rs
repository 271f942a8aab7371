//! The program, and the examples in its documentation.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mock-apiserver"));
    command
        .args(arguments)
        .env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// The running program. Dropping it kills it.
struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
    url: String,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let url = value(&mut out, "serving on ");
        Self { child, out, url }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The rest of the next line, which begins with `label`.
fn value(out: &mut impl BufRead, label: &str) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let value = line
        .strip_prefix(label)
        .unwrap_or_else(|| panic!("{line:?}"));
    value.trim().to_owned()
}

fn finished(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

#[test]
fn help_names_every_flag() {
    let help = finished(&["--help"]);
    assert!(help.status.success());
    let text = String::from_utf8(help.stdout).unwrap();
    for flag in [
        "--port", "--tls", "--pods", "--churn", "--token", "--faults",
    ] {
        assert!(text.contains(flag), "{flag}");
    }
}

#[test]
fn usage_errors_are_one_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let script = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad-faults");
    fs::write(&script, "at 5s restart\nat 5s explode\n").unwrap();
    let script = script.to_str().unwrap();
    for (arguments, status, part) in [
        (vec!["--prot", "1"], 2, "unknown flag --prot: see --help"),
        (
            vec!["--pods", "many"],
            2,
            "--pods needs a number of pods, not \"many\"",
        ),
        (
            vec!["--faults", script],
            2,
            "line 2: \"explode\" is not a fault: use refuse, ",
        ),
        (
            vec!["--faults", "/nowhere/at/all"],
            2,
            "--faults /nowhere/at/all: ",
        ),
        (vec!["--port", &port], 1, "another program uses the port"),
    ] {
        let output = finished(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(
            text.starts_with("mock-apiserver: ") && text.contains(part),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_program_and_deletes_its_files() {
    let mut program = Program::start(&["--tls", "--token", "secret", "--churn", "100"]);
    assert!(program.url.starts_with("https://127.0.0.1:"));
    let kubeconfig = value(&mut program.out, "kubeconfig ");
    let text = fs::read_to_string(&kubeconfig).unwrap();
    assert!(
        text.contains(&program.url) && text.contains("secret"),
        "{text}"
    );
    let authority = value(&mut program.out, "authority ");
    for (path, mode) in [
        (Path::new(&kubeconfig), 0o600),
        (Path::new(&authority), 0o600),
        (Path::new(&kubeconfig).parent().unwrap(), 0o700),
    ] {
        let found = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{} {found:o}", path.display());
    }
    assert!(
        fs::read_to_string(authority)
            .unwrap()
            .starts_with("-----BEGIN CERTIFICATE-----")
    );

    let process = program.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &process])
            .status()
            .unwrap()
            .success()
    );
    assert!(program.child.wait().unwrap().success());
    assert!(!fs::exists(kubeconfig).unwrap());
}

/// The commands in the documentation print what is documented. Only the address differs.
#[test]
fn the_examples_with_curl_work_as_printed() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: curl is not installed");
        return;
    }
    let program = Program::start(&["--pods", "3"]);
    let documentation = include_str!("../../src/http/mod.rs");
    let lines = documentation
        .lines()
        .map_while(|line| line.strip_prefix("//!"));
    let mut examples: Vec<(String, Vec<&str>)> = Vec::new();
    for line in lines.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.replace("http://127.0.0.1:8001", &program.url);
            examples.push((command, Vec::new()));
        } else if line.starts_with("```") {
            examples.push((String::new(), Vec::new()));
        } else if let Some((_, printed)) = examples.last_mut() {
            printed.push(line);
        }
    }
    examples.retain(|(command, _)| command.starts_with("curl "));
    assert!(examples.len() > 5);
    for (command, printed) in examples {
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), printed.len(), "{command}\n{text}");
        for (line, pattern) in lines.iter().zip(printed) {
            assert!(is_as_printed(line, pattern), "{command}\n{line}\n{pattern}");
        }
    }
}

/// Whether `line` matches `pattern`, in which `…` stands for anything.
fn is_as_printed(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = parts.next().and_then(|start| line.strip_prefix(start)) else {
        return false;
    };
    for part in parts {
        rest = match rest.split_once(part) {
            // At the end of the pattern, `…` matches the rest.
            _ if part.is_empty() => "",
            Some((_, after)) => after,
            None => return false,
        };
    }
    rest.is_empty()
}
