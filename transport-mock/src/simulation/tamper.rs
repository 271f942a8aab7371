//! Deliberate bugs, to check that the oracle finds them.
//!
//! They are planted around the informers, not in them: on the wire, in notifications, in what the
//! store seems to show.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use informer_core::{Certainty, Notification};

use super::Pod;
use super::tampered_wire::TamperedWire;
use super::view::Shown;
use crate::random::Random;
use crate::wire::tap::Tap;

/// A deliberate bug.
///
/// ```
/// use informer_transport_mock::simulation::{Mutant, World};
///
/// let mutant: Mutant = "doubled-add".parse()?;
/// let is_found = |seed| World::new(seed).with_mutant(mutant).run().violation.is_some();
/// assert!((0..10).any(is_found));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Mutant {
    /// A watch that resumes from a version loses its first event.
    SkippedEvent,
    /// An older event of an object arrives again after a newer one.
    ReorderedEvents,
    /// A deleted object is reported as added.
    ResurrectedObject,
    /// A relist lacks an object.
    LostItem,
    /// A relist contains a deleted object.
    LostDeleteAtRelist,
    /// An add is reported twice.
    DoubledAdd,
    /// The old state of an update is one step too old.
    StaleOld,
    /// An add of the initial state lacks the initial flag.
    WrongInitial,
    /// An add after the initial state has the initial flag.
    LateInitial,
    /// A notification is lost.
    SwallowedNotification,
    /// An inferred deletion is lost.
    MissingInferredDelete,
    /// A new object under the same key is reported as an update.
    MergedUid,
    /// An add is reported as an update.
    AddAsUpdate,
    /// Two notifications of one object are swapped.
    SwappedNotifications,
    /// The index lists an object under a value that it no longer has.
    StaleIndex,
    /// The store shows an old state of an object.
    StaleObject,
    /// The store shows a deleted object.
    GhostObject,
    /// The store reports an old version.
    StaleVersion,
    /// A relist without a reason.
    NeedlessRelist,
    /// The next request does not wait.
    SkippedWait,
}

impl Mutant {
    /// All mutants.
    pub const ALL: [Self; 20] = [
        Self::SkippedEvent,
        Self::ReorderedEvents,
        Self::ResurrectedObject,
        Self::LostItem,
        Self::LostDeleteAtRelist,
        Self::DoubledAdd,
        Self::StaleOld,
        Self::WrongInitial,
        Self::LateInitial,
        Self::SwallowedNotification,
        Self::MissingInferredDelete,
        Self::MergedUid,
        Self::AddAsUpdate,
        Self::SwappedNotifications,
        Self::StaleIndex,
        Self::StaleObject,
        Self::GhostObject,
        Self::StaleVersion,
        Self::NeedlessRelist,
        Self::SkippedWait,
    ];

    /// The name for the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SkippedEvent => "skipped-event",
            Self::ReorderedEvents => "reordered-events",
            Self::ResurrectedObject => "resurrected-object",
            Self::LostItem => "lost-item",
            Self::LostDeleteAtRelist => "lost-delete-at-relist",
            Self::DoubledAdd => "doubled-add",
            Self::StaleOld => "stale-old",
            Self::WrongInitial => "wrong-initial",
            Self::LateInitial => "late-initial",
            Self::SwallowedNotification => "swallowed-notification",
            Self::MissingInferredDelete => "missing-inferred-delete",
            Self::MergedUid => "merged-uid",
            Self::AddAsUpdate => "add-as-update",
            Self::SwappedNotifications => "swapped-notifications",
            Self::StaleIndex => "stale-index",
            Self::StaleObject => "stale-object",
            Self::GhostObject => "ghost-object",
            Self::StaleVersion => "stale-version",
            Self::NeedlessRelist => "needless-relist",
            Self::SkippedWait => "skipped-wait",
        }
    }
}

impl FromStr for Mutant {
    type Err = UnknownMutant;

    fn from_str(name: &str) -> Result<Self, UnknownMutant> {
        let found = Self::ALL.into_iter().find(|mutant| mutant.name() == name);
        found.ok_or_else(|| UnknownMutant(name.to_owned()))
    }
}

/// An unknown mutant name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownMutant(String);

impl fmt::Display for UnknownMutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Mutant::ALL.map(Mutant::name).join(", ");
        write!(f, "unknown mutant {:?}; use one of {names}", self.0)
    }
}

impl std::error::Error for UnknownMutant {}

/// Applies one mutant, or none, to what one informer reports.
#[derive(Debug)]
pub(super) struct Tamper {
    mutant: Option<Mutant>,
    random: Random,
    /// The old state of the last update, for each listener and key.
    older: BTreeMap<(usize, String), Pod>,
    /// What the store showed last time.
    before: Shown,
}

