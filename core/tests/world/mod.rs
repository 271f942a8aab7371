//! A small world for tests: an API server with a history, a connection that splits bytes anywhere, a
//! clock, and listeners that check every notification. All randomness comes from one seed.
#![allow(dead_code, unreachable_pub, reason = "no test uses everything")]

pub mod listener;
pub mod server;

use core::time::Duration;
use std::fmt::Write as _;

use informer_core::decode::{Decoder, Dynamic};
use informer_core::indexer::IndexFn;
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::storage::{Heap, Storage};
use informer_core::transport::{Command, ExchangeId, Request, Signal};
use informer_core::{Failure, Informer, InformerConfig, Instant, Object, SourceId};
use informer_test_support::{Random, Strictness, view};

use listener::Observer;
use server::{Answer, Selector, Server};

pub type Pod = Object<serde_json::Value>;

/// An informer, its server, and the connection between them.
pub struct World<S: Storage = Heap> {
    pub informer: Informer<Decoder<Dynamic>, S>,
    pub server: Server,
    pub observers: Vec<Observer>,
    pub random: Random,
    pub now: Instant,
    pub followers: Vec<Follower>,
    /// Whether sources come and go.
    pub changes_sources: bool,
    old_exchange: Option<ExchangeId>,
    /// All commands and notifications, one per line.
    pub trace: String,
    /// The longest chunk of bytes.
    pub chunk: u64,
}

/// A source, and the answer to its request.
pub struct Follower {
    pub source: SourceId,
    pub selector: Selector,
    answer: Option<(ExchangeId, Answer)>,
}

impl<S: Storage> World<S> {
    /// An informer that follows everything with one source.
    pub fn new(config: InformerConfig, seed: u64) -> Self {
        Self::with_sources(config, seed, &[Selector::ALL])
    }

    /// An informer with a source for each selector.
    pub fn with_sources(config: InformerConfig, seed: u64, selectors: &[Selector]) -> Self {
        let mut informer = Informer::without_sources(config, seed).unwrap();
        informer.add_index("app", IndexFn::plain(by_app)).unwrap();
        let mut world = Self {
            informer,
            server: Server::new(),
            observers: Vec::new(),
            random: Random::new(seed),
            now: Instant::from_micros(1),
            followers: Vec::new(),
            changes_sources: false,
            old_exchange: None,
            trace: String::new(),
            chunk: 400,
        };
        for selector in selectors {
            world.follow(*selector);
        }
        world
    }

    /// Three sources that overlap, and that come and go.
    pub fn with_several(config: InformerConfig, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let selectors = [(); 3].map(|()| Selector::any(&mut random));
        let mut world = Self::with_sources(config, seed, &selectors);
        world.changes_sources = true;
        world
    }

    /// Adds a source.
    pub fn follow(&mut self, selector: Selector) {
        let decoder = Decoder::new(Dynamic);
        let source = self.informer.add_source(decoder, self.now).unwrap();
        self.followers.push(Follower {
            source,
            selector,
            answer: None,
        });
    }

    /// Adds or removes a source.
    fn change_sources(&mut self) {
        let which = self.random.below(6) as usize;
        if which < self.followers.len() {
            let gone = self.followers.remove(which);
            assert!(self.informer.remove_source(gone.source, self.now));
            assert!(!self.informer.remove_source(gone.source, self.now));
            self.old_exchange = gone
                .answer
                .map(|(exchange, _)| exchange)
                .or(self.old_exchange);
            let _ = writeln!(self.trace, "removed {}", gone.source.number());
        } else {
            let selector = Selector::any(&mut self.random);
            let _ = writeln!(self.trace, "follows {selector:?}");
            self.follow(selector);
        }
    }

    /// Some source, if there is one.
    fn any_follower(&mut self) -> Option<usize> {
        let many = self.followers.len() as u64;
        match many {
            0 | 1 => many.checked_sub(1).map(|only| only as usize),
            _ => Some(self.random.below(many) as usize),
        }
    }

