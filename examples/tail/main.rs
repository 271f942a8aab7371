//! An informer for the command line: it follows a resource and says what handlers would be told.
//!
//! For whoever debugs a controller: what came first, what changed, what vanished and how that was found
//! out; when the connection was lost, why, and what is done about it.

// What can be asked for.
mod flags;

// What is told, line by line.
mod line;

// Lines for people.
mod table;

// Where lines go.
mod output;

// When it is time to go.
mod stop;

// The forms in which objects are kept.
mod form;

// Follows, and tells.
mod follow;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser as _;
use informer::{Client, Target};
use informer_examples::exit;

use flags::Flags;
use line::Line;
use output::Output;

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(&Flags::parse()).await)
}

async fn run(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let mut stop = stop::asked()?;
    let mut output = Output::new(flags.output);
    let client = Client::new(flags.cluster.config()?)?;
    let target = tokio::select! {
        target = target(flags, &client) => target?,
        () = &mut stop => return Ok(output.tell(&Line::empty_store())?),
    };
    form::follow(flags, target, &client, &mut output, stop).await
}

/// What the flags mean in this cluster.
async fn target(flags: &Flags, client: &Client) -> Result<Target, Box<dyn Error>> {
    let resource = client.resolve(&flags.resource).await?;
    let everywhere = resource.target(None)?;
    let target = match &flags.namespace {
        _ if flags.all_namespaces => everywhere,
        Some(namespace) => match resource.target(Some(namespace)) {
            Ok(target) => target,
            Err(error) => flags::refuse(&error),
        },
        // Where there are no namespaces, nobody needs to say so.
        None => resource
            .target(Some(client.config().default_namespace()))
            .unwrap_or(everywhere),
    };
    Ok(Target {
        labels: flags.labels.to_string(),
        fields: flags.fields.to_string(),
        ..target
    })
}
