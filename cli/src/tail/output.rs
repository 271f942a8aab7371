//! Standard output, flushed after each line.

use std::io::{self, Write as _};

use super::line::Line;
use super::table::Table;
use crate::format::Format;
use crate::json;
use crate::screen::wants_colours;

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
            None => out.write_all(json::line(line)?.as_bytes())?,
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
