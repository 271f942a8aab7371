//! Lines for people.

use super::line::Line;
use crate::screen::printable;
use crate::words::counted;

/// Columns. They grow when something does not fit, and never shrink.
pub(crate) struct Table {
    colours: bool,
    key: usize,
    version: usize,
}

impl Table {
    pub(crate) const fn new(colours: bool) -> Self {
        Self {
            colours,
            key: 36,
            version: 16,
        }
    }

    pub(crate) fn header(&mut self) -> String {
        self.row("EVENT", PLAIN, "KEY", "VERSION", "CAUSE")
    }

    pub(crate) fn line(&mut self, line: &Line<'_>) -> String {
        match line {
            Line::Add {
                key,
                rv,
                initial,
                cause,
                ..
            } => {
                let initial = if *initial { ", initial" } else { "" };
                let cause = format!("{cause}{initial}");
                self.row("add", GREEN, key.as_str(), rv, &cause)
            }
            Line::Update {
                key,
                old_rv,
                rv,
                cause,
                ..
            } => {
                let versions = format!("{old_rv} -> {rv}");
                self.row(
                    "update",
                    YELLOW,
                    key.as_str(),
                    &versions,
                    &cause.to_string(),
                )
            }
            Line::Delete {
                key,
                rv,
                certainty,
                cause,
                ..
            } => {
                let cause = format!("{cause}, {certainty}");
                self.row("delete", RED, key.as_str(), rv, &cause)
            }
            Line::Synced { count } => {
                self.row("synced", CYAN, &counted(*count as u64, "object"), "", "")
            }
            Line::Status { phase, cause } => {
                let cause = cause.as_deref().unwrap_or_default();
                self.row("status", CYAN, phase, "", cause)
            }
            Line::Store { rv, objects } => {
                let count = counted(objects.len() as u64, "object");
                self.row("store", CYAN, &count, rv, "")
            }
        }
    }

    fn row(&mut self, event: &str, colour: &str, key: &str, version: &str, cause: &str) -> String {
        // All of these may come from the server, so they must not control the terminal.
        let [key, version, cause] = [key, version, cause].map(printable);
        self.key = self.key.max(key.len());
        self.version = self.version.max(version.len());
        let (on, off) = match self.colours {
            true => (colour, PLAIN),
            false => ("", ""),
        };
        let row = format!(
            "{on}{event:6}{off}  {key:0$}  {version:1$}  {cause}",
            self.key, self.version
        );
        row.trim_end().to_owned()
    }
}

const PLAIN: &str = "\u{1b}[0m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[31m";
const CYAN: &str = "\u{1b}[36m";
