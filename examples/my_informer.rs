//! An informer built from its parts: a reflector fills a DeltaFIFO, popped deltas change a store, and a
//! handler gets the changes. There is no runtime. The whole informer is a value that `main` drives.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use informer::{Kind as _, Notification, Object};
use informer_core::flow::Change;
use informer_core::indexer::{Indexer, Rules, StoreLimits};
use informer_core::queue::{Queue, QueueKind, Relist};
use informer_core::storage::{Heap, Seed};
use informer_examples::pods::{self, Pod};
use informer_examples::{ListWatch, Step, no_flags};
use informer_transport_mock::transport::MockTransport;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};

fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let clock = VirtualClock::new();
    let server = MockServer::new(ServerConfig::new(42), clock.clone());
    server.with(pods::some)?;
    let transport = server.transport(&Pod::target(), 1);
    let mut informer = MyInformer {
        reflector: ListWatch::new(Pod::target(), transport, Arc::new(clock))?,
        queue: Queue::new(
            QueueKind::DeltaFifo,
            Relist::Streamed,
            StoreLimits::NONE,
            Seed::new(1),
        ),
        store: Indexer::new(Seed::new(1)),
    };

    println!("the initial pods:");
    informer.run(PrintNames)?;
    println!("the life of nettool:");
    server.with(pods::nettool)?;
    informer.run(PrintNames)?;
    println!("the store has {} pods", informer.store.len());
    Ok(())
}

type SharedPod = Object<Pod>;

struct MyInformer {
    reflector: ListWatch<MockTransport>,
    queue: Queue<SharedPod, Heap>,
    store: Indexer<SharedPod, Heap>,
}

impl MyInformer {
    /// Runs until there is nothing left to do.
    fn run(&mut self, mut handler: impl Handler) -> Result<(), Box<dyn Error>> {
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(step) = self.reflector.poll_next(&mut cx) {
            if let Step::Says(change) = step {
                self.follow(change, &mut handler)?;
            }
        }
        Ok(())
    }

    fn follow(
        &mut self,
        change: Change<SharedPod>,
        handler: &mut impl Handler,
    ) -> Result<(), Box<dyn Error>> {
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
        Ok(())
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
