//! Distributes notifications to listeners.

// The notifications that wait for one listener.
mod backlog;

// One listener.
mod listener;

// All listeners: which have news, and how many are full.
mod listeners;

use core::time::Duration;

use crate::flow::Notification;
use crate::indexer::View;
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::storage::{Full, Seed, Storage};
use crate::time::Instant;

pub(crate) use backlog::PER_CHANGE;
pub use backlog::{Backlog, Recreated};
use listener::Listener;
pub use listener::{ListenerConfig, ListenerStatus, Resync};
use listeners::Listeners;

/// The shortest resync period of an informer or a listener.
pub(crate) const SHORTEST_RESYNC: Duration = Duration::from_secs(1);

/// The listeners, and the notifications that wait for each.
///
/// Listeners pull. A notification waits until its listener polls for it. The next poll acknowledges
/// everything delivered before.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::processor::{Audience, ListenerConfig, Processor};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Cause, Instant, Notification, Object, ObjectKey};
///
/// let pod = |name: &str| Object::builder(ObjectKey::new("default", name))
///     .version("1")
///     .body(());
/// let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
/// store.put(pod("a"))?;
///
/// let mut processor = Processor::new(None, Seed::new(1));
/// let now = Instant::from_micros(0);
/// let listener = processor.add_listener(ListenerConfig::new(), &store, now)?;
///
/// // The store changes first, then the listeners hear of it.
/// store.put(pod("b"))?;
/// let added = Notification::Added { object: pod("b"), initial: false, cause: Cause::Watch };
/// processor.publish(&added, Audience::Everybody)?;
///
/// assert_eq!(processor.poll_ready_listener(), Some(listener));
/// let mut lines = Vec::new();
/// processor.poll_notifications(listener, &store, 10, |n| lines.push(n.to_string()));
/// assert_eq!(lines, ["added default/a (initial, replay)", "added default/b (watch)"]);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Processor<T: Resource + Clone, S: Storage> {
    seed: Seed,
    recreated: Recreated,
    listeners: Listeners<T, S>,
    generation: u64,
    /// The period of [`Resync::Default`].
    default_period: Option<Duration>,
    /// How often to check for due resyncs; `None` means never.
    check_period: Option<Duration>,
    started: bool,
    synced: bool,
    /// Whether nobody gets anything for now.
    held: bool,
}

/// Identifies a listener. Never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ListenerId {
    at: u32,
    generation: u64,
}

impl ListenerId {
    /// The number of the listener, for logs and metrics.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.generation
    }
}

/// A point in time between two registrations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(u64);

/// Which listeners get a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Audience {
    /// All listeners.
    Everybody,
    /// The listeners with a due resync at the last check, and those that joined since.
    Resyncing,
}

impl<T: Resource + Clone, S: Storage> Processor<T, S> {
    /// A processor without listeners. `period` is the period of [`Resync::Default`]; `None` switches all
    /// resyncs off.
    #[must_use]
    pub fn new(period: Option<Duration>, seed: Seed) -> Self {
        Self {
            seed,
            recreated: Recreated::KeepBoth,
            listeners: Listeners::default(),
            generation: 0,
            default_period: period,
            check_period: period,
            started: false,
            synced: false,
            held: false,
        }
    }

    /// Sets how to merge a deletion with the add that follows it. Default: keep both.
    #[must_use]
    pub const fn with_recreated(mut self, recreated: Recreated) -> Self {
        self.recreated = recreated;
        self
    }

    /// From now on, new listeners cannot shorten the check period.
    pub const fn start(&mut self) {
        self.started = true;
    }

    /// How often to call [`check_resync`](Self::check_resync); `None` means never.
    #[must_use]
    pub const fn check_period(&self) -> Option<Duration> {
        self.check_period
    }

    /// Adds a listener. It first gets all objects in `store`.
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn add_listener(
        &mut self,
        config: ListenerConfig,
        store: &View<T, S>,
        now: Instant,
    ) -> Result<ListenerId, Full> {
        let resync = self.admit_period(config.resync);
        self.generation += 1;
        let policies = (config.backlog, self.recreated);
        let mut listener = Listener::new(self.generation, policies, resync);
        listener.plan_resync(self.check_period, now);
        listener.replay(store);
        listener.update_sync(self.synced);
        let (at, generation) = (self.listeners.insert(listener)?, self.generation);
        Ok(ListenerId { at, generation })
    }

    /// Leaves out what a listener has not seen yet of the store as it was when it joined. It still gets
    /// every change since then.
    pub fn skip_replay(&mut self, id: ListenerId) {
        if self.get(id).is_some() {
            let synced = self.synced;
            self.listeners.change(id.at, |listener| {
                listener.skip_replay();
                listener.update_sync(synced);
            });
        }
    }

    /// Removes a listener and drops everything that waits for it. Returns whether it existed.
    pub fn remove_listener(&mut self, id: ListenerId) -> bool {
        let known = self.get(id).is_some();
        if known {
            self.listeners.remove(id.at);
        }
        known
    }

    /// Drops everything that waits for any listener.
    pub fn discard(&mut self) {
        self.listeners.change_all(Listener::discard);
    }

    /// Gives nothing to any listener until [`release`](Self::release). Everything stays as it is.
    pub(crate) const fn hold(&mut self) {
        self.held = true;
    }

    /// Ends a [hold](Self::hold). Every listener is asked to poll, because it may have polled in vain.
    pub(crate) fn release(&mut self) {
        self.held = false;
        self.listeners.change_all(|listener| listener.news = true);
    }

    /// Gives nothing to a listener until it is [resumed](Self::resume). What is published for it waits, by
    /// its policy. Returns whether it exists.
    pub fn pause(&mut self, id: ListenerId) -> bool {
        self.set_paused(id, true)
    }

