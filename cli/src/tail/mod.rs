//! `tail`: follows a resource and prints what the handlers of an informer would get.
//!
//! For debugging controllers: it shows the initial objects, changes and deletions with their causes, lost
//! connections with the reason, and what the informer does about them.

// Command line flags.
mod flags;

// Output lines.
mod line;

// Lines for people.
mod table;

// Standard output.
mod output;

// The forms of objects.
mod form;

// Follows and prints.
mod follow;

use std::error::Error;
use std::process::ExitCode;

pub(crate) use flags::Flags;
use line::Line;
use output::Output;

use crate::stop;

pub(crate) async fn run(flags: &Flags) -> Result<ExitCode, Box<dyn Error>> {
    let mut stop = stop::asked()?;
    let mut output = Output::new(flags.output);
    let client = flags.scope.client()?;
    tokio::select! {
        target = flags.scope.target(&flags.resource, &client) => {
            form::follow(flags, target?, &client, &mut output, &mut stop).await?;
        }
        () = &mut stop => output.tell(&Line::empty_store())?,
    }
    Ok(ExitCode::SUCCESS)
}
