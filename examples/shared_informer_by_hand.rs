//! What "shared" means: one store, one processor, and any number of listeners, each with its own backlog.
//! A listener takes notifications when it likes and holds up no other. A late listener first gets the
//! objects in the store.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;

use informer_core::indexer::{Indexer, Rules};
use informer_core::processor::{Audience, ListenerConfig, ListenerId, Processor};
use informer_core::queue::DeltaFifo;
use informer_core::storage::{Heap, Seed};
use informer_core::{Instant, Object, ObjectKey};
use informer_examples::no_flags;

type Pod = Object<()>;

struct Shared {
    fifo: DeltaFifo<Pod, Heap>,
    store: Indexer<Pod, Heap>,
    processor: Processor<Pod, Heap>,
}

fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let seed = Seed::new(1);
    let mut shared = Shared {
        fifo: DeltaFifo::new(seed.clone()),
        store: Indexer::new(seed.clone()),
        processor: Processor::new(None, seed),
    };
    let first = shared.listener()?;
    let second = shared.listener()?;

    // The first listener reads after every pod, the second one only at the end.
    for name in ["pod0", "pod1", "pod2", "pod3"] {
        shared.add(pod(name))?;
        shared.show("first ", first);
    }
    shared.show("second", second);

    let late = shared.listener()?;
    shared.show("late  ", late);
    Ok(())
}

impl Shared {
    fn listener(&mut self) -> Result<ListenerId, Box<dyn Error>> {
        let now = Instant::default();
        let config = ListenerConfig::new();
        Ok(self.processor.add_listener(config, &self.store, now)?)
    }

    /// Takes the place of the reflector: a new pod goes through the queue into the store, and from there to
    /// all listeners.
    fn add(&mut self, pod: Pod) -> Result<(), Box<dyn Error>> {
        self.fifo.add(pod)?;
        while let Some(deltas) = self.fifo.pop() {
            for step in deltas {
                for notification in self.store.apply(step, Rules::default()).notifications {
                    let everybody = Audience::Everybody;
                    self.processor.publish(&notification, everybody)?;
                }
            }
        }
        Ok(())
    }

    /// Prints the notifications that wait for a listener.
    fn show(&mut self, name: &str, listener: ListenerId) {
        while let Some(notification) = self.processor.poll_notification(listener, &self.store) {
            println!("{name} {notification}");
        }
    }
}

fn pod(name: &str) -> Pod {
    Object::builder(ObjectKey::new("default", name))
        .uid(name)
        .version("1")
        .body(())
}
