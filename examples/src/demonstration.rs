//! The frame of a program that demonstrates one thing on any cluster.

use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::cluster::{Cluster, ClusterArgs};
use crate::outcome::{end_with_the_reader, exit};

/// Without flags, the program uses a mock API server inside itself and ends on its own. It follows a real
/// cluster until Ctrl-C.
#[derive(Parser)]
struct Flags {
    /// End after this many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    seconds: Option<u64>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Parses the flags, opens the cluster and runs `act` until it is done, the time is up, or the user presses
/// Ctrl-C.
pub async fn demonstrate(act: impl AsyncFnOnce(Cluster) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let flags = flags::<Flags>();
    let done = async { act(Cluster::open(&flags.cluster).await?).await };
    exit(tokio::select! {
        done = done => done,
        () = time_is_up(flags.seconds) => Ok(()),
        pressed = tokio::signal::ctrl_c() => pressed.map_err(Into::into),
    })
}

/// Parses the flags of a program that prints with `println!`.
#[must_use]
pub fn flags<F: Parser>() -> F {
    let flags = F::parse();
    end_with_the_reader();
    flags
}

/// Rejects all flags, for a program that has none.
pub fn no_flags() {
    let NoFlags {} = flags();
}

/// This program needs no cluster and takes no flags.
#[derive(Parser)]
struct NoFlags {}

async fn time_is_up(seconds: Option<u64>) {
    match seconds {
        Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
        None => pending().await,
    }
}
