//! The shared state: the core informer behind a lock, and the tasks that wait for it.
//!
//! The driver feeds it, handlers pull from it, and all other code reads it. Every change goes through
//! [`Engine::update`], which wakes the affected tasks after it has released the lock.

// Wake-ups, log events and reports after a change.
mod announce;

// The part of a handler that the core does not know.
mod listener;

// Times of steps, for metrics.
mod measure;

// A rest of the informer, or of a handler.
mod rest;

// Targets that the informer follows, and their drivers.
mod sources;

// Objects that handlers are done with.
mod spent;

// The last phases and failures.
mod timeline;

// What a driver does under the lock.
mod turn;

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

use informer_core::decode::Decode;
use informer_core::decode::form::MetadataBody;
use informer_core::informer::AddListenerError;
#[cfg(feature = "ops")]
use informer_core::processor::Resync;
use informer_core::processor::{ListenerConfig, ListenerId};
use informer_core::storage::Heap;
use informer_core::transport::Target;
use informer_core::{Clock, Instant, Notification, Object, SourceId, Wakers};
use informer_indexers::shared::{Publisher, Reader};

use announce::Announced;
use listener::Listener;
pub(crate) use listener::Listening;
use sources::{Removed, Source};
pub(crate) use spent::old_state;
use timeline::Timeline;
pub use timeline::{Moment, MomentKind};
pub(crate) use turn::Turn;

use crate::error::StartError;
use crate::hooks::Report;
use crate::lock::{Lock, Locked};
use crate::log::Log;
use crate::meters::InformerMeters;
use crate::panics::panic_text;
use crate::runtime::{Runtime, RuntimeError, Task};
use crate::sparing::Sparing;
use crate::status::{DROPPED, GONE, PANICKED, Status};
use crate::sync::AtomicBool;

/// A decoder for any form.
pub(crate) type Decoder<K> = Box<dyn Decode<Object = Object<K>> + Send>;

pub(crate) type Core<K> = informer_core::Informer<Decoder<K>, Heap>;

/// The engine of an informer on `namespaces`.
type Namespaces = Engine<MetadataBody>;

/// How many notifications a handler takes at once.
const BATCH: usize = 64;

pub(crate) struct Engine<K> {
    /// What it follows, as text.
    pub(crate) name: String,
    /// The kind that it follows, and what its sources have in common by default.
    pub(crate) target: Target,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) reader: Reader<Object<K>>,
    state: Lock<State<K>>,
}

/// The state behind the lock.
pub(crate) struct State<K> {
    pub(crate) core: Core<K>,
    publisher: Publisher<Object<K>>,
    /// Whether the cache may differ from the published snapshot.
    unpublished: bool,
    /// How many snapshots were published.
    pub(crate) snapshots: u64,
    sources: BTreeMap<SourceId, Source>,
    pub(crate) removed: Removed,
    /// The informers that decide on the sources.
    namespaces: Vec<Arc<Namespaces>>,
    /// How many of them have not done so yet.
    undecided: usize,
    /// Whether to wake all drivers.
    driver_wanted: bool,
    /// Tasks to wake after the lock is released.
    woken: Vec<Waker>,
    /// When the bytes arrived that are being dealt with, if that is measured.
    arrived: Option<Instant>,
    /// What handlers are done with, for a driver to drop.
    spent: Vec<Object<K>>,
    listeners: BTreeMap<ListenerId, Listener>,
    /// How many listeners are synced. Counted here because every change needs it.
    listeners_synced: usize,
    /// How many listeners were lost.
    listeners_lost: usize,
    /// How many listeners are paused.
    listeners_paused: usize,
    /// Tasks that wait for a change of the status.
    pub(crate) status_waiting: Wakers,
    /// Tasks that wait for a version.
    pub(crate) version_waiting: Wakers,
    /// How many tasks have not finished.
    pub(crate) tasks: usize,
    pub(crate) started: bool,
    /// The message of a panic in user code under the lock. The core may be inconsistent then.
    pub(crate) broken: Option<String>,
    /// Why the driver was dropped before the informer was stopped.
    pub(crate) lost: Option<RuntimeError>,
    /// Whether the last handle was dropped while handlers were there, or somebody waited.
    pub(crate) dropped: bool,
    announced: Announced,
    pub(crate) timeline: Timeline,
    /// Set while somebody looks at the metrics.
    meters: Option<InformerMeters>,
    reports: Vec<Report>,
    /// Limits log lines about rejected objects.
    rejections: Sparing,
    /// Events to log after the lock is released.
    logs: Vec<Log>,
}

