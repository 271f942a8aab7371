//! The one thing that is shared: a core informer behind a lock, and who waits for it.
//!
//! The driver feeds it, handlers pull from it, and everybody else asks it. Every change goes through
//! [`Engine::update`], which wakes whoever the change concerns when the lock has been given back.

// Who is to be woken and what is to be said after a change.
mod announce;

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

use informer_core::decode::Decode;
use informer_core::informer::AddListenerError;
use informer_core::processor::{ListenerConfig, ListenerId, ListenerStatus};
use informer_core::storage::Heap;
use informer_core::{Clock, Instant, Notification, Object, Wakers};
use informer_indexers::shared::{Publisher, Reader};

use announce::Announced;

use crate::error::StartError;
use crate::handler::Progress;
use crate::lock::{Lock, Locked};
use crate::log::Log;
use crate::panics::panic_text;
use crate::runtime::{Runtime, RuntimeError, Task};
use crate::sparing::Sparing;
use crate::status::{HandlerStatus, PANICKED, Report, Status};
use crate::sync::AtomicBool;

/// An object as the front door hands it out: shared, and never changed.
pub type Shared<K> = Arc<Object<K>>;

/// A decoder of whichever form.
pub(crate) type Decoder<K> = Box<dyn Decode<Object = Shared<K>> + Send>;

pub(crate) type Core<K> = informer_core::Informer<Decoder<K>, Heap>;

/// How many notifications a handler takes at once.
const BATCH: usize = 64;

pub(crate) struct Engine<K> {
    pub(crate) name: String,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) reader: Reader<Shared<K>>,
    state: Lock<State<K>>,
}

/// What lies behind the lock.
pub(crate) struct State<K> {
    pub(crate) core: Core<K>,
    publisher: Publisher<Shared<K>>,
    /// The store may differ from what was published.
    unpublished: bool,
    driver: Option<Waker>,
    /// Something has happened that the driver must look at.
    driver_wanted: bool,
    /// Who is to be woken when the lock is given back.
    woken: Vec<Waker>,
    /// A listener held up the bytes when the driver last offered some.
    pub(crate) stalled: bool,
    listeners: BTreeMap<ListenerId, Listener>,
    /// How many of them are synced: counted here, since it is asked with every change.
    listeners_synced: usize,
    /// How many of them were lost.
    listeners_lost: usize,
    /// Who waits for a change of the status.
    pub(crate) status_waiting: Wakers,
    /// Who waits for a version.
    pub(crate) version_waiting: Wakers,
    /// Tasks that have not ended.
    pub(crate) tasks: usize,
    pub(crate) started: bool,
    /// User code that must not panic did, under the lock: nothing can be trusted any more.
    pub(crate) broken: Option<String>,
    /// The driver was dropped before it was stopped: why.
    pub(crate) lost: Option<RuntimeError>,
    announced: Announced,
    reports: Vec<Report>,
    /// What is said of objects that could not be used.
    rejections: Sparing,
    /// What is to be said when the lock is given back.
    logs: Vec<Log>,
}

/// What is known of a listener beside what the core knows.
#[derive(Default)]
struct Listener {
    /// It was removed, or the informer was stopped. Asked before every call of its handler, which must
    /// not wait for the lock: the driver has it nearly all the time while much is decoded.
    over: Arc<AtomicBool>,
    progress: Arc<Progress>,
    waker: Option<Waker>,
    panics: u64,
    synced: bool,
    /// Its task was dropped before it was over: how it was doing then.
    lost: Option<ListenerStatus>,
}

/// A listener, for whoever pulls what is for it.
pub(crate) struct Listening {
    pub(crate) id: ListenerId,
    pub(crate) over: Arc<AtomicBool>,
    pub(crate) progress: Arc<Progress>,
}

