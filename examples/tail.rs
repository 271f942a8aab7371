//! Follows any resource, by the name that kubectl would take, and prints a line per change. It ends with
//! Ctrl-C; without flags for a cluster, a mock server makes some changes, and it ends after them. The program
//! for every day is `kubectl-informer tail`, in the folder `cli`.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use informer::{InformerBuilder, Notification};
use informer_examples::{Cluster, ClusterArgs, exit, flags, pods};

/// Follows a resource and prints a line per change
#[derive(Parser)]
struct Flags {
    /// The resource: plural name (pods), kind (Pod) or PLURAL.VERSION.GROUP (deployments.v1.apps)
    #[arg(default_value = "pods")]
    resource: String,

    #[command(flatten)]
    cluster: ClusterArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(follow(&flags()).await)
}

async fn follow(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::open(&flags.cluster).await?;
    cluster.play(pods::some)?;
    let resource = cluster.client().resolve(&flags.resource).await?;
    // Nothing is read of the objects but their metadata, so the server need not send more.
    let builder = InformerBuilder::metadata_at(resource.target(None)?);
    let informer = builder.start(cluster.client())?;
    informer.synced(Duration::from_secs(30)).await?;
    let mut changes = informer.stream()?;
    cluster.play(pods::nettool)?;
    while let Some(change) = changes.next().await {
        println!("{change}");
        if cluster.is_mock() && matches!(change, Notification::Deleted { .. }) {
            break;
        }
    }
    Ok(())
}
