//! `verify`: compares caches with the server.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use informer::{Client, InformerBuilder, Target, Verified};
use serde::Serialize;

use crate::format::Format;
use crate::scope::Scope;
use crate::screen::printable;
use crate::settle::settle;
use crate::{json, outcome, stop};

/// Check whether an informer has the same objects as the server, at the same versions
///
/// Each resource is read by an informer that keeps metadata only. Then the server is asked for the same
/// version once more, and both are compared: keys and versions. The exit status is 0 if all are the same,
/// 1 if one differs, and 2 if one cannot be checked.
#[derive(Args)]
pub(crate) struct Flags {
    /// The resources: plural name (pods), kind (Pod) or PLURAL.VERSION.GROUP (deployments.v1.apps)
    #[arg(value_name = "RESOURCE", required = true, value_parser = NonEmptyStringValueParser::new())]
    resources: Vec<String>,

    /// Give up on a resource after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,

    /// The output format
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,

    #[command(flatten)]
    scope: Scope,
}

pub(crate) async fn run(flags: &Flags) -> Result<ExitCode, Box<dyn Error>> {
    let mut stop = stop::asked()?;
    tokio::select! {
        checked = check_all(flags) => checked,
        () = &mut stop => Err("the check was interrupted".into()),
    }
}

async fn check_all(flags: &Flags) -> Result<ExitCode, Box<dyn Error>> {
    let client = flags.scope.client()?;
    let mut targets = Vec::new();
    for resource in &flags.resources {
        targets.push(flags.scope.target(resource, &client).await?);
    }
    let mut worst = 0;
    for target in targets {
        let found = check(target, &client, Duration::from_secs(flags.timeout)).await;
        worst = worst.max(match found {
            Ok(verified) => {
                print(&verified, flags.output)?;
                u8::from(!verified.is_consistent()) * outcome::NO
            }
            Err(error) => {
                outcome::complain(&*error);
                outcome::CANNOT_RUN
            }
        });
    }
    Ok(ExitCode::from(worst))
}

async fn check(
    target: Target,
    client: &Client,
    timeout: Duration,
) -> Result<Verified, Box<dyn Error>> {
    let informer = InformerBuilder::metadata_at(target).start(client)?;
    // `verify` would wait for permissions and the like until the time is up.
    if let Ok(Some(reason)) = tokio::time::timeout(timeout, settle(&informer)).await {
        return Err(reason.into());
    }
    Ok(informer.verify(client, timeout).await?)
}

/// The JSON form. It has these fields in this order.
#[derive(Serialize)]
struct Answer<'a> {
    consistent: bool,
    #[serde(flatten)]
    verified: &'a Verified,
}

fn print(verified: &Verified, format: Format) -> Result<(), Box<dyn Error>> {
    let line = match format {
        Format::Table => printable(&verified.to_string()),
        Format::Json => json::line(&Answer {
            consistent: verified.is_consistent(),
            verified,
        })?,
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