    pub fn listen(&mut self, config: ListenerConfig, strict: bool) {
        let id = self.informer.add_listener(config, self.now).unwrap();
        let merges = matches!(config.backlog, Backlog::Coalesce { .. });
        let strictness = if strict {
            Strictness::Ours
        } else {
            Strictness::ClientGo { merges }
        };
        self.observers.push(Observer::new(id, strictness));
    }

    /// Executes all commands.
    pub fn execute(&mut self) {
        while let Some(command) = self.informer.poll_command(self.now) {
            let source = command.exchange().source();
            let mut followers = self.followers.iter_mut();
            let follower = followers.find(|follower| follower.source == source);
            match command {
                Command::Abort(exchange) => {
                    let _ = writeln!(self.trace, "abort {}", exchange.number());
                    if let Some(follower) = follower {
                        follower.answer.take_if(|(id, _)| *id == exchange);
                    }
                    self.old_exchange = Some(exchange);
                }
                Command::Open { exchange, request } => {
                    let _ = writeln!(self.trace, "open {} {}", exchange.number(), shown(request));
                    // A removed source sends no request.
                    let follower = follower.unwrap();
                    let answer = self.server.answer(request, follower.selector, self.now);
                    if let Some((old, _)) = follower.answer.replace((exchange, answer)) {
                        self.old_exchange = Some(old);
                    }
                }
            }
        }
    }

    /// Offers the next signal to some source. Returns whether it was taken.
    pub fn deliver(&mut self) -> bool {
        let which = self.any_follower();
        which.is_some_and(|which| self.deliver_to(which))
    }

    /// Offers the next signal, with bytes in chunks of random length. Returns whether it was taken.
    fn deliver_to(&mut self, which: usize) -> bool {
        let Some((exchange, answer)) = &mut self.followers[which].answer else {
            return false;
        };
        answer.catch_up(&self.server, self.now);
        let length = 1 + self.random.below(self.chunk) as usize;
        let Some(signal) = answer.signal(length) else {
            return false;
        };
        let Some(used) = self.informer.signal(*exchange, signal, self.now) else {
            return false;
        };
        if answer.consume(used) {
            self.followers[which].answer = None;
        }
        true
    }

    /// Lets an observer take up to `most` notifications. Returns how many there were.
    pub fn observe(&mut self, which: usize, most: usize) -> usize {
        let observer = &mut self.observers[which];
        let trace = &mut self.trace;
        let mut taken = Vec::new();
        let given = self
            .informer
            .poll_notifications(observer.id, most, |notification| taken.push(notification));
        for notification in taken {
            let _ = writeln!(
                trace,
                "{which} {}",
                informer_test_support::shown(&notification)
            );
            observer.check(&notification);
        }
        given
    }

    /// Does one random thing.
    pub fn act(&mut self) {
        if self.changes_sources && self.random.below(15) == 0 {
            self.change_sources();
        }
        match self.random.below(20) {
            0..=4 => self.server.mutate(&mut self.random),
            5..=10 => {
                self.deliver();
            }
            11 => self.execute(),
            12 | 13 => {
                if let Some(which) = self
                    .random
                    .below(self.observers.len() as u64 + 1)
                    .checked_sub(1)
                {
                    let most = 1 + self.random.below(8) as usize;
                    self.observe(which as usize, most);
                }
            }
            14 => {
                self.now = self
                    .now
                    .after(Duration::from_millis(self.random.below(900)))
            }
            15 => {
                if let Some(deadline) = self.informer.next_deadline() {
                    self.now = self.now.max(deadline);
                }
            }
            16 => self.informer.advance(self.now),
            17 => self.fault(),
            18 => {
                // A signal of an old exchange, with a clock that goes back.
                if let Some(old) = self.old_exchange {
                    let used =
                        self.informer
                            .signal(old, Signal::Bytes(b"garbage"), Instant::default());
                    assert_eq!(used, Some(7), "old signals must be ignored");
                }
            }
            _ => {
                self.informer.poll_ready_listener();
            }
        }
    }

