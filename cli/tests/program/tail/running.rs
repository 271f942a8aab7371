//! A running `tail`, read line by line.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::spawn;
use std::time::Duration;

use serde_json::Value;

use crate::program::{Ran, program};

/// Far longer than any test takes.
const WATCHDOG: Duration = Duration::from_secs(60);

pub(super) struct Tail {
    child: Child,
    lines: Receiver<String>,
}

/// The program with these flags.
pub(super) fn tail(flags: &[&str]) -> Command {
    let mut command = program(&["tail"]);
    command.args(flags);
    command
}

impl Tail {
    /// Follows `what` of the server at `url`, with JSON lines.
    pub(super) fn json(url: &str, what: &[&str]) -> Self {
        Self::start(tail(&["-o", "json", "--server", url]).args(what))
    }

    pub(super) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        spawn(move || {
            for line in out.lines() {
                // The receiver is gone when a test has failed.
                let _ = sender.send(line.unwrap());
            }
        });
        Self { child, lines }
    }

    /// The next line.
    pub(super) fn line(&self) -> String {
        match self.lines.recv_timeout(WATCHDOG) {
            Ok(line) => line,
            Err(error) => panic!("no line came: {error}"),
        }
    }

    /// The next line that is not a status.
    pub(super) fn told(&self) -> String {
        loop {
            let line = self.line();
            if !line.starts_with(r#"{"on":"status""#) {
                return line;
            }
        }
    }

    /// The next status with this phase, and all others before it.
    pub(super) fn phase(&self, phase: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let line: Value = serde_json::from_str(&self.line()).unwrap();
            assert_eq!(line["on"], "status", "{line}");
            seen.push(line);
            if seen.last().unwrap()["phase"] == phase {
                return seen;
            }
        }
    }

    /// Waits for the line `synced`. Returns the lines before it, without statuses.
    pub(super) fn synced(&self) -> Vec<String> {
        let mut before = Vec::new();
        loop {
            let line = self.told();
            if line.starts_with(r#"{"on":"synced""#) {
                return before;
            }
            before.push(line);
        }
    }

    /// Sends a signal and waits for the end. Returns the output since then.
    pub(super) fn stop(self, signal: &str) -> Ran {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
        self.end()
    }

    /// Waits for the end. Returns the remaining output and the exit status.
    pub(super) fn end(mut self) -> Ran {
        let mut stdout = String::new();
        while let Ok(line) = self.lines.recv_timeout(WATCHDOG) {
            stdout.push_str(&line);
            stdout.push('\n');
        }
        let mut stderr = String::new();
        let status = self.child.wait().unwrap();
        let mut pipe = self.child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        Ran {
            stdout,
            stderr,
            status: status.code(),
        }
    }
}

/// Ends the process if a test fails.
impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
