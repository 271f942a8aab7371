//! One informer with its sources and its listeners.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use informer_core::decode::{Decoder, Lean};
use informer_core::indexer::IndexFn;
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::reflector::{Phase, Reflector};
use informer_core::storage::Storage;
use informer_core::transport::{Command, Signal, Transport};
use informer_core::{Encodings, Failure, Informer, Instant, SourceId};

use super::interest::Interest;
use super::ledger::{Calm, Ledger, Return, Rules, Standing, shown};
use super::line::Line;
use super::log::Log;
use super::record::{Record, number};
use super::setup::Plan;
use super::tally::Tally;
use super::tamper::Tamper;
use super::view::{INDICES, Shown, compare, state};
use crate::StoredObject;
use crate::random::Random;
use crate::transport::MockTransport;

/// How recent the news of a fresh informer is.
const RECENT: Duration = Duration::from_secs(60);

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

    /// Adds a source.
    fn add_source(&mut self, interest: Interest, transport: MockTransport, scene: &mut Scene<'_>);

    /// Removes the source at this place.
    fn remove_source(&mut self, at: usize, scene: &mut Scene<'_>);

    /// Delivers nothing of the source at this place until [`unstick`](Self::unstick).
    fn lag(&mut self, at: usize);

    /// What its sources follow.
    fn interests(&self) -> Vec<Interest>;

    /// The encodings that its sources accept.
    fn encodings(&self) -> Encodings;

    /// Says that nothing happens but a change of the sources, or that other things may happen.
    fn expect(&mut self, calm: Option<Calm>);

    /// Stops it, and checks that nothing happens any more.
    fn stop(&mut self, scene: &mut Scene<'_>);

    /// Breaks a connection, and all that are dead.
    fn reset(&mut self);

    /// Whether a connection is dead and the informer cannot notice.
    fn is_dead(&self) -> bool;

    /// Whether it must relist to find out what was deleted.
    fn is_unswept(&self) -> bool;

    /// Whether nothing more happens unless the server changes.
    fn is_settled(&self) -> bool;

    /// Compares everything with what it should be, if these are the objects of the server.
    fn compare(&mut self, objects: &[Arc<StoredObject>], scene: &mut Scene<'_>);

    /// A summary of its state.
    fn status(&self) -> String;

    fn count(&self, tally: &mut Tally);
}

/// An informer with its sources and its listeners.
pub(super) struct Post<S: Storage> {
    name: usize,
    plan: Plan,
    /// Boxed, since a bounded one is large.
    informer: Box<Informer<Decoder<Lean>, S>>,
    lines: Vec<Line>,
    /// Decides which source is served next.
    choice: Random,
    returns: Return,
    /// Whether sources were added after the start.
    has_grown: bool,
    /// Whether a source that was removed had relisted.
    had_relisted: bool,
    /// The changes of sources, and what those that were removed had done.
    past: Tally,
    calm: Option<Calm>,
    listeners: Vec<Listener>,
    joined: usize,
    tamper: Tamper,
    /// The informer's time.
    now: Instant,
    /// The version that the store showed last, while this was its only source.
    version: (Option<SourceId>, u64),
    notifications: u64,
}

struct Listener {
    name: usize,
    id: ListenerId,
    ledger: Ledger,
    is_stuck: bool,
}

impl<S: Storage> Post<S> {
    /// Creates the informer of `plan`, with these sources. The error says why that is impossible.
    pub(super) fn new(
        name: usize,
        plan: Plan,
        sources: Vec<(Interest, MockTransport)>,
        returns: Return,
        tamper: Tamper,
        seed: u64,
    ) -> Result<Self, String> {
        let mut informer = Box::new(
            Informer::without_sources(plan.config, seed).map_err(|error| error.to_string())?,
        );
        for (name, function) in INDICES {
            informer
                .add_index(name, IndexFn::plain(function))
                .map_err(|error| error.to_string())?;
        }
        let mut post = Self {
            name,
            plan,
            informer,
            lines: Vec::new(),
            choice: Random::new(!seed),
            returns,
            has_grown: false,
            had_relisted: false,
            past: Tally::default(),
            calm: None,
            listeners: Vec::new(),
            joined: 0,
            tamper,
            now: Instant::default(),
            version: (None, 0),
            notifications: 0,
        };
        for (interest, transport) in sources {
            let added = post.connect(interest, transport, Instant::default());
            added.ok_or("there is no room for its sources")?;
        }
        Ok(post)
    }

    /// Adds a source, if there is room.
    fn connect(
        &mut self,
        interest: Interest,
        mut transport: MockTransport,
        now: Instant,
    ) -> Option<SourceId> {
        let id = self.informer.add_source(Decoder::new(Lean), now).ok()?;
        if let Some(tap) = self.tamper.tap() {
            transport.set_tap(tap);
        }
        self.lines.push(Line::new(id, interest, transport));
        Some(id)
    }

    /// The sources that were not removed.
    fn current(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| !line.is_removed)
    }

    /// The place of the source at `at` among those that were not removed.
    fn place(&self, at: usize) -> Option<usize> {
        let places = self.lines.iter().enumerate();
        let mut current = places.filter(|(_, line)| !line.is_removed);
        current.nth(at).map(|(place, _)| place)
    }

    fn has_full_storage(&self, source: SourceId) -> bool {
        let status = self.informer.source_status(source);
        let last = status.and_then(|status| Some(status.last_failure?.failure));
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

    /// Checks that the store's version never goes back while it has the same only source. A
    /// version that is not a number never came from the server.
    fn check_version(&mut self, log: &mut Log) {
        let mut sources = self.informer.sources();
        let only = sources.next().filter(|_| sources.next().is_none());
        let Some(version) = number(self.informer.store().version()) else {
            return;
        };
        if self.informer.sources().count() > 1 {
            log.violation(self.named("the store of several sources has a version"));
        }
        let (same, before) = self.version;
        if only.is_some() && only == same && version < before {
            let what = format!("the store went from version {before} to {version}");
            log.violation(self.named(&what));
        }
        self.version = (only, version);
    }

    /// Checks what the informer says about all of its sources together.
    fn check_claims(&self, scene: &mut Scene<'_>) {
        let statuses = || {
            let ids = self.current().map(|line| line.id);
            ids.filter_map(|id| self.informer.source_status(id))
        };
        let now = self.now.max(scene.now);
        let is_recent = |at: Instant| now.since(at) <= RECENT;
        let some_synced = statuses().any(|status| status.synced);
        let some_fresh = statuses().any(|status| {
            status.synced && status.following && status.last_byte.is_some_and(is_recent)
        });
        let is_fresh = self.informer.is_fresh(RECENT, scene.now);
        let is_synced = self.tamper.synced(self.informer.is_synced(), some_synced);
        let is_fresh = self.tamper.fresh(is_fresh, some_fresh);
        for line in self.current() {
            let number = line.id.number();
            let mut check = |claim: &str, result: Result<(), &str>| {
                let wrong = |why| self.named(&format!("it is {claim}, but source {number} {why}"));
                scene.log.check(result.map_err(wrong));
            };
            if is_synced {
                check("synced", line.witness.check_synced());
            }
            if is_fresh {
                check("fresh", line.witness.check_fresh(RECENT, now));
            }
        }
    }

    /// Delivers the next signal of the source at `at`. Returns whether anything moved.
    fn deliver_from(&mut self, at: usize, scene: &mut Scene<'_>) -> bool {
        let name = self.name;
        let Some(line) = self.lines.get_mut(at).filter(|line| !line.lags) else {
            return false;
        };
        let waker = line.bell.waker();
        let mut cx = Context::from_waker(&waker);
        let Poll::Ready((exchange, signal)) = line.transport.poll_signal(&mut cx) else {
            line.bell.wait();
            return false;
        };
        if line.bell.was_missed() {
            let what = format!("informer {name}: the transport did not wake its task");
            scene.log.violation(what);
        }
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
        let from = Named(name, line.id);
        scene.log.line(|| match signal {
            Signal::Bytes(bytes) => format!("{from} {used} of {} bytes", bytes.len()),
            Signal::Failed { failure, message } => format!("{from} {failure:?}: {message}"),
            signal => format!("{from} {signal:?}"),
        });
        if is_news {
            line.witness.signal(&signal, used, self.now);
        }
        line.transport.consume(used);
        // A step of another source may have had no room.
        for at in 0..self.lines.len() {
            let is_full = |line: &Line| self.has_full_storage(line.id);
            if self.lines.get(at).is_some_and(is_full)
                && let Some(line) = self.lines.get_mut(at)
            {
                line.witness.relists.abort(true);
            }
        }
        self.check_version(scene.log);
        self.check_claims(scene);
        true
    }
}

/// An informer and one of its sources, for the trace. The first source has no name.
#[derive(Clone, Copy)]
struct Named(usize, SourceId);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1.number() {
            0 => write!(f, "[{}]", self.0),
            number => write!(f, "[{}.{number}]", self.0),
        }
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
            let (Command::Open { exchange, .. } | Command::Abort(exchange)) = command.as_command();
            let source = exchange.source();
            let name = Named(self.name, source);
            let is_full = self.has_full_storage(source);
            let Some(line) = self.lines.iter_mut().find(|line| line.id == source) else {
                // Only an undead source has lost its transport to another.
                continue;
            };
            // The other half names the source.
            let number = exchange.number() % (1 << 32);
            match command.as_command() {
                Command::Open { request, .. } => {
                    let target = line.interest.target().request(request);
                    scene.log.line(|| format!("{name} open {number} {target}"));
                    let listed = line.witness.relists.listed();
                    let results = [
                        line.requests.request(request, listed, self.now),
                        line.witness.relists.request(request, self.now),
                    ];
                    line.bell.is_awaited = false;
                    for result in results {
                        scene.log.check(result.map_err(|what| self.named(&what)));
                    }
                }
                Command::Abort(_) => {
                    let status = self.informer.source_status(source);
                    let last = status.and_then(|status| status.last_failure);
                    let why = last.map_or("", |last| last.failure.describe());
                    scene.log.line(|| format!("{name} abort {number}: {why}"));
                    line.witness.relists.abort(is_full);
                    if line.is_removed && self.choice.one_in(2) {
                        // What the transport has read arrives all the same.
                        continue;
                    }
                }
            }
            let line = self.lines.iter_mut().find(|line| line.id == source);
            if let Some(line) = line {
                line.transport.execute(command.as_command());
            }
        }
        self.check_claims(scene);
    }

    fn deliver(&mut self, scene: &mut Scene<'_>) -> bool {
        let count = self.lines.len();
        let first = self.choice.index(count);
        (first..count)
            .chain(0..first)
            .any(|at| self.deliver_from(at, scene))
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
            // A new source has a first state of its own.
            was_synced: status.is_some_and(|status| status.synced) && !self.has_grown,
            is_first_state: !self.had_relisted
                && self
                    .lines
                    .iter()
                    .all(|line| line.witness.relists.is_first()),
            calm: self.calm,
        };
        let several = self.returns != Return::Never;
        let mut told = Vec::new();
        let given = self
            .informer
            .poll_notifications(listener.id, most, |next| told.push(next));
        self.notifications += given as u64;
        let (name, who) = (self.name, listener.name);
        for notification in self.tamper.notifications(who, told, several) {
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
            is_whole: self.is_whole(),
            returns: self.returns,
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
        for line in &mut self.lines {
            line.lags = false;
        }
    }

    fn add_source(&mut self, interest: Interest, transport: MockTransport, scene: &mut Scene<'_>) {
        self.now = self.now.max(scene.now);
        self.forget_removed();
        // A bounded storage may have no room for it.
        let Some(id) = self.connect(interest, transport, scene.now) else {
            return;
        };
        let name = Named(self.name, id);
        scene.log.line(|| format!("{name} joins: {interest:?}"));
        self.has_grown = true;
        self.past.sources += 1;
        self.check_claims(scene);
    }

    fn remove_source(&mut self, at: usize, scene: &mut Scene<'_>) {
        self.now = self.now.max(scene.now);
        let place = self.place(at);
        let Some(id) = place.and_then(|place| Some(self.lines.get(place)?.id)) else {
            return;
        };
        self.past.add(&self.counted(id));
        let Some(line) = self.lines.iter_mut().find(|line| line.id == id) else {
            return;
        };
        let name = Named(self.name, id);
        scene.log.line(|| format!("{name} leaves"));
        line.is_removed = true;
        self.had_relisted |= !line.witness.relists.is_first();
        self.past.sources += 1;
        if self.tamper.forgets_removal() {
            return;
        }
        if !self.informer.remove_source(line.id, scene.now) {
            scene.log.violation(format!("{name} is unknown"));
        }
        if self.tamper.revives_source()
            && let Ok(id) = self.informer.add_source(Decoder::new(Lean), scene.now)
        {
            line.id = id;
        }
        self.check_claims(scene);
    }

    fn lag(&mut self, at: usize) {
        let place = self.place(at);
        if let Some(line) = place.and_then(|place| self.lines.get_mut(place)) {
            line.lags = true;
        }
    }

    fn interests(&self) -> Vec<Interest> {
        self.current().map(|line| line.interest).collect()
    }

    fn encodings(&self) -> Encodings {
        self.plan.encodings
    }

    fn expect(&mut self, calm: Option<Calm>) {
        self.calm = calm;
    }

    fn stop(&mut self, scene: &mut Scene<'_>) {
        let name = self.name;
        scene.log.line(|| format!("[{name}] stops"));
        self.informer.stop(scene.now);
        let before = (self.contents(), self.informer.is_synced());
        self.execute(scene);
        while self.deliver(scene) {}
        self.remove_source(0, scene);
        self.advance(scene.now);
        let told: usize = (0..self.listeners())
            .map(|listener| self.observe(listener, 64, scene))
            .sum();
        let is_quiet = told == 0
            && self.informer.poll_command(scene.now).is_none()
            && self
                .informer
                .add_source(Decoder::new(Lean), scene.now)
                .is_err()
            && before == (self.contents(), self.informer.is_synced());
        if !is_quiet {
            scene
                .log
                .violation(self.named("something happens after the stop"));
        }
    }

    fn reset(&mut self) {
        let count = self.lines.len() as u64;
        for line in &mut self.lines {
            if self.choice.one_in(count) || line.transport.is_stalled() {
                line.cut();
            }
        }
    }

    fn is_dead(&self) -> bool {
        let mut current = self.current();
        current.any(|line| line.transport.is_stalled()) && self.plan.config.reflector.idle.is_none()
    }

    fn is_unswept(&self) -> bool {
        self.informer.status().unswept
    }

    fn is_settled(&self) -> bool {
        let status = self.informer.status();
        let mut sources = self.informer.sources();
        let leaves = |id| self.informer.source_status(id).is_some_and(|it| it.leaving);
        status.synced
            && !status.stalled
            && !sources.any(leaves)
            && self.current().all(|line| {
                self.informer.reflector(line.id).is_some_and(|reflector| {
                    reflector.phase() == Phase::Watching
                        && reflector.is_live()
                        && reflector.is_opened()
                }) && line.bell.is_awaited
                    && !line.transport.is_stalled()
            })
    }

    fn compare(&mut self, objects: &[Arc<StoredObject>], scene: &mut Scene<'_>) {
        self.forget_removed();
        let sources = self.current().map(|line| (line.id.number(), line.interest));
        let sources: Vec<(u16, Interest)> = sources.collect();
        let numbers = sources.iter().map(|source| source.0).collect();
        let expected = Shown::expected(objects, &sources);
        let result = self
            .contents()
            .and_then(|mut shown| {
                self.tamper.store(&mut shown, &numbers);
                shown.compare(&expected)?;
                self.check_reached(&shown)
            })
            .and_then(|()| self.check_listeners(&expected, scene.record))
            .and_then(|()| self.check_calm(&numbers));
        scene.log.check(result.map_err(|what| self.named(&what)));
    }

    fn status(&self) -> String {
        self.named(&format!("{:?}", self.informer.status()))
    }

    fn count(&self, tally: &mut Tally) {
        tally.add(&self.past);
        for line in self.current() {
            tally.add(&self.counted(line.id));
        }
        tally.notifications += self.notifications;
    }
}