    /// Ends the [pause](Self::pause) of a listener. Returns whether it exists.
    pub fn resume(&mut self, id: ListenerId) -> bool {
        self.set_paused(id, false)
    }

    fn set_paused(&mut self, id: ListenerId, paused: bool) -> bool {
        let known = self.get(id).is_some();
        if known {
            self.listeners.change(id.at, |listener| {
                listener.paused = paused;
                // It may have polled in vain.
                listener.news = true;
            });
        }
        known
    }

    /// Whether all listeners have room.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.listeners.have_room()
    }

    /// Queues a notification for its audience.
    ///
    /// # Errors
    /// [`Full`] if a listener has no room.
    pub fn publish(
        &mut self,
        notification: &Notification<T>,
        audience: Audience,
    ) -> Result<(), Full> {
        self.publish_as_of(notification, audience, self.moment())
    }

    /// The current moment: after all registrations so far.
    pub(crate) const fn moment(&self) -> Moment {
        Moment(self.generation)
    }

    /// Queues a notification of a change that the store has shown since `moment`. Listeners that joined
    /// later got it with their replay.
    pub(crate) fn publish_as_of(
        &mut self,
        notification: &Notification<T>,
        audience: Audience,
        moment: Moment,
    ) -> Result<(), Full> {
        for at in 0..self.listeners.bound() {
            let published = self.listeners.change(at, |listener| {
                let concerned = audience == Audience::Everybody || listener.resyncing;
                if concerned && listener.generation <= moment.0 {
                    listener.publish(notification.clone(), &self.seed)
                } else {
                    Ok(())
                }
            });
            published.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// Whether the first full state has not been published yet.
    pub(crate) const fn awaits_sync(&self) -> bool {
        !self.synced
    }

    /// There is another full state that listeners must have to be synced. Those that are synced stay so.
    pub(crate) const fn await_sync(&mut self) {
        self.synced = false;
    }

    /// Notes that the first full state has been published.
    pub fn set_synced(&mut self) {
        if self.synced {
            return;
        }
        self.synced = true;
        self.listeners.change_all(|listener| {
            let before = listener.synced;
            listener.update_sync(true);
            listener.news |= listener.synced != before;
        });
    }

    /// A listener that has new notifications, or that became synced when the informer did, since this last
    /// returned it. Oldest news first.
    pub fn poll_ready_listener(&mut self) -> Option<ListenerId> {
        if self.held {
            return None;
        }
        let (at, listener) = self.listeners.pop_news()?;
        let generation = listener.generation;
        Some(ListenerId { at, generation })
    }

    /// Takes the next notification of a listener, and acknowledges those before. `store` is the source of
    /// replays.
    #[must_use = "a notification is delivered once"]
    pub fn poll_notification(
        &mut self,
        id: ListenerId,
        store: &View<T, S>,
    ) -> Option<Notification<T>> {
        let mut next = None;
        self.poll_notifications(id, store, 1, |notification| next = Some(notification));
        next
    }

    /// Takes up to `most` notifications of a listener, acknowledges those of earlier calls, and returns
    /// how many there were.
    pub fn poll_notifications(
        &mut self,
        id: ListenerId,
        store: &View<T, S>,
        most: usize,
        mut give: impl FnMut(Notification<T>),
    ) -> usize {
        if self.get(id).is_none() {
            return 0;
        }
        let held = self.held;
        let given = self.listeners.change(id.at, |listener| {
            listener.acknowledge();
            let mut given = 0;
            while given < most
                && !held
                && !listener.paused
                && let Some(notification) = listener.take(store)
            {
                give(notification);
                given += 1;
            }
            listener.update_sync(self.synced);
            given
        });
        given.unwrap_or_else(|| cannot_happen("a listener that was found is gone", 0))
    }

    /// Checks which listeners have a due resync. Only those count as resyncing until the next check.
    /// Returns whether there are any.
    pub fn check_resync(&mut self, now: Instant) -> bool {
        let mut any = false;
        self.listeners
            .change_all(|listener| any |= listener.check_resync(self.check_period, now));
        any
    }

    /// Whether a listener has handled its initial state; `None` if there is no such listener.
    #[must_use]
    pub fn is_synced(&self, id: ListenerId) -> Option<bool> {
        Some(self.get(id)?.synced)
    }

    /// How a listener is doing; `None` if there is no such listener.
    #[must_use]
    pub fn status(&self, id: ListenerId) -> Option<ListenerStatus> {
        Some(self.get(id)?.status())
    }

    /// All listeners.
    pub fn listeners(&self) -> impl Iterator<Item = ListenerId> {
        self.listeners.iter().map(|(at, listener)| ListenerId {
            at,
            generation: listener.generation,
        })
    }

    fn get(&self, id: ListenerId) -> Option<&Listener<T, S>> {
        let listener = self.listeners.get(id.at)?;
        (listener.generation == id.generation).then_some(listener)
    }

    /// The resync period of a new listener. Before the start, a short period makes the checks more
    /// frequent.
    fn admit_period(&mut self, resync: Resync) -> Option<Duration> {
        let asked = match resync {
            Resync::Default => self.default_period,
            Resync::Never | Resync::Every(Duration::ZERO) => None,
            Resync::Every(period) => Some(period),
        };
        let asked = asked?.max(SHORTEST_RESYNC);
        if !self.started {
            self.check_period = self.check_period.map(|period| period.min(asked));
        }
        Some(asked)
    }
}

debug_fields!([T: Resource + Clone, S: Storage] Processor[T, S], self: listeners, check_period,
    synced);
