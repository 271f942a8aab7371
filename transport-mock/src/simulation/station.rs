//! One informer with its transport and its listeners.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use informer_core::decode::{Decoder, Lean};
use informer_core::indexer::IndexFn;
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::reflector::{Phase, Reflector};
use informer_core::storage::Storage;
use informer_core::transport::{Command, Signal, Transport};
use informer_core::{Failure, Informer, Instant, SourceId};

use super::interest::Interest;
use super::ledger::{Ledger, Rules, Standing, shown};
use super::log::Log;
use super::record::{Record, number};
use super::relists::Relists;
use super::requests::Requests;
use super::setup::Plan;
use super::tally::Tally;
use super::tamper::Tamper;
use super::view::{INDICES, Shown, compare, state};
use crate::transport::MockTransport;

/// The parts of the world that a station uses.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) log: &'a mut Log,
    pub(super) record: &'a Record,
    pub(super) now: Instant,
}

/// An informer with any kind of storage.
pub(super) trait Station {
    fn start(&mut self, now: Instant);
    fn advance(&mut self, now: Instant);
    fn next_deadline(&self) -> Option<Instant>;

    /// Executes the pending commands.
    fn execute(&mut self, scene: &mut Scene<'_>);

    /// Delivers the next signal. Returns whether anything moved.
    fn deliver(&mut self, scene: &mut Scene<'_>) -> bool;

    /// Lets a listener take up to `most` notifications, unless it is stuck. Returns how many it
    /// took.
    fn observe(&mut self, listener: usize, most: usize, scene: &mut Scene<'_>) -> usize;

    /// Adds a listener.
    fn join(&mut self, config: ListenerConfig, scene: &mut Scene<'_>);

    /// Removes a listener.
    fn leave(&mut self, listener: usize, scene: &mut Scene<'_>);

    fn listeners(&self) -> usize;

    /// Makes a listener stop polling, or lets all of them poll again.
    fn stick(&mut self, listener: usize);
    fn unstick(&mut self);

    /// Breaks the connection.
    fn reset(&mut self);

    /// Whether the connection is dead and the informer cannot notice.
    fn is_dead(&self) -> bool;

    /// Whether it must relist to find out what was deleted.
    fn is_unswept(&self) -> bool;

    /// Whether nothing more happens unless the server changes.
    fn is_settled(&self) -> bool;

    /// Compares everything with what it should be.
    fn compare(&mut self, expected: &Shown, scene: &mut Scene<'_>);

    fn interest(&self) -> Interest;

    /// A summary of its state.
    fn status(&self) -> String;

    fn count(&self, tally: &mut Tally);
}

/// An informer with its transport and its listeners.
pub(super) struct Post<S: Storage> {
    name: usize,
    plan: Plan,
    informer: Informer<Decoder<Lean>, S>,
    transport: MockTransport,
    listeners: Vec<Listener>,
    joined: usize,
    relists: Relists,
    requests: Requests,
    tamper: Tamper,
    bell: Arc<Bell>,
    /// The transport had nothing and registered a wake-up.
    awaits_bell: bool,
    /// The informer's time.
    now: Instant,
    version: u64,
    notifications: u64,
}

struct Listener {
    name: usize,
    id: ListenerId,
    ledger: Ledger,
    is_stuck: bool,
}

/// Remembers a wake-up.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<S: Storage> Post<S> {
    /// Creates the informer of `plan`. The error says why that is impossible.
    pub(super) fn new(
        name: usize,
        plan: Plan,
        mut transport: MockTransport,
        mut tamper: Tamper,
        seed: u64,
    ) -> Result<Self, String> {
        let mut informer = Informer::new(Decoder::new(Lean), plan.config, seed)
            .map_err(|error| error.to_string())?;
        for (name, function) in INDICES {
            informer
                .add_index(name, IndexFn::plain(function))
                .map_err(|error| error.to_string())?;
        }
        if let Some(tap) = tamper.tap() {
            transport.set_tap(tap);
        }
        Ok(Self {
            name,
            plan,
            informer,
            transport,
            listeners: Vec::new(),
            joined: 0,
            relists: Relists::new(),
            requests: Requests::default(),
            tamper,
            bell: Arc::default(),
            awaits_bell: false,
            now: Instant::default(),
            version: 0,
            notifications: 0,
        })
    }

    fn has_full_storage(&self) -> bool {
        let last = self.informer.status().last_failure.map(|last| last.failure);
        self.plan.is_bounded && last == Some(Failure::Full)
    }

    fn named(&self, what: &str) -> String {
        format!("informer {}: {what}", self.name)
    }

    /// The time that the informer sees.
    fn told(&self, now: Instant) -> Instant {
        match self.informer.status().phase {
            Phase::Waiting { until, .. } if self.tamper.hurries() => now.max(until),
            _ => now,
        }
    }

    /// Checks that the store's version never goes back. A version that is not a number never came
    /// from the server.
    fn check_version(&mut self, log: &mut Log) {
        let Some(version) = number(self.informer.store().version()) else {
            return;
        };
        if version < self.version {
            let what = format!("the store went from version {} to {version}", self.version);
            log.violation(self.named(&what));
        }
        self.version = version;
    }
}

impl<S: Storage> Station for Post<S> {
    fn start(&mut self, now: Instant) {
        self.informer.start(now);
    }

    fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.informer.advance(self.told(now));
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.informer.next_deadline()
    }

    fn execute(&mut self, scene: &mut Scene<'_>) {
        self.now = self.now.max(scene.now);
        while let Some(command) = self.informer.poll_command(self.told(scene.now)) {
            let command = command.to_owned();
            match command.as_command() {
                Command::Open { exchange, request } => {
                    let (name, target) = (self.name, self.plan.interest.target().request(request));
                    scene
                        .log
                        .line(|| format!("[{name}] open {} {target}", exchange.number()));
                    let listed = self.relists.listed();
                    let result = self.requests.request(request, listed, self.now);
                    scene.log.check(result.map_err(|what| self.named(&what)));
                    let result = self.relists.request(request, self.now);
                    scene.log.check(result.map_err(|what| self.named(&what)));
                    self.awaits_bell = false;
                }
                Command::Abort(exchange) => {
                    let last = self.informer.status().last_failure;
                    let why = last.map_or("", |last| last.failure.describe());
                    let name = self.name;
                    scene
                        .log
                        .line(|| format!("[{name}] abort {}: {why}", exchange.number()));
                    self.relists.abort(self.has_full_storage());
                }
            }
            self.transport.execute(command.as_command());
        }
    }

    fn deliver(&mut self, scene: &mut Scene<'_>) -> bool {
        let waker = Waker::from(Arc::clone(&self.bell));
        let mut cx = Context::from_waker(&waker);
        let polled = self.transport.poll_signal(&mut cx);
        let Poll::Ready((exchange, signal)) = polled else {
            if !self.awaits_bell {
                self.bell.0.store(false, Ordering::Relaxed);
            }
            self.awaits_bell = true;
            return false;
        };
        if self.awaits_bell && !self.bell.0.load(Ordering::Relaxed) {
            let what = format!(
                "informer {}: the transport did not wake its task",
                self.name
            );
            scene.log.violation(what);
        }
        self.awaits_bell = false;
        self.now = self.now.max(scene.now);
        let reflector = self.informer.reflector(exchange.source());
        let is_live = reflector.is_some_and(Reflector::is_live);
        let is_news = reflector.is_some_and(|reflector| reflector.is_current(exchange));
        if is_live && self.tamper.wants_relist() {
            let lie = Signal::Failed {
                failure: Failure::Expired,
                message: "as planned",
            };
            return self.informer.signal(exchange, lie, scene.now).is_some();
        }
        let Some(used) = self.informer.signal(exchange, signal, scene.now) else {
            return false;
        };
        let name = self.name;
        scene.log.line(|| match signal {
            Signal::Bytes(bytes) => format!("[{name}] {used} of {} bytes", bytes.len()),
            Signal::Failed { failure, message } => format!("[{name}] {failure:?}: {message}"),
            signal => format!("[{name}] {signal:?}"),
        });
        if is_news {
            self.relists.signal(&signal, used, self.now);
        }
        if self.has_full_storage() {
            self.relists.abort(true);
        }
        self.transport.consume(used);
        self.check_version(scene.log);
        true
    }

    fn observe(&mut self, listener: usize, most: usize, scene: &mut Scene<'_>) -> usize {
        let Some(listener) = self.listeners.get_mut(listener) else {
            return 0;
        };
        if listener.is_stuck {
            return 0;
        }
        let status = self.informer.listener_status(listener.id);
        let standing = Standing {
            was_synced: status.is_some_and(|status| status.synced),
            is_first_state: self.relists.is_first(),
        };
        let mut told = Vec::new();
        let given = self
            .informer
            .poll_notifications(listener.id, most, |next| told.push(next));
        self.notifications += given as u64;
        let (name, who) = (self.name, listener.name);
        for notification in self.tamper.notifications(who, told) {
            scene
                .log
                .line(|| format!("[{name}] listener {who}: {}", shown(&notification)));
            let entered = listener.ledger.enter(&notification, standing, scene.record);
            scene.log.check(entered.map_err(|why| {
                format!(
                    "informer {name}, listener {who}: {why}: {}",
                    shown(&notification)
                )
            }));
        }
        given
    }

    fn join(&mut self, config: ListenerConfig, scene: &mut Scene<'_>) {
        self.now = self.now.max(scene.now);
        // A bounded storage may have no room for it.
        let Ok(id) = self.informer.add_listener(config, scene.now) else {
            return;
        };
        let (name, who) = (self.name, self.joined);
        scene
            .log
            .line(|| format!("[{name}] listener {who} joins: {config:?}"));
        self.joined += 1;
        let rules = Rules {
            is_strict: self.plan.is_strict,
            merges: matches!(config.backlog, Backlog::Coalesce { .. }),
            is_whole: self.plan.interest.is_whole(),
        };
        self.listeners.push(Listener {
            name: who,
            id,
            ledger: Ledger::new(rules),
            is_stuck: false,
        });
    }

    fn leave(&mut self, listener: usize, scene: &mut Scene<'_>) {
        if listener < self.listeners.len() {
            let listener = self.listeners.remove(listener);
            let (name, who) = (self.name, listener.name);
            scene.log.line(|| format!("[{name}] listener {who} leaves"));
            self.informer.remove_listener(listener.id);
        }
    }

    fn listeners(&self) -> usize {
        self.listeners.len()
    }

    fn stick(&mut self, listener: usize) {
        if let Some(listener) = self.listeners.get_mut(listener) {
            listener.is_stuck = true;
        }
    }

    fn unstick(&mut self) {
        for listener in &mut self.listeners {
            listener.is_stuck = false;
        }
    }

    fn reset(&mut self) {
        self.awaits_bell = false;
        self.transport.reset();
    }

    fn is_dead(&self) -> bool {
        self.transport.is_stalled() && self.plan.config.reflector.idle.is_none()
    }

    fn is_unswept(&self) -> bool {
        self.informer.status().unswept
    }

    fn is_settled(&self) -> bool {
        let status = self.informer.status();
        let Some(reflector) = self.informer.reflector(SourceId::FIRST) else {
            return false;
        };
        status.synced
            && !status.stalled
            && status.phase == Phase::Watching
            && reflector.is_live()
            && reflector.is_opened()
            && self.awaits_bell
            && !self.transport.is_stalled()
    }

    fn compare(&mut self, expected: &Shown, scene: &mut Scene<'_>) {
        let result = Shown::of(self.informer.store())
            .map_err(|error| error.to_string())
            .and_then(|mut shown| {
                self.tamper.store(&mut shown);
                shown.compare(expected)?;
                self.check_reached(&shown)
            })
            .and_then(|()| self.check_listeners(expected, scene.record));
        scene.log.check(result.map_err(|what| self.named(&what)));
    }

    fn interest(&self) -> Interest {
        self.plan.interest
    }

    fn status(&self) -> String {
        self.named(&format!("{:?}", self.informer.status()))
    }

    fn count(&self, tally: &mut Tally) {
        let counts = self.informer.status().counts;
        tally.events += counts.objects;
        tally.relists += counts.full_states.saturating_sub(1);
        tally.notifications += self.notifications;
    }
}

impl<S: Storage> Post<S> {
    /// Checks that the store's version is not older than the objects it shows.
    fn check_reached(&self, shown: &Shown) -> Result<(), String> {
        let Some(version) = number(&shown.version) else {
            return Ok(());
        };
        let store = self.informer.store();
        match store
            .iter()
            .find(|pod| number(pod.version()) > Some(version))
        {
            Some(pod) => Err(format!(
                "the store claims version {version}, but shows {}@{}",
                pod.key(),
                pod.version()
            )),
            None => Ok(()),
        }
    }

    fn check_listeners(&self, expected: &Shown, record: &Record) -> Result<(), String> {
        for pod in self.informer.store().iter() {
            record.check(pod, self.plan.interest.is_whole())?;
        }
        for listener in &self.listeners {
            let who = format!("listener {}", listener.name);
            let known = listener.ledger.known().iter();
            let known = known.map(|(key, pod)| (key.clone(), state(pod))).collect();
            compare(&who, &known, &expected.objects)?;
            let status = self.informer.listener_status(listener.id);
            if !status.is_some_and(|status| status.synced && status.pending == 0) {
                return Err(format!("{who} is not done: {status:?}"));
            }
        }
        Ok(())
    }
}