impl<K: Send + Sync + 'static> Engine<K> {
    pub(crate) fn new(name: String, core: Core<K>, runtime: Arc<dyn Runtime>) -> Self {
        let (publisher, reader) = informer_indexers::shared::publisher(core.store().snapshot());
        let state = State {
            core,
            publisher,
            unpublished: false,
            driver: None,
            driver_wanted: false,
            woken: Vec::new(),
            stalled: false,
            listeners: BTreeMap::new(),
            listeners_synced: 0,
            listeners_lost: 0,
            status_waiting: Wakers::default(),
            version_waiting: Wakers::default(),
            tasks: 0,
            started: false,
            broken: None,
            lost: None,
            announced: Announced::default(),
            reports: Vec::new(),
            rejections: Sparing::default(),
            logs: Vec::new(),
        };
        Self {
            name,
            clock: runtime.clock(),
            runtime,
            reader,
            state: Lock::new(state),
        }
    }

    /// No panic leaves [`update`](Self::update) with the lock, so it is never poisoned by one in there.
    pub(crate) fn lock(&self) -> Locked<'_, State<K>> {
        self.state.lock()
    }

    /// Changes something, and wakes whoever it concerns. Decoders, transforms and index functions are the
    /// user's, and run in here: a panic of theirs ends the informer, and goes on.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut State<K>) -> R) -> R {
        let mut state = self.lock();
        let outcome = catch_unwind(AssertUnwindSafe(|| change(&mut state)));
        if let Err(panic) = &outcome {
            state.break_off(panic_text(&**panic), self.clock.now());
        }
        let woken = state.announce(&*self.clock);
        let logs = mem::take(&mut state.logs);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        logs.iter().for_each(|log| log.say(&self.name));
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Runs a task, and counts it until it has ended, in whichever way. What it gives says whether it
    /// has. Nothing is locked meanwhile: a runtime may begin with it at once.
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

    pub(crate) fn add_listener(&self, config: ListenerConfig) -> Result<Listening, StartError> {
        let now = self.clock.now();
        self.update(|state| {
            let added = state.core.add_listener(config, now);
            let id = added.map_err(|error| match (error, state.end()) {
                (AddListenerError::Stopped, Some(reason)) => self.ended(reason),
                (error, _) => StartError::Handler(error),
            })?;
            let listener = Listener::default();
            let listening = Listening {
                id,
                over: Arc::clone(&listener.over),
                progress: Arc::clone(&listener.progress),
            };
            state.listeners.insert(id, listener);
            // Its resync period may be the shortest.
            state.driver_wanted = true;
            Ok(listening)
        })
    }

    pub(crate) fn remove_listener(&self, id: ListenerId) {
        let removal = |state: &mut State<K>| {
            if let Some(listener) = state.listeners.remove(&id) {
                listener.over.store(true, Ordering::Release);
                state.listeners_synced -= usize::from(listener.synced);
                state.listeners_lost -= usize::from(listener.lost.is_some());
                // Its task must see that it is over.
                state.woken.extend(listener.waker);
            }
            state.leave(id);
        };
        self.update_harmlessly(removal);
    }

    /// The task of a listener was dropped before it was over.
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

    /// When a listener leaves, the queue moves on, and that may panic. It has ended the informer then,
    /// which its status says; whoever leaves has no part in it.
    fn update_harmlessly(&self, change: impl FnOnce(&mut State<K>)) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.update(change)));
    }

    /// The next notifications of a listener; `None` when there will be no more. What it was given before
    /// counts as dealt with.
    pub(crate) fn poll_batch(
        &self,
        id: ListenerId,
        waker: &Waker,
        batch: &mut impl Extend<Notification<Shared<K>>>,
    ) -> Poll<Option<()>> {
        self.update(|state| {
            if state.core.is_stopped() || !state.listeners.contains_key(&id) {
                return Poll::Ready(None);
            }
            if state.core.is_stalled() {
                // Taking something lets the queue move on.
                state.touch();
            }
            let given = state.core.poll_notifications(id, BATCH, |notification| {
                batch.extend([notification]);
            });
            // What a handler is told of, it must find in the store.
            state.publish();
            state.driver_wanted |= mem::take(&mut state.stalled);
            let synced = state.core.listener_status(id).is_some_and(|it| it.synced);
            if let Some(listener) = state.listeners.get_mut(&id) {
                let before = mem::replace(&mut listener.synced, synced);
                state.listeners_synced += usize::from(synced && !before);
                listener.progress.take(given);
                listener.waker = (given == 0).then(|| waker.clone());
            }
            if given == 0 {
                Poll::Pending
            } else {
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

    /// Starts with this driver.
    pub(crate) fn start(self: &Arc<Self>, driver: Task) -> Result<(), StartError> {
        let now = self.clock.now();
        self.update(|state| {
            state.core.start(now);
            state.started = true;
            state.driver_wanted = true;
        });
        match self.spawn(driver) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.lose(error.clone());
                Err(StartError::Runtime(error))
            }
        }
    }

    /// Whether it may go on.
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

    /// The driver is gone. If it was not stopped before, it was lost.
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

    /// Ends everything because something panicked that must not.
    pub(crate) fn break_off(&self, panic: String) {
        let now = self.clock.now();
        self.update(|state| state.break_off(panic, now));
    }

    pub(crate) fn status(&self) -> Status {
        let state = self.lock();
        let now = self.clock.now();
        Status::of(&self.name, &state, now)
    }
}

impl<K: Send + Sync + 'static> State<K> {
    /// The driver is here, and is to be woken when there is something for it.
    pub(crate) fn register_driver(&mut self, waker: &Waker) {
        match &mut self.driver {
            Some(driver) => driver.clone_from(waker),
            None => self.driver = Some(waker.clone()),
        }
    }

    /// The store may have changed.
    pub(crate) const fn touch(&mut self) {
        self.unpublished = true;
    }

    /// Lets readers see the present store.
    pub(crate) fn publish(&mut self) {
        if mem::take(&mut self.unpublished) {
            self.publisher.publish(self.core.store().snapshot());
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

    /// A listener takes nothing more.
    fn leave(&mut self, id: ListenerId) {
        self.driver_wanted = true;
        // It may have been what held up the queue.
        self.touch();
        self.core.remove_listener(id);
    }

    /// Why it has ended, if it has.
    fn end(&self) -> Option<String> {
        match (&self.broken, &self.lost) {
            (Some(panic), _) => Some(format!("{PANICKED}: {panic}")),
            (None, Some(lost)) => Some(lost.to_string()),
            (None, None) => self.core.is_stopped().then(|| "it was stopped".to_owned()),
        }
    }

    fn break_off(&mut self, panic: String, now: Instant) {
        if self.broken.is_some() {
            return;
        }
        self.logs.push(Log::Broken(panic.clone()));
        self.broken = Some(panic);
        // A change may be half done: readers keep what was published before it.
        self.unpublished = false;
        self.stop(now);
    }

    /// What the driver is to tell the user's hooks.
    pub(crate) fn take_reports(&mut self) -> Vec<Report> {
        mem::take(&mut self.reports)
    }

    pub(crate) fn handlers(&self, now: Instant) -> Vec<HandlerStatus> {
        let ids = self.listeners.keys();
        ids.filter_map(|id| self.handler(*id, now)).collect()
    }

    pub(crate) fn handler(&self, id: ListenerId, now: Instant) -> Option<HandlerStatus> {
        let listener = self.listeners.get(&id)?;
        let core = listener.lost.or_else(|| self.core.listener_status(id))?;
        let status = HandlerStatus::of(core, &listener.progress, now);
        Some(HandlerStatus {
            panics: listener.panics,
            lost: listener.lost.is_some(),
            in_call: status.in_call.filter(|_| listener.lost.is_none()),
            ..status
        })
    }
}

/// A task that is counted as long as it lives.
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
