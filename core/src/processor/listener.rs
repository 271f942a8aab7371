//! One listener: its backlog, its replay, its resyncs and its sync.

use core::time::Duration;

use super::backlog::{Backlog, Pending, Pushed, Recreated};
use crate::flow::{Cause, Notification};
use crate::indexer::{Cursor, View};
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::storage::{Full, Kept as _, Seed, Storage};
use crate::time::Instant;

/// How a listener is served.
///
/// ```
/// use core::time::Duration;
/// use informer_core::processor::{Backlog, ListenerConfig, Resync};
///
/// let config = ListenerConfig {
///     resync: Resync::Every(Duration::from_secs(600)),
///     ..ListenerConfig::new()
/// };
/// assert_eq!(config.backlog, Backlog::Coalesce { above: 1_024 });
/// assert_eq!(ListenerConfig::client_go().backlog, Backlog::Grow);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct ListenerConfig {
    /// How often it gets the whole store again.
    pub resync: Resync,
    /// What to do if it does not keep up.
    pub backlog: Backlog,
}

impl ListenerConfig {
    /// Our default: the resync period of the informer, and merging above 1,024 waiting notifications.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            resync: Resync::Default,
            backlog: Backlog::Coalesce { above: 1_024 },
        }
    }

    /// What client-go does: never merge, never hold back.
    #[must_use]
    pub const fn client_go() -> Self {
        Self {
            backlog: Backlog::Grow,
            ..Self::new()
        }
    }
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// How often a listener gets the whole store again. A resync does not query the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Resync {
    /// With the period of the informer.
    #[default]
    Default,
    /// Never.
    Never,
    /// With this period, but not less than a second. Zero counts as [`Never`](Self::Never), as in
    /// client-go. A resync runs at the first check after it is due: see
    /// [`InformerConfig::resync`](crate::informer::InformerConfig::resync).
    Every(Duration),
}

/// How a listener is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListenerStatus {
    /// Notifications that wait for it, including the rest of its replay.
    pub pending: usize,
    /// Notifications it has received.
    pub delivered: u64,
    /// Notifications that were merged away because it did not keep up.
    pub coalesced: u64,
    /// Whether it has handled its initial state.
    pub synced: bool,
    /// Whether it holds up all listeners, by its policy or because its storage is full.
    pub stalls: bool,
    /// Whether it is paused.
    pub paused: bool,
}

pub(super) struct Listener<T: Resource + Clone, S: Storage> {
    pub(super) generation: u64,
    pending: Pending<T, S>,
    /// The part of the store that a listener which joined late has not received yet.
    replay: Option<Replay<S::Kept<View<T, S>>>>,
    /// Initial notifications that wait, or were delivered and are not acknowledged.
    initial: usize,
    /// How many of those the last poll delivered.
    initial_given: usize,
    pub(super) synced: bool,
    /// Whether a notification has arrived, or it has become synced, since this was last taken.
    pub(super) news: bool,
    /// Whether it gets nothing for now.
    pub(super) paused: bool,
    /// The resync period, if any, and when the next resync is due.
    resync: Option<Duration>,
    next_resync: Option<Instant>,
    pub(super) resyncing: bool,
    delivered: u64,
    coalesced: u64,
}

struct Replay<K> {
    store: K,
    next: Cursor,
    left: usize,
}

impl<T: Resource + Clone, S: Storage> Listener<T, S> {
    pub(super) fn new(
        generation: u64,
        (backlog, recreated): (Backlog, Recreated),
        resync: Option<Duration>,
    ) -> Self {
        Self {
            generation,
            pending: Pending::new(backlog, recreated),
            replay: None,
            initial: 0,
            initial_given: 0,
            synced: false,
            news: false,
            paused: false,
            resync,
            next_resync: None,
            // A new listener takes part in the first resync, as in client-go.
            resyncing: true,
            delivered: 0,
            coalesced: 0,
        }
    }

