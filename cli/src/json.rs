//! JSON lines.

use informer::informer_core::failure::is_hidden;
use serde::Serialize;

/// The value in one line, without the line break.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(escaped(&serde_json::to_string(value)?))
}

/// Escapes control characters in JSON strings, which are valid JSON but could control a terminal.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}