impl<S: Storage> Post<S> {
    /// Whether its objects are whole.
    fn is_whole(&self) -> bool {
        self.lines.iter().all(|line| line.interest.is_whole())
    }

    /// What a source has done so far.
    fn counted(&self, source: SourceId) -> Tally {
        let status = self.informer.source_status(source);
        let counts = status.map(|status| status.counts).unwrap_or_default();
        Tally {
            events: counts.objects,
            relists: counts.full_states.saturating_sub(1),
            ..Tally::default()
        }
    }

    fn contents(&self) -> Result<Shown, String> {
        Shown::of(self.informer.store()).map_err(|error| error.to_string())
    }

    /// Drops the transports of sources that the informer has forgotten.
    fn forget_removed(&mut self) {
        let informer = &self.informer;
        let is_known = |id| informer.sources().any(|known| known == id);
        self.lines
            .retain(|line| !line.is_removed || is_known(line.id));
    }

    /// Checks what the informer says about itself when nothing happens.
    fn check_calm(&self, sources: &BTreeSet<u16>) -> Result<(), String> {
        let named: BTreeSet<u16> = self.informer.sources().map(SourceId::number).collect();
        if named != *sources {
            return Err(format!(
                "it has the sources {named:?}, expected {sources:?}"
            ));
        }
        match self.informer.is_fresh(Duration::MAX, self.now) {
            true => Ok(()),
            false => Err("it follows its server and is not fresh".to_owned()),
        }
    }

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
            record.check(pod, self.is_whole())?;
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
