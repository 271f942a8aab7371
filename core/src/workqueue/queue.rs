//! The items and their three states: queued, taken, waiting.
//!
//! An item in any of these states has one entry, with a link for the queue and a place in the schedule.
//! Only a new item needs room for an entry. So it cannot fail to queue an item that becomes due, or one
//! that was added again while it was taken.

use core::hash::Hash;
use core::mem;

use super::StrayDone;
use super::delay::{Schedule, Timer};
use crate::storage::{Bucket, Ends, Full, NONE, Places, Seed, Slab, Storage, Table};
use crate::time::Instant;

pub(super) struct Items<K, S: Storage> {
    seed: Seed,
    entries: Places<S, Entry<K>>,
    table: Table<S::Cells<Bucket>>,
    queue: Ends,
    pub(super) queued: usize,
    pub(super) taken: usize,
    /// How many times an item was marked as needing work.
    pub(super) adds: u64,
    pub(super) schedule: Schedule<S>,
    pub(super) stray: StrayDone,
}

pub(super) struct Entry<K> {
    item: K,
    hash: u32,
    /// The item needs work that has not begun: it is queued, or will be when it is done.
    dirty: bool,
    /// Since when it has been dirty, if it is.
    since: Instant,
    /// A worker has the item.
    taken: bool,
    /// The entry is linked into the queue.
    queued: bool,
    next: u32,
    pub(super) timer: Timer,
    /// How many echoes of this entry are queued.
    echoes: u32,
    /// The original entry, if this entry is an echo. An echo is a second place in the queue for the same
    /// item. Only [`StrayDone::Requeue`] creates echoes. The table does not contain them.
    echo_of: u32,
}

impl<K> Entry<K> {
    const fn new(item: K, hash: u32) -> Self {
        Self {
            item,
            hash,
            dirty: false,
            since: Instant::from_micros(0),
            taken: false,
            queued: false,
            next: NONE,
            timer: Timer::OFF,
            echoes: 0,
            echo_of: NONE,
        }
    }

    const fn is_idle(&self) -> bool {
        let listed = self.dirty || self.taken || self.queued;
        !listed && !self.timer.is_on() && self.echoes == 0
    }
}

impl<K, S: Storage> Items<K, S> {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            seed,
            entries: Slab::default(),
            table: Table::default(),
            queue: Ends::EMPTY,
            queued: 0,
            taken: 0,
            adds: 0,
            schedule: Schedule::new(),
            stray: StrayDone::default(),
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.schedule.first(&self.entries).map(|(_, due)| due)
    }
}

