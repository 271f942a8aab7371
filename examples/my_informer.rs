//! An informer built from its parts: a reflector fills a DeltaFIFO, popped deltas change a store, and a
//! handler gets the changes. The whole informer is a value that `main` drives.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;

use informer::runtime::{Runtime as _, Tokio};
use informer::{Kind as _, Notification, Object, Transport};
use informer_core::flow::Change;
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
    let mut informer = MyInformer {
        reflector: ListWatch::new(Pod::target(), transport, Tokio::current()?.clock())?,
        queue: Queue::new(
            QueueKind::DeltaFifo,
            Relist::Streamed,
            StoreLimits::NONE,
            Seed::new(1),
        ),
        store: Indexer::new(Seed::new(1)),
    };

    println!("the first state:");
    while informer.turn(&mut PrintNames).await? != Turn::Listed {}
    println!("changes:");
    cluster.play(pods::nettool)?;
    while informer.turn(&mut PrintNames).await? != Turn::Deleted || !cluster.is_mock() {}
    println!("the store has {} pods", informer.store.len());
    Ok(())
}

type SharedPod = Object<Pod>;

struct MyInformer<T> {
    reflector: ListWatch<T>,
    queue: Queue<SharedPod, Heap>,
    store: Indexer<SharedPod, Heap>,
}

/// What a turn was about.
#[derive(PartialEq)]
enum Turn {
    Listed,
    Deleted,
    Other,
}

impl<T: Transport> MyInformer<T> {
    /// Waits for a change, and brings it into the store and to the handler.
    async fn turn(&mut self, handler: &mut impl Handler) -> Result<Turn, Box<dyn Error>> {
        let change = self.reflector.change().await?;
        let turn = match change {
            Change::ReplaceEnd => Turn::Listed,
            Change::Deleted(_) => Turn::Deleted,
            _ => Turn::Other,
        };
        self.queue.push(change, &*self.store)?;
        while let Some(step) = self.queue.next_from(&*self.store) {
            for notification in self.store.apply(step, Rules::default()).notifications {
                match notification {
                    Notification::Added { object, .. } => handler.on_add(&object),
                    Notification::Updated { old, new, .. } => handler.on_update(&old, &new),
                    Notification::Deleted { last, .. } => handler.on_delete(last.as_ref()),
                }
            }
        }
        Ok(turn)
    }
}

trait Handler {
    fn on_add(&mut self, pod: &Object<Pod>);
    fn on_update(&mut self, old: &Object<Pod>, new: &Object<Pod>);
    fn on_delete(&mut self, last: Option<&Object<Pod>>);
}

struct PrintNames;

impl Handler for PrintNames {
    fn on_add(&mut self, pod: &Object<Pod>) {
        println!("  OnAdd:    {}", pod.key().name());
    }

    fn on_update(&mut self, old: &Object<Pod>, new: &Object<Pod>) {
        let (before, now) = (&old.status.phase, &new.status.phase);
        println!("  OnUpdate: {}, {before} to {now}", new.key().name());
    }

    fn on_delete(&mut self, last: Option<&Object<Pod>>) {
        println!("  OnDelete: {}", last.map_or("?", |pod| pod.key().name()));
    }
}
