//! An informer for the command line: follows a resource and prints what its handlers would get.
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

// Signals that end the program.
mod stop;

// The forms of objects.
mod form;

// Follows and prints.
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

/// Resolves the flags to a target in this cluster.
async fn target(flags: &Flags, client: &Client) -> Result<Target, Box<dyn Error>> {
    let resource = client.resolve(&flags.resource).await?;
    let everywhere = resource.target(None)?;
    let target = match &flags.namespace {
        _ if flags.all_namespaces => everywhere,
        Some(namespace) => match resource.target(Some(namespace)) {
            Ok(target) => target,
            Err(error) => flags::refuse(&error),
        },
        // The default namespace is ignored for resources without namespaces.
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
