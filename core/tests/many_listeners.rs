//! The cost of many listeners, measured as accesses to their cells. Each listener costs the same, however
//! many others there are.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;

use core::cell::Cell;
use std::sync::Arc;

use hand::{EVERYTHING, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::storage::{Cells, Frozen, Full, Pages, Storage};
use informer_core::transport::{Command, ExchangeId, Signal};
use informer_core::{Encoding, Informer, Instant};

thread_local! {
    /// How often the cell of a listener was accessed.
    static ACCESSES: Cell<usize> = const { Cell::new(0) };
}

/// Heap storage that counts each access to the cell of a listener.
#[derive(Clone, Copy)]
enum Counted {}

struct CountedCells<T>(Vec<T>);

impl Storage for Counted {
    type Cells<T: Default> = Vec<T>;
    type Few<T: Default> = CountedCells<T>;
    type Pages<T: Default + Clone, const CELLS: usize> = Pages<T, CELLS>;
    type FewPages<T: Default + Clone> = Vec<T>;
    type Sources<T: Default> = Vec<T>;
    type Holds<T: Default + Clone> = Pages<T, 16>;
    type Kept<V: Clone> = Frozen<V>;
    type Text = String;
    type Bytes = Arc<[u8]>;
}

impl<T> Default for CountedCells<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Cells<T> for CountedCells<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn capacity(&self) -> usize {
        Cells::capacity(&self.0)
    }

    fn get(&self, at: usize) -> Option<&T> {
        ACCESSES.set(ACCESSES.get() + 1);
        self.0.as_slice().get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        ACCESSES.set(ACCESSES.get() + 1);
        self.0.as_mut_slice().get_mut(at)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        Cells::grow(&mut self.0, len)
    }
}

/// An informer with listeners that has synced and watches.
struct World {
    informer: Informer<Decoder<Dynamic>, Counted>,
    listeners: Vec<ListenerId>,
    exchange: ExchangeId,
    version: u64,
}

const NOW: Instant = Instant::from_micros(1);

impl World {
    fn new(listeners: usize, config: ListenerConfig) -> Self {
        let mut informer = Informer::new(Decoder::new(Dynamic), listed(), 1).unwrap();
        let add = |_| informer.add_listener(config, NOW).unwrap();
        let listeners = (0..listeners).map(add).collect();
        informer.start(NOW);
        let mut world = Self {
            exchange: open(&mut informer),
            informer,
            listeners,
            version: 10,
        };
        world.signal(Signal::Bytes(
            br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}"#,
        ));
        world.signal(Signal::Closed);
        world.exchange = open(&mut world.informer);
        world.signal(Signal::Opened(Encoding::Json));
        world
    }

    fn signal(&mut self, signal: Signal<'_>) {
        let taken = self.informer.signal(self.exchange, signal, NOW);
        assert!(taken.is_some());
    }

    fn event(&mut self, kind: &str) {
        self.version += 1;
        let object = pod("x", "u", self.version);
        let line = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        self.signal(Signal::Bytes(line.as_bytes()));
    }

    /// Each ready listener takes its notifications one by one. Returns how many there were.
    fn take_all(&mut self) -> usize {
        let mut taken = 0;
        while let Some(listener) = self.informer.poll_ready_listener() {
            while self.informer.poll_notification(listener).is_some() {
                taken += 1;
            }
        }
        taken
    }
}

fn open(informer: &mut Informer<Decoder<Dynamic>, Counted>) -> ExchangeId {
    while let Some(command) = informer.poll_command(NOW) {
        if let Command::Open { exchange, .. } = command {
            return exchange;
        }
    }
    panic!("there is no request")
}

/// How many accesses `act` makes.
fn accesses(act: impl FnOnce()) -> usize {
    ACCESSES.set(0);
    act();
    ACCESSES.get()
}

fn configs() -> [ListenerConfig; 3] {
    let policies = [
        Backlog::Grow,
        Backlog::Coalesce { above: 0 },
        Backlog::Stall { at: 1 },
    ];
    policies.map(|backlog| ListenerConfig {
        backlog,
        ..EVERYTHING
    })
}

#[test]
fn an_event_costs_the_same_for_each_listener_however_many_there_are() {
    for config in configs() {
        let per_listener = |listeners: usize| {
            let mut world = World::new(listeners, config);
            world.event("ADDED");
            world.take_all();
            let accesses = accesses(|| {
                world.event("MODIFIED");
                assert_eq!(world.take_all(), listeners);
            });
            accesses / listeners
        };
        let (few, many) = (per_listener(10), per_listener(1_000));
        assert!(
            many <= few,
            "{config:?}: {few} accesses for each of 10 listeners, {many} for each of 1,000"
        );
    }
}

#[test]
fn a_call_for_one_listener_or_none_does_not_access_the_others() {
    for config in configs() {
        let mut world = World::new(1_000, config);
        world.event("ADDED");
        world.take_all();
        let idle = accesses(|| {
            world.event("BOOKMARK");
            world.informer.advance(NOW);
            assert_eq!(world.informer.poll_ready_listener(), None);
            assert!(!world.informer.is_stalled());
            assert!(!world.informer.status().stalled);
        });
        assert!(idle < 5, "{config:?}: {idle}");
        let (first, last) = (world.listeners[0], world.listeners[999]);
        let one = accesses(|| {
            assert_eq!(world.informer.poll_notification(last), None);
            assert!(world.informer.listener_status(last).is_some());
        });
        assert!(one < 5, "{config:?}: {one}");
        world.event("MODIFIED");
        let removal = accesses(|| assert!(world.informer.remove_listener(first)));
        assert!(removal < 10, "{config:?}: {removal}");
    }
}
