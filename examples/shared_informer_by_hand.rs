//! What "shared" means, by hand over list and watch: one reflector, one store, one processor, and any number
//! of listeners, each with its own backlog. A listener takes notifications when it likes and holds up no
//! other. A late listener first gets the objects in the store.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;

use informer::runtime::{Runtime as _, Tokio};
use informer::{Kind as _, Object, Transport};
use informer_core::Instant;
use informer_core::flow::Change;
use informer_core::indexer::{Indexer, Rules, StoreLimits};
use informer_core::processor::{Audience, ListenerConfig, ListenerId, Processor};
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
    let seed = Seed::new(1);
    let mut shared = Shared {
        reflector: ListWatch::new(Pod::target(), transport, Tokio::current()?.clock())?,
        queue: Queue::new(
            QueueKind::DeltaFifo,
            Relist::Streamed,
            StoreLimits::NONE,
            seed.clone(),
        ),
        store: Indexer::new(seed.clone()),
        processor: Processor::new(None, seed),
    };
    let first = shared.listener()?;
    let second = shared.listener()?;

    // The first listener reads after every change, the second one only at the end of the list.
    while shared.turn().await? != Change::ReplaceEnd {
        shared.show("first ", first);
    }
    shared.show("first ", first);
    shared.show("second", second);

    let late = shared.listener()?;
    shared.show("late  ", late);
    cluster.play(pods::nettool)?;
    loop {
        let over = matches!(shared.turn().await?, Change::Deleted(_)) && cluster.is_mock();
        for (name, listener) in [("first ", first), ("second", second), ("late  ", late)] {
            shared.show(name, listener);
        }
        if over {
            return Ok(());
        }
    }
}

struct Shared<T> {
    reflector: ListWatch<T>,
    queue: Queue<Object<Pod>, Heap>,
    store: Indexer<Object<Pod>, Heap>,
    processor: Processor<Object<Pod>, Heap>,
}

impl<T: Transport> Shared<T> {
    fn listener(&mut self) -> Result<ListenerId, Box<dyn Error>> {
        let now = Instant::default();
        let config = ListenerConfig::new();
        Ok(self.processor.add_listener(config, &self.store, now)?)
    }

    /// Waits for a change. It goes through the queue into the store, and from there to all listeners.
    async fn turn(&mut self) -> Result<Change<Object<Pod>>, Box<dyn Error>> {
        let change = self.reflector.change().await?;
        self.queue.push(change.clone(), &*self.store)?;
        while let Some(step) = self.queue.next_from(&*self.store) {
            for notification in self.store.apply(step, Rules::default()).notifications {
                let everybody = Audience::Everybody;
                self.processor.publish(&notification, everybody)?;
            }
        }
        Ok(change)
    }

    /// Prints the notifications that wait for a listener.
    fn show(&mut self, name: &str, listener: ListenerId) {
        while let Some(notification) = self.processor.poll_notification(listener, &self.store) {
            println!("{name} {notification}");
        }
    }
}