impl<K: Clone + Eq + Hash, S: Storage> Items<K, S> {
    /// Makes room to add the item, now or after a delay.
    pub(super) fn reserve(&mut self, item: &K) -> Result<(), Full> {
        let Some(entry) = self.find(item).and_then(|at| self.entries.linked(at)) else {
            self.schedule.reserve()?;
            self.table.reserve()?;
            return self.entries.reserve();
        };
        let becomes_echo = entry.queued && !entry.dirty && !entry.taken;
        if !entry.timer.is_on() {
            self.schedule.reserve()?;
        }
        if becomes_echo {
            self.entries.reserve()?;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, item: K, now: Instant) -> Result<(), Full> {
        let at = self.enter(item)?;
        // This can fail only for an old entry, which stays: a new entry is not queued yet.
        self.mark(at, now)
    }

    pub(super) fn add_at(&mut self, item: K, due: Instant) -> Result<(), Full> {
        self.reserve(&item)?;
        let at = self.enter(item)?;
        self.schedule.set(at, due, &mut self.entries);
        Ok(())
    }

    pub(super) fn cancel(&mut self, item: &K) -> bool {
        let waiting = |at: &u32| self.entries.linked(*at).is_some_and(|e| e.timer.is_on());
        let Some(at) = self.find(item).filter(waiting) else {
            return false;
        };
        self.schedule.remove(at, &mut self.entries);
        self.release(at);
        true
    }

    pub(super) fn cancel_all(&mut self) {
        while let Some(at) = self.schedule.last() {
            self.schedule.remove(at, &mut self.entries);
            self.release(at);
        }
    }

    pub(super) fn queue_due(&mut self, now: Instant) {
        while let Some((at, due)) = self.schedule.first(&self.entries)
            && due <= now
        {
            self.schedule.remove(at, &mut self.entries);
            // As in `done`: only an echo can fail, and the item is queued without it.
            let _ = self.mark(at, now);
        }
    }

    /// Takes the first item, and says since when it needs work.
    pub(super) fn take(&mut self) -> Option<(K, Instant)> {
        let first = self.queue.first()?;
        let entry = self.entries.linked_mut(first)?;
        self.queue.pop(mem::replace(&mut entry.next, NONE));
        self.queued -= 1;
        let mut at = first;
        if entry.echo_of == NONE {
            entry.queued = false;
        } else {
            at = entry.echo_of;
            self.entries.remove_linked(first);
        }
        let entry = self.entries.linked_mut(at)?;
        if at != first {
            entry.echoes -= 1;
        }
        entry.dirty = false;
        if !mem::replace(&mut entry.taken, true) {
            self.taken += 1;
        }
        Some((entry.item.clone(), entry.since))
    }

    pub(super) fn done(&mut self, item: &K) {
        let Some(at) = self.find(item) else { return };
        let Some(entry) = self.entries.linked_mut(at) else {
            return;
        };
        if mem::take(&mut entry.taken) {
            self.taken -= 1;
        } else if self.stray == StrayDone::Ignore {
            return;
        }
        if entry.dirty {
            // Only an echo can fail, and the item is queued without it.
            let _ = self.append(at);
        } else {
            self.release(at);
        }
    }

    fn find(&self, item: &K) -> Option<u32> {
        self.find_hashed(self.seed.hash(item), item)
    }

    fn find_hashed(&self, hash: u32, item: &K) -> Option<u32> {
        self.table.find(hash, |at| {
            let entry = self.entries.linked(at);
            entry.is_some_and(|entry| entry.item == *item)
        })
    }

    /// Returns the entry of the item, and creates it if there is none.
    fn enter(&mut self, item: K) -> Result<u32, Full> {
        let hash = self.seed.hash(&item);
        if let Some(at) = self.find_hashed(hash, &item) {
            return Ok(at);
        }
        self.table.reserve()?;
        let at = self.entries.insert(Entry::new(item, hash))?;
        self.table.insert_reserved(hash, at);
        Ok(at)
    }

    /// Marks the item as needing work.
    fn mark(&mut self, at: u32, now: Instant) -> Result<(), Full> {
        let Some(entry) = self.entries.linked(at).filter(|entry| !entry.dirty) else {
            return Ok(());
        };
        if !entry.taken {
            self.append(at)?;
        }
        if let Some(entry) = self.entries.linked_mut(at) {
            entry.dirty = true;
            entry.since = now;
            self.adds += 1;
        }
        Ok(())
    }

    /// Puts the item at the end of the queue. This can fail only if it is queued already.
    fn append(&mut self, at: u32) -> Result<(), Full> {
        let Some(entry) = self.entries.linked_mut(at) else {
            return Ok(());
        };
        let link = if mem::replace(&mut entry.queued, true) {
            let mut echo = Entry::new(entry.item.clone(), entry.hash);
            echo.echo_of = at;
            let link = self.entries.insert(echo)?;
            if let Some(entry) = self.entries.linked_mut(at) {
                entry.echoes += 1;
            }
            link
        } else {
            at
        };
        self.queue
            .push(link, &mut self.entries, |entry| &mut entry.next);
        self.queued += 1;
        Ok(())
    }

    /// Frees the entry if the item is in none of the three states.
    fn release(&mut self, at: u32) {
        if let Some(entry) = self.entries.linked(at)
            && entry.is_idle()
        {
            self.table.remove_entered(entry.hash, at);
            self.entries.remove_linked(at);
        }
    }
}