impl Tamper {
    pub(super) const fn new(mutant: Option<Mutant>, random: Random) -> Self {
        Self {
            mutant,
            random,
            older: BTreeMap::new(),
            before: Shown {
                objects: BTreeMap::new(),
                indices: BTreeMap::new(),
                version: String::new(),
            },
        }
    }

    /// The hook that tampers with the wire, if any.
    pub(super) fn tap(&mut self) -> Option<Box<dyn Tap>> {
        let wire = TamperedWire::new(self.mutant?, self.random.fork());
        Some(Box::new(wire))
    }

    /// Whether to report an expired version to the informer that has not expired.
    pub(super) fn wants_relist(&mut self) -> bool {
        self.mutant == Some(Mutant::NeedlessRelist) && self.random.one_in(20)
    }

    /// Whether waits end as soon as they begin.
    pub(super) fn hurries(&self) -> bool {
        self.mutant == Some(Mutant::SkippedWait)
    }

    /// The notifications that a listener gets instead of `told`.
    pub(super) fn notifications(
        &mut self,
        listener: usize,
        told: Vec<Notification<Pod>>,
    ) -> Vec<Notification<Pod>> {
        let Some(mutant) = self.mutant else {
            return told;
        };
        let mut out: Vec<Notification<Pod>> = Vec::with_capacity(told.len());
        for mut next in told {
            let strikes = self.random.one_in(5);
            let follows = out.last().is_some_and(|last| last.key() == next.key());
            match (mutant, &mut next) {
                (Mutant::DoubledAdd, Notification::Added { .. }) if strikes => {
                    out.push(next.clone());
                }
                (Mutant::StaleOld, Notification::Updated { old, .. }) => {
                    let place = (listener, old.key().to_string());
                    if let Some(older) = self.older.insert(place, old.clone()) {
                        *old = older;
                    }
                }
                (Mutant::WrongInitial, Notification::Added { initial, .. }) if strikes => {
                    *initial = false;
                }
                (Mutant::LateInitial, Notification::Added { initial, .. }) if strikes => {
                    *initial = true;
                }
                (Mutant::SwallowedNotification, _) if strikes => continue,
                (Mutant::MissingInferredDelete, Notification::Deleted { certainty, .. })
                    if *certainty == Certainty::Inferred =>
                {
                    continue;
                }
                (Mutant::MergedUid, Notification::Added { object, cause, .. }) if follows => {
                    let inferred = |last: &mut Notification<Pod>| {
                        matches!(last, Notification::Deleted { certainty, .. }
                            if *certainty == Certainty::Inferred)
                    };
                    if let Some(Notification::Deleted {
                        last: Some(last), ..
                    }) = out.pop_if(inferred)
                    {
                        next = Notification::Updated {
                            old: last,
                            new: object.clone(),
                            cause: *cause,
                        };
                    }
                }
                (Mutant::AddAsUpdate, Notification::Added { object, cause, .. }) if strikes => {
                    next = Notification::Updated {
                        old: object.clone(),
                        new: object.clone(),
                        cause: *cause,
                    };
                }
                (Mutant::SwappedNotifications, _) if follows => {
                    let last = out.pop();
                    out.push(next);
                    out.extend(last);
                    continue;
                }
                _ => {}
            }
            out.push(next);
        }
        out
    }

    /// Changes what the store seems to show.
    pub(super) fn store(&mut self, shown: &mut Shown) {
        let Some(mutant) = self.mutant else {
            return;
        };
        let real = shown.clone();
        let before = std::mem::replace(&mut self.before, real);
        match mutant {
            Mutant::StaleIndex => {
                let tables = before.indices.get("app").zip(shown.indices.get_mut("app"));
                if let Some((before, now)) = tables {
                    for (value, keys) in before {
                        let alive = keys.iter().filter(|key| shown.objects.contains_key(*key));
                        now.entry(value.clone()).or_default().extend(alive.cloned());
                    }
                    now.retain(|_, keys| !keys.is_empty());
                }
            }
            Mutant::StaleObject => {
                for (key, state) in &mut shown.objects {
                    if let Some(before) = before.objects.get(key) {
                        state.clone_from(before);
                    }
                }
            }
            Mutant::GhostObject => {
                for (key, state) in before.objects {
                    shown.objects.entry(key).or_insert(state);
                }
            }
            Mutant::StaleVersion if !before.version.is_empty() => shown.version = before.version,
            _ => {}
        }
    }
}
