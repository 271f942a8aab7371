//! Deliberate bugs, to check that the oracle finds them.
//!
//! They are planted around the informers, not in them: on the wire, in notifications, in what the
//! store seems to show, in what an informer is told about its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use informer_core::{Cause, Certainty, Notification};

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
    /// A removed source stays as it is, with its objects.
    ForgottenRemoval,
    /// The events of a removed source are still applied.
    UndeadSource,
    /// An object goes when the first of its sources lets go of it.
    EarlyDelete,
    /// An object stays when the last of its sources has let go of it.
    LateDelete,
    /// A removal takes objects that another source shows.
    GreedyRemoval,
    /// The sweep of one source takes an object of another.
    GreedySweep,
    /// The older state of a source that lags replaces a newer one.
    LaggingOverwrite,
    /// The store names sources that no longer show an object.
    StaleHolders,
    /// The removal of a source has the cause of a relist.
    WrongCause,
    /// The informer is synced with the first of its sources.
    EarlySync,
    /// The informer is fresh if one of its sources is.
    EarlyFreshness,
}

impl Mutant {
    /// All mutants.
    pub const ALL: [Self; 31] = [
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
        Self::ForgottenRemoval,
        Self::UndeadSource,
        Self::EarlyDelete,
        Self::LateDelete,
        Self::GreedyRemoval,
        Self::GreedySweep,
        Self::LaggingOverwrite,
        Self::StaleHolders,
        Self::WrongCause,
        Self::EarlySync,
        Self::EarlyFreshness,
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
            Self::ForgottenRemoval => "forgotten-removal",
            Self::UndeadSource => "undead-source",
            Self::EarlyDelete => "early-delete",
            Self::LateDelete => "late-delete",
            Self::GreedyRemoval => "greedy-removal",
            Self::GreedySweep => "greedy-sweep",
            Self::LaggingOverwrite => "lagging-overwrite",
            Self::StaleHolders => "stale-holders",
            Self::WrongCause => "wrong-cause",
            Self::EarlySync => "early-sync",
            Self::EarlyFreshness => "early-freshness",
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
    /// The old state of the last update, or the last state, for each listener and key.
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
                holders: BTreeMap::new(),
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

    /// Whether the informer is not told that a source was removed.
    pub(super) fn forgets_removal(&self) -> bool {
        self.mutant == Some(Mutant::ForgottenRemoval)
    }

    /// Whether a removed source goes on under another name.
    pub(super) fn revives_source(&self) -> bool {
        self.mutant == Some(Mutant::UndeadSource)
    }

    /// Whether the informer claims to be synced. `one` says that one of its sources is.
    pub(super) fn synced(&self, all: bool, one: bool) -> bool {
        all || one && self.mutant == Some(Mutant::EarlySync)
    }

    /// Whether the informer claims to be fresh. `one` says that one of its sources is.
    pub(super) fn fresh(&self, all: bool, one: bool) -> bool {
        all || one && self.mutant == Some(Mutant::EarlyFreshness)
    }

    /// The notifications that a listener gets instead of `told`; `several` if the informer has
    /// several sources.
    pub(super) fn notifications(
        &mut self,
        listener: usize,
        told: Vec<Notification<Pod>>,
        several: bool,
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
                (Mutant::WrongCause, Notification::Deleted { cause, .. })
                    if *cause == Cause::SourceRemoved =>
                {
                    *cause = Cause::Relist;
                }
                (Mutant::LaggingOverwrite, Notification::Updated { old, new, cause })
                    if several && strikes && *cause == Cause::Watch =>
                {
                    let late = Notification::Updated {
                        old: new.clone(),
                        new: old.clone(),
                        cause: Cause::Watch,
                    };
                    out.push(next);
                    next = late;
                }
                (Mutant::GreedySweep, next) if several => {
                    out.extend(self.sweep(listener, next));
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

    /// Remembers what a listener knows. A sweep takes one object more, in another namespace.
    fn sweep(&mut self, listener: usize, next: &Notification<Pod>) -> Option<Notification<Pod>> {
        let place = (listener, next.key().to_string());
        match next {
            Notification::Added { object, .. } => self.older.insert(place, object.clone()),
            Notification::Updated { new, .. } => self.older.insert(place, new.clone()),
            Notification::Deleted { .. } => self.older.remove(&place),
        };
        let Notification::Deleted {
            cause: Cause::Relist,
            ..
        } = next
        else {
            return None;
        };
        let is_other = |pod: &&Pod| pod.key().namespace() != next.key().namespace();
        let mine = self.older.iter().filter(|((who, _), _)| *who == listener);
        let last = mine.map(|(_, pod)| pod).find(is_other)?;
        Some(Notification::Deleted {
            key: last.key().clone(),
            last: Some(last.clone()),
            certainty: Certainty::Inferred,
            cause: Cause::Relist,
        })
    }

    /// Changes what the store seems to show. `sources` are the numbers of the current sources.
    pub(super) fn store(&mut self, shown: &mut Shown, sources: &BTreeSet<u16>) {
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
            Mutant::EarlyDelete | Mutant::GreedyRemoval => {
                let is_removal = mutant == Mutant::GreedyRemoval;
                let let_go = |key: &String| {
                    let (before, now) = (before.holders.get(key), shown.holders.get(key));
                    let mut gone = before
                        .zip(now)
                        .into_iter()
                        .flat_map(|(before, now)| before - now);
                    gone.any(|source| sources.contains(&source) != is_removal)
                };
                shown.objects.retain(|key, _| !let_go(key));
            }
            Mutant::LateDelete => {
                for (key, holders) in &before.holders {
                    if holders.len() > 1 && holders.is_subset(sources) {
                        let state = before.objects.get(key).cloned().unwrap_or_default();
                        shown.objects.entry(key.clone()).or_insert(state);
                    }
                }
            }
            Mutant::StaleHolders => {
                for (key, holders) in &mut shown.holders {
                    holders.extend(before.holders.get(key).into_iter().flatten());
                }
            }
            Mutant::StaleVersion if !before.version.is_empty() => shown.version = before.version,
            _ => {}
        }
    }
}
