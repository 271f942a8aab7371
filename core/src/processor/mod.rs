//! From notifications to the listeners that want them.

// What waits for one listener.
mod backlog;

// One listener.
mod listener;

// All listeners: which of them have news, and how many ask for patience.
mod listeners;

use core::fmt;
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

/// The shortest resync period, of an informer and of a listener.
pub(crate) const SHORTEST_RESYNC: Duration = Duration::from_secs(1);

/// Keeps the listeners and what waits for each of them.
///
/// Listeners pull: a notification waits until its listener polls for it, and polling again says that
/// what was given before has been dealt with.
pub struct Processor<T: Resource + Clone, S: Storage> {
    seed: Seed,
    recreated: Recreated,
    listeners: Listeners<T, S>,
    generation: u64,
    /// The resync period of listeners that do not ask for one.
    default_period: Option<Duration>,
    /// How often due resyncs are looked for; `None` means never.
    check_period: Option<Duration>,
    started: bool,
    synced: bool,
}

/// The name of a listener.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ListenerId {
    at: u32,
    generation: u64,
}

/// A point between two registrations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(u64);

/// Who is to be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "these are the two kinds of distribution"
)]
pub enum Audience {
    /// Every listener.
    Everybody,
    /// The listeners that counted as resyncing when resyncs were last looked for.
    Resyncing,
}

impl<T: Resource + Clone, S: Storage> Processor<T, S> {
    /// A processor without listeners. `period` is the resync period of listeners that do not ask for
    /// one; `None` switches resyncs off for all.
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
        }
    }

    /// The same processor with another way to merge a deletion with the add that follows it. Default:
    /// both are kept.
    #[must_use]
    pub const fn with_recreated(mut self, recreated: Recreated) -> Self {
        self.recreated = recreated;
        self
    }

    /// From now on, listeners cannot make the check period shorter.
    pub const fn start(&mut self) {
        self.started = true;
    }

    /// How often due resyncs are to be looked for; `None` means never.
    #[must_use]
    pub const fn check_period(&self) -> Option<Duration> {
        self.check_period
    }

    /// Adds a listener, which is first shown everything in `store`.
    ///
    /// # Errors
    /// [`Full`] if there is no place for it.
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
        let at = self.listeners.insert(listener)?;
        Ok(ListenerId {
            at,
            generation: self.generation,
        })
    }

    /// Removes a listener with everything that waits for it. Says whether there was one.
    pub fn remove_listener(&mut self, id: ListenerId) -> bool {
        let known = self.get(id).is_some();
        if known {
            self.listeners.remove(id.at);
        }
        known
    }

    /// Drops everything that waits for anybody: nothing more will be dealt with.
    pub fn discard(&mut self) {
        self.listeners.change_all(Listener::discard);
    }

    /// Whether no listener asks for patience.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.listeners.have_room()
    }

    /// Passes a notification to its audience.
    ///
    /// # Errors
    /// [`Full`] if it finds no place.
    pub fn publish(
        &mut self,
        notification: &Notification<T>,
        audience: Audience,
    ) -> Result<(), Full> {
        self.publish_as_of(notification, audience, self.moment())
    }

    /// The present moment, as far as joining is concerned.
    pub(crate) const fn moment(&self) -> Moment {
        Moment(self.generation)
    }

    /// Passes a notification of what the store has shown since `moment`: who joined later has seen it
    /// there.
    pub(crate) fn publish_as_of(
        &mut self,
        notification: &Notification<T>,
        audience: Audience,
        moment: Moment,
    ) -> Result<(), Full> {
        for at in 0..self.listeners.bound() {
            let told = self.listeners.change(at, |listener| {
                let concerned = audience == Audience::Everybody || listener.is_resyncing();
                if concerned && listener.generation <= moment.0 {
                    listener.publish(notification.clone(), &self.seed)
                } else {
                    Ok(())
                }
            });
            told.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// The first full state has been published.
    pub fn set_synced(&mut self) {
        if self.synced {
            return;
        }
        self.synced = true;
        self.listeners
            .change_all(|listener| listener.update_sync(true));
    }

    /// A listener for which something has come since it was last named here. Who has waited longest is
    /// named first.
    pub fn poll_ready_listener(&mut self) -> Option<ListenerId> {
        let (at, listener) = self.listeners.pop_news()?;
        let generation = listener.generation;
        Some(ListenerId { at, generation })
    }

    /// The next notification of a listener. What it was given before counts as dealt with. `store` is
    /// what a late joiner is shown.
    #[must_use = "a notification is given once"]
    pub fn poll_notification(
        &mut self,
        id: ListenerId,
        store: &View<T, S>,
    ) -> Option<Notification<T>> {
        let mut next = None;
        self.poll_notifications(id, store, 1, |notification| next = Some(notification));
        next
    }

    /// Up to `most` notifications of a listener at once. What it was given before, by an earlier call,
    /// counts as dealt with. Says how many there were.
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
        let given = self.listeners.change(id.at, |listener| {
            listener.acknowledge();
            let mut given = 0;
            while given < most
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

    /// Looks for listeners whose resync is due. Those, and only those, count as resyncing until the
    /// next look. Says whether there are any.
    pub fn check_resync(&mut self, now: Instant) -> bool {
        let mut any = false;
        self.listeners
            .change_all(|listener| any |= listener.check_resync(self.check_period, now));
        any
    }

    /// Whether a listener has dealt with its initial state; `None` if there is no such listener.
    #[must_use]
    pub fn is_synced(&self, id: ListenerId) -> Option<bool> {
        Some(self.get(id)?.is_synced())
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

    /// The period that a listener gets to ask for. Before the start a short one makes everybody's
    /// checks more frequent; afterwards it must make do with them.
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

impl<T: Resource + Clone, S: Storage> fmt::Debug for Processor<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processor")
            .field("listeners", &self.listeners)
            .field("check_period", &self.check_period)
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}
