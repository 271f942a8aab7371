//! The hello world of the README, with a `kube::Client`.
#![allow(clippy::print_stdout, reason = "a program")]

use informer::{InformerBuilder, Target};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = kube::Client::try_default().await?;
    let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start(&client)?;
    pods.on(|change| println!("{change}"))?;
    pods.synced(Duration::from_secs(30)).await?; // the error says why, if it takes longer
    println!("{} pods", pods.lister().len());
    tokio::signal::ctrl_c().await?;
    pods.stop();
    Ok(())
}
