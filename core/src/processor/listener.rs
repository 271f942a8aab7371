//! One listener: its replay, its resync schedule, its sync.

use core::fmt;
use core::time::Duration;

use super::backlog::{Backlog, Pending, Pushed, Recreated};
use crate::flow::{Cause, Notification};
use crate::indexer::{Cursor, View};
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::storage::{Full, Kept as _, Seed, Storage};
use crate::time::Instant;

/// How a listener wants to be served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct ListenerConfig {
    /// How often it wants to be shown the whole store again.
    pub resync: Resync,
    /// What happens if it does not keep up.
    pub backlog: Backlog,
}

impl ListenerConfig {
    /// Our default: the informer's resync period, and merging above 1,024 waiting notifications.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            resync: Resync::Default,
            backlog: Backlog::Coalesce { above: 1_024 },
        }
    }

    /// What client-go does: nothing is ever merged or held back.
    #[must_use]
    pub const fn client_go() -> Self {
        Self {
            resync: Resync::Default,
            backlog: Backlog::Grow,
        }
    }
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// How often a listener wants to be shown the whole store again. The server is not asked for that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "these are the choices")]
pub enum Resync {
    /// As often as the informer says.
    #[default]
    Default,
    /// Never.
    Never,
    /// With this period, at least a second; zero counts as [`Never`](Self::Never), as in client-go. It
    /// is rounded up to when the informer checks: see
    /// [`InformerConfig::resync`](crate::informer::InformerConfig::resync).
    Every(Duration),
}

/// How a listener is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListenerStatus {
    /// Notifications that wait for it, the rest of its replay included.
    pub pending: usize,
    /// Notifications that it was given.
    pub delivered: u64,
    /// Notifications that were merged away because it did not keep up.
    pub coalesced: u64,
    /// Whether it has dealt with its initial state.
    pub synced: bool,
    /// Whether it holds up everybody, by its policy or because there is no room for more.
    pub stalls: bool,
}

pub(super) struct Listener<T: Resource + Clone, S: Storage> {
    pub(super) generation: u64,
    pending: Pending<T, S>,
    /// What a late joiner has still to be shown.
    replay: Option<Replay<S::Kept<View<T, S>>>>,
    /// Initial notifications that wait, or were given and are not acknowledged.
    initial: usize,
    /// How many of those were given with the last poll.
    initial_given: usize,
    synced: bool,
    /// Whether something has come since the last time it was asked.
    news: bool,
    /// How often it wants to be shown the store again, if at all, and when that is due next.
    resync: Option<Duration>,
    next_resync: Option<Instant>,
    resyncing: bool,
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
            resync,
            next_resync: None,
            // A new listener takes part in whatever resync comes first, as in client-go.
            resyncing: true,
            delivered: 0,
            coalesced: 0,
        }
    }

    /// Shows it first what is in the store. Only what changes from now on is published to it, so
    /// nothing is missing and nothing comes twice.
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

    /// Whether the store may change. Not while it is being shown, if nothing was kept of it.
    pub(super) fn has_room(&self) -> bool {
        let shown_live = S::Kept::<View<T, S>>::NOTHING && self.replay.is_some();
        self.pending.has_room() && !shown_live
    }

    pub(super) const fn is_resyncing(&self) -> bool {
        self.resyncing
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
                // Dealing with nothing may be what was missing for the sync.
                self.news = true;
            }
        }
        Ok(())
    }

    /// What was given before has been dealt with.
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
        // A store that is shown live can lose objects, if whoever owns it does not wait.
        if next.is_none() && !S::Kept::<View<T, S>>::NOTHING {
            cannot_happen("a kept store has lost objects", ());
        }
        let (behind, object) = next?;
        let object = object.clone();
        replay.next = behind;
        replay.left -= 1;
        if replay.left == 0 {
            // Frees what only the replay still holds.
            self.replay = None;
        }
        Some(object)
    }

    /// Drops what waits for it. What was initial of it will never be dealt with.
    pub(super) fn discard(&mut self) {
        while self.pending.pop().is_some() {}
        self.initial += self.replay.take().map_or(0, |replay| replay.left);
    }

    /// Whether its initial state has been dealt with, given that the informer's has. It never turns
    /// back.
    pub(super) fn update_sync(&mut self, upstream_synced: bool) {
        self.synced |= upstream_synced && self.initial == 0 && self.replay.is_none();
    }

    pub(super) const fn is_synced(&self) -> bool {
        self.synced
    }

    /// Whether something has come since the last time this was asked.
    pub(super) const fn take_news(&mut self) -> bool {
        core::mem::replace(&mut self.news, false)
    }

    /// Plans its next resync, given how often due ones are looked for.
    pub(super) fn plan_resync(&mut self, check_period: Option<Duration>, now: Instant) {
        let periods = self.resync.zip(check_period);
        self.next_resync = periods.map(|(wanted, check)| now.after(wanted.max(check)));
    }

    /// Whether its resync is due. It counts as resyncing until it is asked again.
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
        }
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Debug for Listener<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("status", &self.status())
            .field("resync", &self.resync)
            .finish_non_exhaustive()
    }
}