    /// Starts with a replay of the store. Only later changes are published to the listener, so it misses
    /// nothing and gets nothing twice.
    pub(super) fn replay(&mut self, store: &View<T, S>) {
        let left = store.len();
        if left > 0 {
            self.news = true;
            self.replay = Some(Replay {
                store: S::Kept::keep(store),
                next: Cursor::default(),
                left,
            });
        }
    }

    pub(super) fn skip_replay(&mut self) {
        self.replay = None;
    }

    /// Whether the store may change. It must not during a replay that reads the live store.
    pub(super) fn has_room(&self) -> bool {
        let replays_live = S::Kept::<View<T, S>>::IS_LIVE && self.replay.is_some();
        self.pending.has_room() && !replays_live
    }

    pub(super) fn publish(
        &mut self,
        notification: Notification<T>,
        seed: &Seed,
    ) -> Result<(), Full> {
        let initial = notification.is_initial();
        match self.pending.push(notification, seed)? {
            Pushed::Appended => {
                self.news = true;
                self.initial += usize::from(initial);
            }
            Pushed::Merged => self.coalesced += 1,
            Pushed::Cancelled { initial } => {
                self.coalesced += 2;
                self.initial -= usize::from(initial);
                // This may have been the last initial notification, so that it can sync.
                self.news = true;
            }
        }
        Ok(())
    }

    /// Everything delivered so far has been handled.
    pub(super) fn acknowledge(&mut self) {
        self.initial -= core::mem::take(&mut self.initial_given);
    }

    pub(super) fn take(&mut self, store: &View<T, S>) -> Option<Notification<T>> {
        let notification = match self.take_replayed(store) {
            Some(object) => {
                self.initial += 1;
                Notification::Added {
                    object,
                    initial: true,
                    cause: Cause::Replay,
                }
            }
            None => self.pending.pop()?,
        };
        self.initial_given += usize::from(notification.is_initial());
        self.delivered += 1;
        Some(notification)
    }

    fn take_replayed(&mut self, store: &View<T, S>) -> Option<T> {
        let replay = self.replay.as_mut()?;
        let next = replay.store.shown(store).iter_from(replay.next).next();
        // A live store can lose objects, if its owner does not wait for the replay.
        if next.is_none() && !S::Kept::<View<T, S>>::IS_LIVE {
            cannot_happen("a kept store has lost objects", ());
        }
        let (behind, object) = next?;
        let object = object.clone();
        replay.next = behind;
        replay.left -= 1;
        if replay.left == 0 {
            // Frees the objects that only the replay still holds.
            self.replay = None;
        }
        Some(object)
    }

    /// Drops everything that waits. Initial notifications among it will never be handled.
    pub(super) fn discard(&mut self) {
        while self.pending.pop().is_some() {}
        self.initial += self.replay.take().map_or(0, |replay| replay.left);
    }

    /// Notes whether it has handled its initial state, which the informer must have first. Once true,
    /// this stays true.
    pub(super) fn update_sync(&mut self, upstream_synced: bool) {
        self.synced |= upstream_synced && self.initial == 0 && self.replay.is_none();
    }

    /// Schedules its next resync, no more often than resyncs are checked.
    pub(super) fn plan_resync(&mut self, check_period: Option<Duration>, now: Instant) {
        let periods = self.resync.zip(check_period);
        self.next_resync = periods.map(|(wanted, check)| now.after(wanted.max(check)));
    }

    /// Whether its resync is due. If so, it counts as resyncing until the next check.
    pub(super) fn check_resync(&mut self, check_period: Option<Duration>, now: Instant) -> bool {
        self.resyncing = self.next_resync.is_some_and(|next| next <= now);
        if self.resyncing {
            self.plan_resync(check_period, now);
        }
        self.resyncing
    }

    pub(super) fn status(&self) -> ListenerStatus {
        let replay = self.replay.as_ref().map_or(0, |replay| replay.left);
        ListenerStatus {
            pending: self.pending.len() + replay,
            delivered: self.delivered,
            coalesced: self.coalesced,
            synced: self.synced,
            stalls: !self.has_room(),
            paused: self.paused,
        }
    }
}
