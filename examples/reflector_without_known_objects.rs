//! Why a deletion is lost: the queue forgets popped objects and cannot look up what its consumer knows. So
//! when `nettool` is deleted, the queue does not know it, and reports nothing.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;

use informer::Kind as _;
use informer::runtime::{Runtime as _, Tokio};
use informer_core::flow::{Change, Step};
use informer_core::indexer::StoreLimits;
use informer_core::queue::{NothingKnown, Queue, QueueKind, Relist};
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
    let (seed, limits) = (Seed::new(1), StoreLimits::NONE);
    let mut queue = Queue::<_, Heap>::new(QueueKind::DeltaFifo, Relist::Streamed, limits, seed);
    loop {
        let change = reflector.change().await?;
        let listed = change == Change::ReplaceEnd;
        let deleted = matches!(change, Change::Deleted(_));
        queue.push(change, &NothingKnown)?;

        if deleted && queue.is_empty() {
            println!("the server reported a deletion, but the queue reports nothing");
        }
        while let Some(step) = queue.next_from(&NothingKnown) {
            if let Step::Delta { delta, .. } = &step {
                println!("{}", pods::told(delta));
            }
        }
        if listed {
            cluster.play(pods::nettool)?;
        }
        if deleted && cluster.is_mock() {
            return Ok(());
        }
    }
}
