//! A hostile server: its names and messages contain terminal control sequences.

use serde_json::{Value, json};

use super::running::{Tail, tail};
use crate::server;

/// Clears the screen in two ways, and reverses the direction of the text after it.
const NASTY: &str = "a\u{1b}[2J\u{9b}2J\u{202e}\u{7f}";
const SHOWN: &str = r"a\u{1b}[2J\u{9b}2J\u{202e}\u{7f}";

/// A server with one pod, whose name and messages are nasty.
fn serve() -> String {
    server::serve(|path| {
        if path.contains("watch=true") {
            let status = json!({"kind": "Status", "code": 500, "message": NASTY});
            return json!({"type": "ERROR", "object": status}).to_string();
        }
        let metadata = json!({
            "namespace": "web", "name": NASTY, "uid": NASTY, "resourceVersion": NASTY,
        });
        server::list("7", &[metadata])
    })
}

const FLAGS: [&str; 4] = ["pods", "-A", "--strategy", "listwatch"];

/// Whether the text contains control characters other than our own colours.
fn is_harmful(text: &str) -> bool {
    let own = text
        .split("\u{1b}[36m")
        .flat_map(|text| text.split("\u{1b}[32m"));
    let mut own = own.flat_map(|text| text.split("\u{1b}[0m"));
    own.any(|text| text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'))
}

#[cfg(target_os = "linux")]
#[test]
fn control_sequences_are_escaped_on_a_terminal() {
    let url = serve();
    let mut command = tail(&FLAGS);
    let seen = super::table::on_a_terminal(command.args(["--server", &url]).env_remove("NO_COLOR"));
    assert!(seen.contains(&format!("web/{SHOWN}  ")), "{seen:?}");
    assert!(!is_harmful(&seen), "{seen:?}");
}

#[test]
fn control_sequences_are_escaped_in_json() {
    let tail = Tail::json(&serve(), &FLAGS);
    let added = tail.told();
    assert!(!is_harmful(&added), "{added:?}");
    let added: Value = serde_json::from_str(&added).unwrap();
    assert_eq!(added["key"], format!("web/{NASTY}"));
    assert_eq!(added["rv"], NASTY);
    // Then the watch fails, and the line quotes the message of the server.
    let failed = loop {
        let line = tail.line();
        if line.contains("cause\":\"") {
            break line;
        }
    };
    assert!(!is_harmful(&failed), "{failed:?}");
    let failed: Value = serde_json::from_str(&failed).unwrap();
    assert!(
        failed["cause"].as_str().unwrap().contains(SHOWN),
        "{failed}"
    );
    tail.stop("-INT");
}