impl<K: Send + Sync + 'static> Engine<K> {
    /// The core has no sources yet.
    pub(crate) fn new(
        name: String,
        target: Target,
        core: Core<K>,
        runtime: Arc<dyn Runtime>,
    ) -> Self {
        let (publisher, reader) = informer_indexers::shared::publisher(core.store().snapshot());
        let state = State {
            core,
            publisher,
            unpublished: false,
            snapshots: 0,
            sources: BTreeMap::new(),
            removed: Removed::default(),
            namespaces: Vec::new(),
            undecided: 0,
            driver_wanted: false,
            woken: Vec::new(),
            arrived: None,
            spent: Vec::new(),
            listeners: BTreeMap::new(),
            listeners_synced: 0,
            listeners_lost: 0,
            listeners_paused: 0,
            status_waiting: Wakers::default(),
            version_waiting: Wakers::default(),
            tasks: 0,
            started: false,
            broken: None,
            lost: None,
            dropped: false,
            announced: Announced::default(),
            timeline: Timeline::default(),
            meters: None,
            reports: Vec::new(),
            rejections: Sparing::default(),
            logs: Vec::new(),
        };
        Self {
            name,
            target,
            clock: runtime.clock(),
            runtime,
            reader,
            state: Lock::new(state),
        }
    }

    /// [`update`](Self::update) catches panics before it releases the lock, so they do not poison it.
    pub(crate) fn lock(&self) -> Locked<'_, State<K>> {
        self.state.lock()
    }

    /// Changes the state and wakes the affected tasks. Decoders, transforms and index functions are user
    /// code and run in here. If one panics, the informer ends and the panic continues.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut State<K>) -> R) -> R {
        self.update_and(&mut Woken::default(), change, |_| ()).0
    }

    /// As [`update`](Self::update), but leaves it to the caller when to wake handlers. `after` is called under the
    /// same lock, when everything that the change brings is known.
    pub(crate) fn update_and<R, A>(
        &self,
        handlers: &mut Woken,
        change: impl FnOnce(&mut State<K>) -> R,
        after: impl FnOnce(&mut State<K>) -> A,
    ) -> (R, A) {
        let mut state = self.lock();
        let outcome = catch_unwind(AssertUnwindSafe(|| change(&mut state)));
        if let Err(panic) = &outcome {
            state.break_off(panic_text(&**panic), self.clock.now());
        }
        let woken = state.announce(&*self.clock, &mut handlers.0);
        let after = after(&mut state);
        let logs = mem::take(&mut state.logs);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if !logs.is_empty() {
            // Handlers do not wait for those who read logs.
            handlers.wake();
        }
        logs.iter().for_each(|log| log.say(&self.name));
        let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
        (outcome, after)
    }

    /// Runs a task, and counts it until it finishes or is dropped. The returned flag is then set. Does not
    /// hold the lock, because the runtime may poll the task at once.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Arc<AtomicBool>, RuntimeError> {
        self.update(|state| state.tasks += 1);
        let ended = Arc::new(AtomicBool::new(false));
        let counted = Counted {
            engine: Arc::clone(self),
            ended: Arc::clone(&ended),
        };
        let task: Task = Box::pin(async move {
            let _counted = counted;
            task.await;
        });
        self.runtime.spawn(task)?;
        Ok(ended)
    }

    pub(crate) fn add_listener(
        &self,
        name: &'static str,
        config: ListenerConfig,
    ) -> Result<Listening, StartError> {
        let now = self.clock.now();
        self.update(|state| {
            let added = state.core.add_listener(config, now);
            let id = added.map_err(|error| match (error, state.end()) {
                (AddListenerError::Stopped, Some(reason)) => self.ended(reason),
                (error, _) => StartError::Handler(error),
            })?;
            let listener = Listener::new(name);
            let listening = listener.listening(id);
            state.listeners.insert(id, listener);
            // The new listener may need an earlier resync.
            state.driver_wanted = true;
            Ok(listening)
        })
    }

    /// Adds a listener that gets only changes from now on, and that nobody relies on.
    #[cfg(feature = "ops")]
    pub(crate) fn add_onlooker(&self, name: &'static str) -> Result<Listening, StartError> {
        let config = ListenerConfig {
            resync: Resync::Never,
            ..ListenerConfig::new()
        };
        let listening = self.add_listener(name, config)?;
        self.update(|state| {
            state.core.skip_replay(listening.id);
            if let Some(listener) = state.listeners.get_mut(&listening.id) {
                listener.looks_on = true;
            }
        });
        Ok(listening)
    }

    pub(crate) fn remove_listener(&self, id: ListenerId) {
        let removal = |state: &mut State<K>| {
            if let Some(listener) = state.listeners.remove(&id) {
                listener.over.store(true, Ordering::Release);
                state.listeners_synced -= usize::from(listener.synced);
                state.listeners_lost -= usize::from(listener.lost.is_some());
                // Wake its task, so that it finishes.
                state.woken.extend(listener.waker);
            }
            state.leave(id);
        };
        self.update_harmlessly(removal);
    }

    /// Marks a listener as lost: its task was dropped before it finished.
    pub(crate) fn lose_listener(&self, id: ListenerId) {
        let loss = |state: &mut State<K>| {
            let status = state.core.listener_status(id);
            if let (Some(listener), Some(status)) = (state.listeners.get_mut(&id), status)
                && (state.lost.is_some() || !state.core.is_stopped())
            {
                listener.over.store(true, Ordering::Release);
                listener.lost = Some(status);
                state.listeners_lost += 1;
                state.logs.push(Log::HandlerLost(id));
                state.leave(id);
            }
        };
        self.update_harmlessly(loss);
    }

    /// Updates without passing on panics. When a listener leaves, the queue moves on, and user code may
    /// panic. That ends the informer and shows in its status, but the caller is not to blame.
    fn update_harmlessly(&self, change: impl FnOnce(&mut State<K>)) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.update(change)));
    }

    /// Returns the next notifications of a listener, or `None` if there will be no more. Earlier ones count
    /// as processed. Takes objects over that a driver will drop; the caller drops what is left of them.
    pub(crate) fn poll_batch(
        &self,
        id: ListenerId,
        waker: &Waker,
        batch: &mut VecDeque<Notification<Object<K>>>,
        spent: &mut Vec<Object<K>>,
    ) -> Poll<Option<()>> {
        self.update(|state| {
            if state.core.is_stopped() || !state.listeners.contains_key(&id) {
                return Poll::Ready(None);
            }
            state.hand_over(spent);
            if !state.core.is_settled() {
                // Taking notifications lets the queue, or a sweep, move on.
                state.touch();
            }
            let given = state.core.poll_notifications(id, BATCH, |notification| {
                batch.push_back(notification);
            });
            // A handler must find in the cache what it is notified of.
            state.publish();
            state.unstall();
            let synced = state.core.listener_status(id).is_some_and(|it| it.synced);
            if let Some(listener) = state.listeners.get_mut(&id) {
                let before = mem::replace(&mut listener.synced, synced);
                state.listeners_synced += usize::from(synced && !before);
                listener.progress.take(given);
                if given == 0 {
                    listener.busy_since = None;
                }
                listener.waker = (given == 0).then(|| waker.clone());
            }
            if given == 0 {
                Poll::Pending
            } else {
                state.measure_batch(id, &*self.clock);
                Poll::Ready(Some(()))
            }
        })
    }

    pub(crate) fn count_panic(&self, id: ListenerId) {
        self.update(|state| {
            if let Some(listener) = state.listeners.get_mut(&id) {
                listener.panics += 1;
            }
        });
    }

    /// Fails if the informer has ended.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let end = self.lock().end();
        end.map_or(Ok(()), |reason| Err(self.ended(reason)))
    }

    fn ended(&self, reason: String) -> StartError {
        StartError::Ended {
            name: self.name.clone(),
            reason,
        }
    }

    /// Marks the informer as lost if its driver is gone before it was stopped.
    pub(crate) fn lose(&self, reason: RuntimeError) {
        let now = self.clock.now();
        self.update(|state| {
            if state.lost.is_some() || !state.core.is_stopped() {
                state.logs.push(Log::Lost(reason.clone()));
                state.lost = Some(reason);
                state.stop(now);
            }
        });
    }

    pub(crate) fn stop(&self) {
        let now = self.clock.now();
        self.update(|state| state.stop(now));
    }

    /// Stops the informer because its last handle was dropped. Those that still rely on it are told.
    pub(crate) fn abandon(&self) {
        let now = self.clock.now();
        self.update(|state| {
            let handlers = state.relied_on();
            let waiting = state.status_waiting.len() + state.version_waiting.len();
            if !state.core.is_stopped() && handlers + waiting > 0 {
                state.dropped = true;
                state.logs.push(Log::Dropped { handlers, waiting });
            }
            state.stop(now);
        });
    }

    /// Ends the informer because user code panicked.
    pub(crate) fn break_off(&self, panic: String) {
        let now = self.clock.now();
        self.update(|state| state.break_off(panic, now));
    }

    pub(crate) fn status(&self) -> Status {
        let (mut status, namespaces) = {
            let state = self.lock();
            let status = Status::of(&self.name, &state, self.clock.now());
            (status, state.namespaces.clone())
        };
        let namespaces = namespaces.iter();
        status.namespaces = namespaces.map(|it| it.status()).collect();
        status
    }
}

