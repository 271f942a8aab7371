//! Standard output, flushed after each line.

use std::io::{self, IsTerminal as _, Write as _};

use informer_core::failure::is_hidden;

use crate::flags::Format;
use crate::line::Line;
use crate::table::Table;

pub(crate) struct Output {
    /// `None` for JSON.
    table: Option<Table>,
    is_begun: bool,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            table: match format {
                Format::Table => Some(Table::new(wants_colours())),
                Format::Json => None,
            },
            is_begun: false,
        }
    }

    /// Prints and flushes a line.
    pub(crate) fn tell(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match &mut self.table {
            None => out.write_all(escaped(&serde_json::to_string(line)?).as_bytes())?,
            Some(table) => {
                if !std::mem::replace(&mut self.is_begun, true) {
                    writeln!(out, "{}", table.header())?;
                }
                out.write_all(table.line(line).as_bytes())?;
            }
        }
        out.write_all(b"\n")?;
        out.flush()
    }
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

/// Whether to use colours: on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
fn wants_colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused
}
