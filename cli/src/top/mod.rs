//! `top`: informers at work, on one screen.

// Command line flags.
mod flags;

// Events per second, over the last minute.
mod history;

// Informers that follow the resources.
mod followed;

// What is shown, as data.
mod overview;

// Which columns there is room for.
mod columns;

// Data as lines of text.
mod render;

// The terminal.
mod screen;

// A terminal for tests.
#[cfg(test)]
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the tests of the program use the rest")]
mod terminal;

// The screen, once a second.
mod live;

use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use flags::Flags;
use followed::Followed;
use overview::Overview;
use render::Palette;

use crate::format::Format;
use crate::{json, stop};

/// How long a single look waits for the first state.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn run(flags: &Flags) -> Result<ExitCode, Box<dyn Error>> {
    let mut stop = stop::asked()?;
    let client = flags.scope.client()?;
    let followed = tokio::select! {
        followed = Followed::all(flags, &client) => followed?,
        () = &mut stop => return Ok(ExitCode::SUCCESS),
    };
    let place = format!(
        "{}, {}",
        client.config().server_url(),
        flags.scope.describe(&client)
    );
    if flags.is_once() || !io::stdout().is_terminal() {
        tokio::select! {
            () = followed::settled(&followed, PATIENCE) => print(&Overview::of(place, &followed), flags.output)?,
            () = &mut stop => {}
        }
    } else {
        live::show(place, followed, stop).await?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what there is now.
fn print(overview: &Overview, format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Table => {
            for line in render::table(overview, usize::MAX, &Palette::plain()) {
                writeln!(out, "{}", line.to_string().trim_end())?;
            }
        }
        Format::Json => {
            for informer in &overview.informers {
                writeln!(out, "{}", json::line(informer)?)?;
            }
        }
    }
    out.flush()
}
