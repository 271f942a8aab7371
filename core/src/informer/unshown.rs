//! Writes that the store does not show, because their objects could not be used.

use super::status::RejectedObject;
use crate::invariant::cannot_happen;
use crate::storage::{FewPlaces, Slab, Storage, Text as _};

/// The most writes that are remembered one by one. The storage may have room for fewer.
const KEPT: usize = 64;

/// Writes that the store does not show. Waiting for one of them is an error.
///
/// A write is forgotten when its object becomes usable, is deleted, or is missing from a full state. If
/// there are too many, the oldest are remembered together as one range of versions.
pub(super) struct Unshown<K, S: Storage> {
    writes: FewPlaces<S, Write<K, S::Text>>,
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
            writes: Slab::default(),
            others: None,
            state: 0,
            replacing: false,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// The object that the write of `version` may belong to.
    pub(super) fn covering(&self, version: &str) -> Option<&RejectedObject<K, S::Text>> {
        let version = number(version)?;
        self.all()
            .find(|write| write.covers(version))
            .map(|write| &write.object)
    }

    /// The objects that were left out.
    pub(super) fn objects(&self) -> impl Iterator<Item = &RejectedObject<K, S::Text>> {
        self.all().map(|write| &write.object)
    }

    fn all(&self) -> impl Iterator<Item = &Write<K, S::Text>> {
        let kept = self.writes.iter().map(|(_, write)| write);
        kept.chain(&self.others)
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
        if self.is_empty() {
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
        if self.is_empty() {
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
        for at in 0..self.writes.bound() {
            self.writes.get_mut(at).map(settle);
        }
        self.others.as_mut().map(settle);
    }

    fn keep(&mut self, mut write: Write<K, S::Text>) {
        if self.writes.len() < KEPT && self.writes.reserve().is_ok() {
            if self.writes.insert(write).is_err() {
                cannot_happen("a reserved place is missing", ());
            }
            return;
        }
        let last = |(_, write): &(u32, &Write<K, S::Text>)| write.to.unwrap_or(u128::MAX);
        let oldest = self.writes.iter().min_by_key(last).map(|(at, _)| at);
        if let Some(oldest) = oldest.and_then(|at| self.writes.linked_mut(at)) {
            core::mem::swap(oldest, &mut write);
        }
        self.keep_among_others(write);
    }

    fn keep_among_others(&mut self, write: Write<K, S::Text>) {
        let Some(others) = &mut self.others else {
            let object = RejectedObject {
                key: None,
                uid: None,
                version: None,
                reason: S::Text::beginning(
                    "too many objects were left out to remember each of them",
                ),
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
        for at in 0..self.writes.bound() {
            if let Some(write) = self.writes.get_mut(at)
                && key.is_some()
                && write.object.key.as_ref() == key
            {
                visit(write);
            }
        }
    }

    fn retain(&mut self, keeps: impl Fn(&Write<K, S::Text>) -> bool) {
        for at in 0..self.writes.bound() {
            if self.writes.get(at).is_some_and(|write| !keeps(write)) {
                self.writes.remove_linked(at);
            }
        }
    }
}

/// A version as a number; `None` if it is not a decimal number.
fn number(version: &str) -> Option<u128> {
    let decimal = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    // No real version is that large, so all of them may count as equal.
    decimal.then(|| version.parse().unwrap_or(u128::MAX))
}