impl<K: Send + Sync + 'static> State<K> {
    /// Notes that the cache may have changed.
    pub(crate) const fn touch(&mut self) {
        self.unpublished = true;
    }

    /// Makes the current cache visible to readers.
    pub(crate) fn publish(&mut self) {
        if mem::take(&mut self.unpublished) {
            self.publisher.publish(self.core.store().snapshot());
            self.snapshots += 1;
        }
    }

    fn stop(&mut self, now: Instant) {
        self.core.stop(now);
        self.publish();
        self.driver_wanted = true;
        for listener in self.listeners.values_mut() {
            listener.over.store(true, Ordering::Release);
            self.woken.extend(listener.waker.take());
        }
    }

    /// Ends what belongs to a core that has stopped by itself: the server does not serve its kind.
    pub(crate) fn follow_stop(&mut self, now: Instant) {
        if self.core.is_stopped() {
            self.logs.push(Log::StoppedWhenGone);
            self.stop(now);
        }
    }

    /// Removes a listener from the core.
    fn leave(&mut self, id: ListenerId) {
        self.driver_wanted = true;
        // The queue may move on if this listener held it up.
        self.touch();
        self.core.remove_listener(id);
    }

    /// How many handlers and streams there are that somebody relies on.
    pub(crate) fn relied_on(&self) -> usize {
        self.listeners.values().filter(|it| !it.looks_on).count()
    }

    /// Why the informer has ended, if it has.
    fn end(&self) -> Option<String> {
        match (&self.broken, &self.lost) {
            (Some(panic), _) => Some(format!("{PANICKED}: {panic}")),
            (None, Some(lost)) => Some(lost.to_string()),
            (None, None) if self.dropped => Some(DROPPED.to_owned()),
            (None, None) if self.core.status().gone && self.core.is_stopped() => {
                Some(GONE.to_owned())
            }
            (None, None) => self.core.is_stopped().then(|| "it was stopped".to_owned()),
        }
    }

    fn break_off(&mut self, panic: String, now: Instant) {
        if self.broken.is_some() {
            return;
        }
        self.logs.push(Log::Broken(panic.clone()));
        self.broken = Some(panic);
        // A change may be half done, so readers keep the last published snapshot.
        self.unpublished = false;
        self.stop(now);
    }

    /// Events for the hooks, which the driver calls.
    pub(crate) fn take_reports(&mut self) -> Vec<Report> {
        mem::take(&mut self.reports)
    }
}

/// Handlers that have something to do. They are woken when this is dropped, which must not happen under the lock.
#[derive(Default)]
pub(crate) struct Woken(Vec<Waker>);

impl Woken {
    pub(crate) fn wake(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        self.wake();
    }
}

/// Counts a task until it is dropped.
struct Counted<K: Send + Sync + 'static> {
    engine: Arc<Engine<K>>,
    ended: Arc<AtomicBool>,
}

impl<K: Send + Sync + 'static> Drop for Counted<K> {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.engine.update(|state| state.tasks -= 1);
    }
}
