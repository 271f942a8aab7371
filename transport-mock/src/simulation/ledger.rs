//! Checks the notifications of one listener.

use std::collections::{BTreeMap, BTreeSet};

use informer_core::{Cause, Notification};

use super::Pod;
use super::record::{Record, is_same, number};

/// When an object that a listener saw go may come back in a state that is not newer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Return {
    Never,
    /// After the removal of its source: another source may show it as it was.
    AfterRemoval,
    /// Always: a source that lags may show it as it was before another source let go of it.
    Always,
}

/// What a listener may hear while nothing happens but a change of the sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Calm {
    Added,
    Removed,
}

/// The rules for a listener's notifications.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether our default rules apply, or client-go's.
    pub(super) is_strict: bool,
    /// Whether pending notifications may be merged.
    pub(super) merges: bool,
    /// Whether objects are whole.
    pub(super) is_whole: bool,
    pub(super) returns: Return,
}

/// The situation when a listener got a notification.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Whether the listener had handled its initial state.
    pub(super) was_synced: bool,
    /// Whether the informer had requested no full state after the first.
    pub(super) is_first_state: bool,
    /// The only thing that happens, if that is known.
    pub(super) calm: Option<Calm>,
}

/// The cluster as one listener knows it.
#[derive(Debug)]
pub(super) struct Ledger {
    rules: Rules,
    known: BTreeMap<String, Pod>,
    /// The newest version seen of each key.
    newest: BTreeMap<String, u64>,
    /// The keys that went because their source was removed.
    removed: BTreeSet<String>,
}

impl Ledger {
    pub(super) const fn new(rules: Rules) -> Self {
        Self {
            rules,
            known: BTreeMap::new(),
            newest: BTreeMap::new(),
            removed: BTreeSet::new(),
        }
    }

    pub(super) const fn known(&self) -> &BTreeMap<String, Pod> {
        &self.known
    }

    /// Enters a notification. The error says why it is impossible.
    pub(super) fn enter(
        &mut self,
        notification: &Notification<Pod>,
        standing: Standing,
        record: &Record,
    ) -> Result<(), String> {
        let Rules {
            is_strict,
            merges,
            is_whole,
            returns,
        } = self.rules;
        let key = notification.key().to_string();
        check_calm(notification, standing.calm)?;
        // Under client-go's rules, a deletion is merged with what follows: here with the add by a
        // source that lags, and with its end.
        let may_go_back = !is_strict && merges && returns == Return::Always;
        match notification {
            Notification::Added {
                object,
                initial,
                cause,
            } => {
                record.check(object, is_whole)?;
                check_initial(*initial, *cause, standing)?;
                let version = number(object.version());
                let may_return = match returns {
                    Return::Never => false,
                    Return::AfterRemoval => self.removed.contains(&key),
                    Return::Always => !self.known.contains_key(&key),
                };
                if let Some(newest) = self.newest.get(&key)
                    && version <= Some(*newest)
                    && !may_return
                {
                    return Err(format!(
                        "an add of {key}@{}, already seen at {newest}",
                        object.version()
                    ));
                }
                self.see(&key, version);
                if self.known.insert(key, object.clone()).is_some() {
                    return Err("an add of a known key".to_owned());
                }
            }
            Notification::Updated { old, new, cause } => {
                record.check(new, is_whole)?;
                let known = self.known.insert(key.clone(), new.clone());
                // Under client-go's rules, deletions of unknown objects are reported. Merged with a
                // following add, such a deletion becomes an update whose old state is the one in
                // the deletion.
                let is_exact = is_strict || !merges;
                let Some(known) = known.or_else(|| (!is_exact).then(|| old.clone())) else {
                    return Err("an update of an unknown key".to_owned());
                };
                if is_exact && !is_same(&known, old) {
                    return Err(format!(
                        "the old state is {}, but {} was seen last",
                        old.version(),
                        known.version()
                    ));
                }
                let (before, after) = (number(known.version()), number(new.version()));
                if after < before && !may_go_back {
                    return Err("an update to an older state".to_owned());
                }
                if is_strict && old.uid() != new.uid() {
                    return Err("a changed UID as an update".to_owned());
                }
                if is_strict && (before == after) != (*cause == Cause::Resync) {
                    return Err(match cause {
                        Cause::Resync => "a change as a resync",
                        _ => "an update that changes nothing",
                    }
                    .to_owned());
                }
                self.see(&key, after);
            }
            Notification::Deleted { last, cause, .. } => {
                if *cause == Cause::SourceRemoved {
                    if returns == Return::Never {
                        return Err("a removal of the only source".to_owned());
                    }
                    self.removed.insert(key.clone());
                } else {
                    self.removed.remove(&key);
                }
                let known = self.known.remove(&key);
                if is_strict && known.is_none() {
                    return Err("a delete of an unknown key".to_owned());
                }
                // If the object was unreadable when it was recreated, the informer knows the
                // earlier object.
                let uids = known.as_ref().zip(last.as_ref());
                if is_strict
                    && uids.is_some_and(|(known, last)| known.uid() != last.uid())
                    && record.is_readable(&key)
                {
                    return Err("the delete of another object".to_owned());
                }
                let version = last.as_ref().and_then(|last| number(last.version()));
                if let Some(known) = known
                    && version.is_some_and(|version| Some(version) < number(known.version()))
                    && !may_go_back
                {
                    return Err("a delete with an older state than was seen".to_owned());
                }
                self.see(&key, version);
            }
        }
        Ok(())
    }

    fn see(&mut self, key: &str, version: Option<u64>) {
        let newest = self.newest.entry(key.to_owned()).or_default();
        *newest = (*newest).max(version.unwrap_or(0));
    }
}

/// Whether the initial flag of an add can be right.
fn check_initial(initial: bool, cause: Cause, standing: Standing) -> Result<(), String> {
    if initial && standing.was_synced {
        return Err("an initial add after the sync".to_owned());
    }
    let belongs_to_first = cause == Cause::Relist && standing.is_first_state;
    if !initial && (belongs_to_first || cause == Cause::Replay) {
        return Err("an add of the first state that is not initial".to_owned());
    }
    Ok(())
}

/// Whether a change of the sources alone can have this effect.
fn check_calm(notification: &Notification<Pod>, calm: Option<Calm>) -> Result<(), String> {
    let is_wrong = match (calm, notification) {
        (None, _) | (_, Notification::Updated { .. }) => false,
        (Some(Calm::Removed), Notification::Deleted { cause, .. }) => {
            *cause != Cause::SourceRemoved
        }
        (Some(Calm::Added), Notification::Added { initial, cause, .. }) => {
            !*initial || *cause != Cause::Relist
        }
        (Some(_), _) => true,
    };
    match calm.filter(|_| is_wrong) {
        Some(calm) => Err(format!("nothing happened but that a source was {calm:?}")),
        None => Ok(()),
    }
}

/// Formats a notification in one line, with its versions.
pub(super) fn shown(notification: &Notification<Pod>) -> String {
    let (old, new) = match notification {
        Notification::Added { object, .. } => (None, Some(object)),
        Notification::Updated { old, new, .. } => (Some(old), Some(new)),
        Notification::Deleted { last, .. } => (last.as_ref(), None),
    };
    let version = |pod: Option<&Pod>| pod.map_or("nothing", |pod| pod.version()).to_owned();
    format!("{notification}: {} to {}", version(old), version(new))
}
