//! A terminal to run the program on.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

/// The output on a terminal, up to the line `synced`.
pub(crate) fn on_a_terminal(command: &mut Command) -> String {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let terminal = openpt(flags).unwrap();
    unlockpt(&terminal).unwrap();
    let peer = ioctl_tiocgptpeer(&terminal, flags).unwrap();
    let mut child = command.stdout(peer).spawn().unwrap();
    let mut seen = String::new();
    for line in BufReader::new(std::fs::File::from(terminal)).lines() {
        seen.push_str(&line.unwrap());
        seen.push('\n');
        if seen.contains("synced") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    seen
}
