//! Why a deletion is not lost here: what is popped goes into an indexer, and the indexer is shown to
//! the queue. So the queue knows that `nettool` was there, and says that it is gone.
#![expect(clippy::print_stdout, reason = "it explains by printing")]

use std::error::Error;
use std::process::ExitCode;

use informer::Kind as _;
use informer::runtime::{Runtime as _, Tokio};
use informer_core::flow::Change;
use informer_core::indexer::{Indexer, Rules};
use informer_core::queue::DeltaFifo;
use informer_core::storage::{Heap, Seed};
use informer_examples::pods::{self, Pod};
use informer_examples::{Cluster, ListWatch, demonstrate, file};

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    cluster.play(pods::some)?;
    let transport = cluster.client().transport(&Pod::target())?;
    let mut reflector = ListWatch::new(Pod::target(), transport, Tokio::current()?.clock())?;
    let mut fifo = DeltaFifo::<_, Heap>::new(Seed::new(1));
    let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    loop {
        let change = reflector.change().await?;
        let listed = change == Change::ReplaceEnd;
        let deleted = matches!(change, Change::Deleted(_));
        file(change, &mut fifo, &*store)?;

        while let Some(deltas) = fifo.pop() {
            let (initial, seen) = (deltas.is_initial(), deltas.seen());
            for delta in deltas {
                println!("{}", pods::told(&delta));
                store.apply(delta, initial, seen, Rules::default())?;
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
