//! Why a deletion is not lost: popped deltas go into an indexer, and the queue looks up known objects in
//! that indexer. So the queue knows that `nettool` existed, and reports its deletion.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;

use informer::Kind as _;
use informer::runtime::{Runtime as _, Tokio};
use informer_core::flow::{Change, Step};
use informer_core::indexer::{Indexer, Rules, StoreLimits};
use informer_core::queue::{Queue, QueueKind, Relist};
use informer_core::storage::{Heap, Seed};
use informer_examples::pods::{self, Pod};
use informer_examples::{Cluster, ListWatch, demonstrate};

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    cluster.play(pods::some)?;
    let transport = cluster.client().transport(&Pod::target())?;
    let mut reflector = ListWatch::new(Pod::target(), transport, Tokio::current()?.clock())?;
    let seed = Seed::new(1);
    let limits = StoreLimits::NONE;
    let mut store = Indexer::<_, Heap>::new(seed.clone());
    let mut queue = Queue::<_, Heap>::new(QueueKind::DeltaFifo, Relist::Streamed, limits, seed);
    loop {
        let change = reflector.change().await?;
        let listed = change == Change::ReplaceEnd;
        let deleted = matches!(change, Change::Deleted(_));
        queue.push(change, &*store)?;

        while let Some(step) = queue.next_from(&*store) {
            if let Step::Delta { delta, .. } = &step {
                println!("{}", pods::told(delta));
            }
            if store.apply(step, Rules::default()).left_out > 0 {
                return Err("the store is full".into());
            }
        }
        if listed {
            cluster.play(pods::nettool)?;
        }
        if deleted && cluster.is_mock() {
            println!("the store has {} pods", store.len());
            return Ok(());
        }
    }
}
