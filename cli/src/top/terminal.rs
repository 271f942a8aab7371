//! A terminal to run a program on, for the tests here and for those of the program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Far longer than any test takes.
const WATCHDOG: Duration = Duration::from_secs(60);

pub(crate) struct Terminal {
    terminal: File,
    child: Child,
    output: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Terminal {
    /// Runs a command on a terminal of 80 by 24 characters.
    pub(crate) fn run(command: &mut Command) -> Self {
        // Programs of other tests must not hold this terminal open.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = openpt(flags).unwrap();
        unlockpt(&terminal).unwrap();
        let peer = || ioctl_tiocgptpeer(&terminal, flags).unwrap();
        let child = command
            .stdin(peer())
            .stdout(peer())
            .stderr(peer())
            .spawn()
            .unwrap();
        // The command holds the other end of the terminal, which must close when the process ends.
        *command = Command::new("");
        let terminal = File::from(terminal);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, output) = channel();
        spawn(move || {
            let mut bytes = [0; 4096];
            // It fails when the process has ended.
            while let Ok(count) = reader.read(&mut bytes) {
                if count == 0 || sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let terminal = Self {
            terminal,
            child,
            output,
            seen: Vec::new(),
        };
        terminal.resize(80, 24);
        terminal
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.terminal, size).unwrap();
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Whether keys are read one by one.
    pub(crate) fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        !modes.contains(LocalModes::ICANON)
    }

    /// Waits for output that makes this true. Returns all output so far.
    pub(crate) fn output(&mut self, mut is_enough: impl FnMut(&str) -> bool) -> String {
        let deadline = Instant::now() + WATCHDOG;
        loop {
            let seen = String::from_utf8_lossy(&self.seen).into_owned();
            if is_enough(&seen) {
                return seen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(error) => panic!("{error}: {seen:?}"),
            }
        }
    }

    /// Waits until the lines of the screen make this true.
    pub(crate) fn screen(&mut self, mut is_enough: impl FnMut(&[String]) -> bool) -> Vec<String> {
        lines(&self.output(|seen| is_enough(&lines(seen))))
    }

    /// All output, up to the end of the process.
    pub(crate) fn rest(&mut self) -> String {
        let deadline = Instant::now() + WATCHDOG;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the program does not end"),
            }
        }
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits for the end of the process.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.rest();
        self.child.wait().unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

/// Ends the process if a test fails.
impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal shows after this output: text, moves of the cursor, and a screen that is cleared.
fn lines(output: &str) -> Vec<String> {
    let mut cells = BTreeMap::<usize, BTreeMap<usize, char>>::new();
    let (mut row, mut column) = (1, 1);
    let mut characters = output.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            cells.entry(row).or_default().insert(column, character);
            column += 1;
            continue;
        }
        // `[`, arguments, and a letter.
        let mut arguments = String::new();
        let verb = characters.by_ref().skip(1).find(|character| {
            arguments.push(*character);
            character.is_ascii_alphabetic()
        });
        match verb {
            Some('H') => {
                let place = arguments.trim_end_matches('H').split_once(';');
                let (to_row, to_column) = place.unwrap_or(("1", "1"));
                (row, column) = (to_row.parse().unwrap(), to_column.parse().unwrap());
            }
            Some('J') => cells.clear(),
            _ => {}
        }
    }
    let line = |cells: &BTreeMap<usize, char>| -> String {
        let last = cells.keys().copied().max().unwrap_or(0);
        let line = (1..=last).map(|column| cells.get(&column).copied().unwrap_or(' '));
        line.collect::<String>().trim_end().to_owned()
    };
    let last = cells.keys().copied().max().unwrap_or(0);
    let rows = (1..=last).map(|row| cells.get(&row).map(line).unwrap_or_default());
    rows.collect()
}