    fn any_answer(&mut self) -> Option<&mut Answer> {
        let which = self.any_follower()?;
        let (_, answer) = self.followers[which].answer.as_mut()?;
        Some(answer)
    }

    fn fault(&mut self) {
        match self.random.below(8) {
            0 => self.server.compact(),
            1 => self.server.refuse = Some(Failure::Unreachable),
            2 => self.server.refuse = Some(Failure::Throttled { retry_after: None }),
            3 => self.server.refuse = Some(Failure::Internal),
            4 => self.server.refuse = Some(Failure::Expired),
            5 => {
                if let Some(answer) = self.any_answer() {
                    answer.end = Some(Failure::Broken);
                    answer.bytes.truncate(answer.bytes.len() / 2);
                }
            }
            6 => {
                if let Some(answer) = self.any_answer() {
                    answer.close();
                }
            }
            _ => self.now = self.now.after(Duration::from_secs(self.random.below(400))),
        }
    }

    /// Runs without faults until nothing changes any more, and checks that everything agrees.
    pub fn settle(&mut self) {
        self.server.refuse = None;
        for round in 0.. {
            assert!(
                round < 10_000,
                "it never settles: {:?}",
                self.informer.status()
            );
            self.informer.advance(self.now);
            self.execute();
            let mut moved = false;
            for which in 0..self.followers.len() {
                moved |= self.deliver_to(which);
            }
            for which in 0..self.observers.len() {
                moved |= self.observe(which, 64) > 0;
            }
            if moved {
                continue;
            }
            let current = |follower: &Follower| {
                let answer = follower.answer.as_ref();
                answer.is_some_and(|(_, answer)| answer.is_current(&self.server))
            };
            if self.informer.is_synced()
                && self.followers.iter().all(current)
                && self.informer.sources().count() == self.followers.len()
            {
                break;
            }
            self.now = self
                .informer
                .next_deadline()
                .unwrap_or(self.now)
                .max(self.now);
        }
        let store = self.informer.store();
        let shown = view(store.iter());
        let selectors: Vec<_> = self.followers.iter().map(|it| it.selector).collect();
        assert_eq!(
            shown,
            self.server.state(&selectors),
            "the store must equal what the sources follow"
        );
        for pod in store.iter() {
            let mut sources: Vec<_> = store.sources_of(pod.key()).collect();
            sources.sort();
            let selects = |follower: &&Follower| {
                let state = self.server.state(&[follower.selector]);
                state.contains_key(pod.key().as_str())
            };
            let mut right: Vec<_> = self
                .followers
                .iter()
                .filter(selects)
                .map(|it| it.source)
                .collect();
            right.sort();
            assert_eq!(sources, right, "the sources of {:?}", pod.key());
        }
        for app in ["a0", "a1", "a2"] {
            let has = |pod: &&Pod| pod.labels().get("app") == Some(app);
            let mut filed: Vec<_> = store
                .by_index("app", app)
                .unwrap()
                .map(|pod| pod.key())
                .collect();
            let mut right: Vec<_> = store.iter().filter(has).map(|pod| pod.key()).collect();
            filed.sort();
            right.sort();
            assert_eq!(filed, right, "the index must equal a recomputation");
        }
        for observer in &self.observers {
            assert_eq!(
                observer.view(),
                shown,
                "a listener's view must equal the store"
            );
            let status = self.informer.listener_status(observer.id).unwrap();
            assert!(status.synced && status.pending == 0, "{status:?}");
        }
    }
}

fn by_app(pod: &Pod, file: &mut dyn FnMut(&[u8])) {
    if let Some(app) = pod.labels().get("app") {
        file(app.as_bytes());
    }
}

pub fn shown(request: Request<'_>) -> String {
    match request {
        Request::List {
            version,
            limit,
            page,
        } => format!("list {:?} {limit:?} {page:?}", version.as_str()),
        Request::Watch {
            version,
            initial_events,
            ..
        } => {
            format!("watch {:?} {initial_events}", version.as_str())
        }
    }
}
