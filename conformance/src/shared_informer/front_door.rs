//! The informer of the crate `informer`, on its manual runtime and in the mock's virtual time.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::future::poll_fn;
use core::task::Poll;

use informer::runtime::Manual;
use informer::{
    InformerBuilder, Instant, ListenerConfig, Phase, Registration, SharedInformer, Target,
};
use informer_transport_mock::VirtualClock;

use super::backend::{Backend, Seen, Setup};
use super::notes::Hear;
use crate::vector::{Payload, TransformName};

/// How many turns the tasks may take until all of them wait. If they need more, they never settle.
const MOST_TURNS: usize = 10_000;

pub(super) struct FrontDoor {
    informer: SharedInformer<Payload>,
    handlers: BTreeMap<String, Registration<Payload>>,
    runtime: Manual,
    clock: VirtualClock,
}

impl Backend for FrontDoor {
    fn new(setup: Setup) -> Result<Self, String> {
        let things = Target::new("conformance", "v1", "things");
        let mut builder = InformerBuilder::typed_at(things)
            .preset(setup.config)
            .seed(setup.seed);
        let transform = setup.transform;
        if !matches!(transform, TransformName::None) {
            builder = builder.transform(move |thing| transform.apply(thing));
        }
        let runtime = Manual::new(Arc::new(setup.clock.clone()));
        let connect = move |_: &Target| setup.server.transport();
        let informer = builder.build(&connect, runtime.clone());
        Ok(Self {
            informer: informer.map_err(|error| error.to_string())?,
            handlers: BTreeMap::new(),
            runtime,
            clock: setup.clock,
        })
    }

    fn start(&mut self) -> Result<(), String> {
        self.informer.start().map_err(|error| error.to_string())
    }

    fn stop(&mut self) {
        self.informer.stop();
    }

    fn add_handler(
        &mut self,
        name: &str,
        config: ListenerConfig,
        hear: Hear,
    ) -> Result<(), String> {
        let registration = self.informer.on_with(hear, config);
        let registration = registration.map_err(|error| error.to_string())?;
        self.handlers.insert(name.to_owned(), registration);
        Ok(())
    }

    fn remove_handler(&mut self, name: &str) -> Result<(), String> {
        let registration = self.handlers.remove(name);
        let registration = registration.ok_or_else(|| format!("there is no handler {name:?}"))?;
        let removed = self.runtime.run(Box::pin(registration.remove()));
        removed.map_err(|_| format!("the task of {name:?} does not end"))
    }

    fn settle(&mut self) -> Result<(), String> {
        let mut turns = 0;
        let patience = poll_fn(|_| {
            turns += 1;
            if turns > MOST_TURNS {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        if self.runtime.run(patience).is_ok() {
            return Err(format!("its tasks are not idle after {MOST_TURNS} turns"));
        }
        match self.informer.status().panic {
            None => Ok(()),
            Some(panic) => Err(format!("it panicked: {panic}")),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.clock.next_deadline()
    }

    fn phase(&self) -> Phase {
        self.informer.status().phase
    }

    fn look(&self) -> Seen {
        let store = self.informer.snapshot();
        let synced = |(name, handler): (&String, &Registration<Payload>)| {
            (name.clone(), handler.is_synced())
        };
        Seen {
            version: self.informer.status().version.unwrap_or_default(),
            store: store.iter().cloned().collect(),
            store_version: store.version().to_owned(),
            synced: self.informer.is_synced(),
            handlers: self.handlers.iter().map(synced).collect(),
        }
    }
}

impl Drop for FrontDoor {
    /// The tasks hold the runtime and the runtime holds the tasks, until the tasks have ended.
    fn drop(&mut self) {
        self.informer.stop();
        self.runtime.run_until_idle();
    }
}
