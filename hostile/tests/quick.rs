//! The modes whose effect shows within a second.

use std::io;
use std::process::{Command, Output};

/// They break no bound: memory, requests, message, recovery.
#[test]
fn quick_modes_break_no_bound() -> io::Result<()> {
    let output = run("--quick")?;
    let table = String::from_utf8_lossy(&output.stdout);
    let progress = String::from_utf8_lossy(&output.stderr);
    let broken = progress.lines().filter(|line| line.starts_with("BROKEN"));
    let broken: Vec<_> = broken.collect();
    assert!(output.status.success(), "{}\n{table}", broken.join("\n"));
    assert!(table.lines().count() > 200, "{table}");
    Ok(())
}

#[test]
fn an_unknown_mode_is_refused() -> io::Result<()> {
    let output = run("no-such-mode")?;
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("--list shows all modes"), "{message}");
    Ok(())
}

fn run(word: &str) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_informer-hostile"))
        .arg(word)
        .output()
}
