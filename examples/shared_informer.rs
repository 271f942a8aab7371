//! A shared informer over list and watch: one watch, one cache, and two handlers. Each handler gets every
//! change, in order, at its own pace. The scheduler decides how their lines interleave.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use informer::{Added, Cause, Deleted, Handler, InformerBuilder, Object, ObjectKey};
use informer_examples::pods::{self, Pod};
use informer_examples::{Cluster, demonstrate};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    cluster.play(pods::some)?;
    let pods = InformerBuilder::<Pod>::typed().start(cluster.client())?;
    let (gone, mut deletions) = mpsc::unbounded_channel();
    let first = pods.on(Print::new("first ", &gone))?;
    let second = pods.on(Print::new("second", &gone))?;
    first.synced(Duration::from_secs(30)).await?;
    second.synced(Duration::from_secs(30)).await?;
    cluster.play(pods::nettool)?;

    // Both handlers get every deletion. The mock server has one.
    let mut told = 0;
    while told < 2 || !cluster.is_mock() {
        deletions.recv().await;
        told += 1;
    }
    Ok(())
}

struct Print {
    name: &'static str,
    gone: mpsc::UnboundedSender<()>,
}

impl Print {
    fn new(name: &'static str, gone: &mpsc::UnboundedSender<()>) -> Self {
        let gone = gone.clone();
        Self { name, gone }
    }
}

impl Handler<Pod> for Print {
    fn added(&mut self, pod: &Object<Pod>, _: Added) {
        println!("{} OnAdd:    {}", self.name, pod.key());
    }

    fn updated(&mut self, old: &Object<Pod>, new: &Object<Pod>, _: Cause) {
        let (before, now) = (&old.status.phase, &new.status.phase);
        println!("{} OnUpdate: {}, {before} to {now}", self.name, new.key());
    }

    fn deleted(&mut self, key: &ObjectKey, _: Option<&Object<Pod>>, _: Deleted) {
        println!("{} OnDelete: {key}", self.name);
        // The receiver is gone when the program is about to end.
        let _ = self.gone.send(());
    }
}
