//! Writes that the store does not show, because their objects could not be used.

use super::reports::beginning;
use super::status::RejectedObject;
use crate::invariant::cannot_happen;
use crate::storage::{Cells as _, Storage};

/// The most writes that are remembered one by one. The storage may have room for fewer.
const KEPT: usize = 64;

/// Writes that the store does not show. Waiting for one of them is an error.
///
/// A write is forgotten when its object becomes usable, is deleted, or is missing from a full state. If
/// there are too many, the oldest are remembered together as one range of versions.
pub(super) struct Unshown<K, S: Storage> {
    writes: S::Few<Option<Write<K, S::Text>>>,
    len: usize,
    /// All writes without a place in `writes`, as one.
    others: Option<Write<K, S::Text>>,
    /// The number of the newest full state.
    state: u32,
    /// Whether a full state is being read.
    replacing: bool,
}

/// A range of versions that contains one or more writes of an object.
struct Write<K, X> {
    /// The versions are above this one.
    after: u128,
    /// The last version; `None` if it is not known yet.
    to: Option<u128>,
    /// The newest full state that contained the unreadable object.
    state: u32,
    object: RejectedObject<K, X>,
}

impl<K, X> Write<K, X> {
    fn covers(&self, version: u128) -> bool {
        self.after < version && self.to.is_none_or(|to| version <= to)
    }
}

impl<K: PartialEq, S: Storage> Unshown<K, S> {
    pub(super) fn new() -> Self {
        Self {
            writes: Default::default(),
            len: 0,
            others: None,
            state: 0,
            replacing: false,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The object that the write of `version` may belong to.
    pub(super) fn covering(&self, version: &str) -> Option<&RejectedObject<K, S::Text>> {
        let version = number(version)?;
        let kept = (0..self.len).filter_map(|at| self.writes.get(at)?.as_ref());
        let mut all = kept.chain(&self.others);
        all.find(|write| write.covers(version))
            .map(|write| &write.object)
    }

    /// Remembers an object that was left out. All events up to the version `before` were seen. A full
    /// state shows only the newest write of an object, so it may hide others since then.
    pub(super) fn note(
        &mut self,
        object: RejectedObject<K, S::Text>,
        version: &str,
        before: Option<&str>,
    ) {
        let (at, before) = (number(version), before.and_then(number).unwrap_or(0));
        let after = match at {
            Some(at) if self.replacing => before.min(at.saturating_sub(1)),
            Some(at) => at.saturating_sub(1),
            None => before,
        };
        let mut known = false;
        let state = self.state;
        self.each_of(object.key.as_ref(), |write| {
            write.state = state;
            known |= at.is_some_and(|at| write.covers(at));
        });
        if !known {
            self.keep(Write {
                after,
                to: at,
                state,
                object,
            });
        }
    }

    /// The object under `key` is usable or gone. During a full state, this counts only at its end.
    pub(super) fn resolve(&mut self, key: &K) {
        if self.len == 0 {
            return;
        }
        if self.replacing {
            let before = self.state.wrapping_sub(1);
            self.each_of(Some(key), |write| write.state = before);
        } else {
            self.retain(|write| write.object.key.as_ref() != Some(key));
        }
    }

    pub(super) const fn begin_state(&mut self) {
        self.state = self.state.wrapping_add(1);
        self.replacing = true;
    }

    pub(super) const fn abandon_state(&mut self) {
        self.replacing = false;
    }

    /// The full state is complete. Every object that it did not report as unreadable is shown or gone.
    pub(super) fn end_state(&mut self) {
        self.replacing = false;
        let state = self.state;
        self.retain(|write| write.state == state);
        self.others.take_if(|write| write.state != state);
    }

    /// All events up to `version` were seen, so no write with an unreadable version is newer.
    pub(super) fn settle(&mut self, version: &str) {
        if self.len == 0 {
            return;
        }
        let Some(version) = number(version) else {
            return;
        };
        let settle = |write: &mut Write<K, S::Text>| {
            if write.after < version {
                write.to.get_or_insert(version);
            }
        };
        for at in 0..self.len {
            if let Some(Some(write)) = self.writes.get_mut(at) {
                settle(write);
            }
        }
        self.others.as_mut().map(settle);
    }

    fn keep(&mut self, write: Write<K, S::Text>) {
        let size = self.writes.capacity().min(KEPT);
        let mut write = Some(write);
        if self.len < size && self.writes.grow(self.len + 1).is_ok() {
            match self.writes.get_mut(self.len) {
                Some(free) => *free = write,
                None => cannot_happen("a cell that was grown is missing", ()),
            }
            self.len += 1;
            return;
        }
        let newest = |at: &usize| {
            let write = self.writes.get(*at).and_then(Option::as_ref);
            write.map(|write| write.to.unwrap_or(u128::MAX))
        };
        if let Some(oldest) = (0..self.len).min_by_key(newest)
            && let Some(place) = self.writes.get_mut(oldest)
        {
            core::mem::swap(place, &mut write);
        }
        if let Some(write) = write {
            self.keep_among_others(write);
        }
    }

    fn keep_among_others(&mut self, write: Write<K, S::Text>) {
        let Some(others) = &mut self.others else {
            let object = RejectedObject {
                key: None,
                uid: None,
                version: None,
                reason: beginning("too many objects were left out to remember each of them"),
                ..write.object
            };
            self.others = Some(Write { object, ..write });
            return;
        };
        others.after = others.after.min(write.after);
        others.to = others.to.zip(write.to).map(|(a, b)| a.max(b));
        others.state = write.state;
    }

    fn each_of(&mut self, key: Option<&K>, mut visit: impl FnMut(&mut Write<K, S::Text>)) {
        for at in 0..self.len {
            if let Some(Some(write)) = self.writes.get_mut(at)
                && key.is_some()
                && write.object.key.as_ref() == key
            {
                visit(write);
            }
        }
    }

    fn retain(&mut self, keeps: impl Fn(&Write<K, S::Text>) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            let write = self.writes.get_mut(at).and_then(Option::take);
            if let Some(write) = write.filter(&keeps)
                && let Some(place) = self.writes.get_mut(kept)
            {
                *place = Some(write);
                kept += 1;
            }
        }
        self.len = kept;
    }
}

/// A version as a number; `None` if it is not a decimal number.
fn number(version: &str) -> Option<u128> {
    let decimal = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    // No real version is that large, so all of them may count as equal.
    decimal.then(|| version.parse().unwrap_or(u128::MAX))
}
