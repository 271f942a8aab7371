//! The modes that show within a second what they can do.

use std::io;
use std::process::{Command, Output};

/// Every bound holds for them: memory, requests, the message, recovery.
#[test]
fn quick_modes_break_no_bound() -> io::Result<()> {
    let output = run("--quick")?;
    let table = String::from_utf8_lossy(&output.stdout);
    let progress = String::from_utf8_lossy(&output.stderr);
    let broken = progress.lines().filter(|line| line.starts_with("BROKEN"));
    let broken: Vec<_> = broken.collect();
    assert!(output.status.success(), "{}\n{table}", broken.join("\n"));
    assert!(table.lines().count() > 60, "{table}");
    Ok(())
}

#[test]
fn a_mode_that_does_not_exist_is_refused() -> io::Result<()> {
    let output = run("no-such-mode")?;
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("--list names them"), "{message}");
    Ok(())
}

fn run(word: &str) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_informer-hostile"))
        .arg(word)
        .output()
}
