//! The terminal.

use std::error::Error;
use std::io;
use std::thread;

use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The whole terminal. It is as before when this is dropped, and before the message of a panic is printed.
pub(crate) struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    pub(crate) fn open() -> Result<Self, Box<dyn Error>> {
        match ratatui::try_init() {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                // The first half may have worked.
                ratatui::restore();
                Err(format!("cannot draw on this terminal: {error}; use --once").into())
            }
        }
    }

    /// Draws, in the size that the terminal has now.
    pub(crate) fn draw<T>(&mut self, draw: impl FnOnce(&mut Buffer) -> T) -> io::Result<Option<T>> {
        let mut drawn = None;
        self.terminal
            .draw(|frame| drawn = Some(draw(frame.buffer_mut())))?;
        Ok(drawn)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Keys and changes of the size. Reading them blocks, so a thread does it; it ends with the process.
pub(crate) fn events() -> UnboundedReceiver<Event> {
    let (sender, events) = unbounded_channel();
    thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.send(event).is_err() {
                break;
            }
        }
    });
    events
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::top::terminal::Terminal;

    #[test]
    #[ignore = "the test below runs it, on a terminal"]
    fn panics() {
        let _screen = Screen::open().unwrap();
        panic!("on purpose");
    }

    #[test]
    fn a_panic_restores_the_terminal_before_its_message() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "top::screen::tests::panics", "--ignored"]);
        let mut terminal = Terminal::run(command.arg("--nocapture"));
        let shown = terminal.rest();
        let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{shown:?}"));
        assert!(place("\u{1b}[?1049h") < place("\u{1b}[?1049l"));
        assert!(place("\u{1b}[?1049l") < place("on purpose"));
        assert!(!terminal.is_raw());
    }
}
