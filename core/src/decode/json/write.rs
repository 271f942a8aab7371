//! Writing JSON text.

use alloc::string::String;
use core::fmt::Write as _;

/// Writes a string, with its quotes.
pub(in crate::decode) fn write_string(to: &mut String, text: &str) {
    to.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => to.extend(['\\', char]),
            // A `String` takes everything.
            control if control < ' ' => drop(write!(to, "\\u{:04x}", u32::from(control))),
            other => to.push(other),
        }
    }
    to.push('"');
}

/// An object whose values are strings.
pub(in crate::decode) fn write_pairs<A: AsRef<str>, B: AsRef<str>>(
    pairs: impl IntoIterator<Item = (A, B)>,
) -> String {
    let mut json = String::from("{");
    for (key, value) in pairs {
        if json.len() > 1 {
            json.push(',');
        }
        write_string(&mut json, key.as_ref());
        json.push(':');
        write_string(&mut json, value.as_ref());
    }
    json.push('}');
    json
}
