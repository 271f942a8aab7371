//! Text from others, and colours.

use std::io::{self, IsTerminal as _};

use informer::informer_core::failure::Printable;

/// Escapes characters that a terminal would interpret, for text from others.
pub(crate) fn printable(text: &str) -> String {
    Printable(text).to_string()
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub(crate) fn wants_colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused
}
