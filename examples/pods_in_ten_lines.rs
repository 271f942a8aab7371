//! Prints every change of the pods: an informer and a stream in ten lines.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::process::ExitCode;
use std::time::Duration;

use informer::InformerBuilder;
use informer_examples::demonstrate;
use informer_examples::pods::{Pod, nettool};

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(async |cluster| {
        let pods = InformerBuilder::<Pod>::typed().start(cluster.client())?;
        let mut changes = pods.stream()?;
        pods.synced(Duration::from_secs(30)).await?;
        cluster.play(nettool)?;
        let mut goes_on = true;
        while goes_on && let Some(change) = changes.next().await {
            println!("{change}");
            goes_on = !cluster.ends_with(&change);
        }
        Ok(())
    })
    .await
}
