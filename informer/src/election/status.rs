//! What an election is doing, for people.

use std::fmt;
use std::time::Duration;

use informer_core::ObjectKey;
use informer_core::failure::Printable;
use serde::Serializer;

use super::shared::{Failed, Shared};
use crate::status::seconds;
use crate::words::{counted, roughly};

/// What a replica in an election is doing at one moment.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ElectionStatus {
    /// The Lease.
    #[serde(serialize_with = "key")]
    pub lease: ObjectKey,
    /// The name of this replica.
    pub identity: String,
    /// Whether this replica leads.
    pub leads: bool,
    /// Who holds the lease, as far as this replica has seen; `None` if nobody does.
    pub holder: Option<String>,
    /// Since when, by the clock of the holder, as the Lease says it (`acquireTime`).
    pub since: Option<String>,
    /// `leaseTransitions` of the Lease.
    pub transitions: u32,
    /// How many times this replica has begun to lead.
    pub terms: u64,
    /// What went wrong, until an attempt succeeds.
    pub failure: Option<ElectionFailure>,
    /// Why this replica has ended, if it has.
    pub ended: Option<String>,
}

/// Requests for the Lease have failed.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ElectionFailure {
    /// The last failure, in words.
    pub message: String,
    /// How many requests have failed in a row.
    pub count: u64,
    /// How long ago the last one did.
    #[serde(serialize_with = "seconds")]
    pub ago: Duration,
}

impl ElectionStatus {
    pub(super) fn of(shared: &Shared) -> Self {
        let state = shared.lock();
        let now = shared.clock.now();
        let record = state.machine.seen().map(|lease| &lease.record);
        let since = record.filter(|record| !record.holder.is_empty());
        let failure = |Failed { message, count, at }: &Failed| ElectionFailure {
            message: message.clone(),
            count: *count,
            ago: now.since(*at),
        };
        Self {
            lease: shared.lease.clone(),
            identity: shared.identity.clone(),
            leads: state.machine.is_leader(now),
            holder: state.machine.holder().map(str::to_owned),
            since: since.map(|record| record.acquired.clone()),
            transitions: record.map_or(0, |record| record.transitions),
            terms: state.machine.terms(),
            failure: state.failure.as_ref().map(failure),
            ended: state.reason().map(str::to_owned),
        }
    }
}

fn key<S: Serializer>(key: &ObjectKey, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(key.as_str())
}

impl ElectionStatus {
    /// Explains the status in sentences: who leads, and what keeps this replica from it.
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        let Self {
            lease, identity, ..
        } = self;
        let mut sentences = vec![match (&self.ended, self.leads, &self.holder) {
            (Some(reason), ..) => format!("This replica, {identity}, has ended: {reason}."),
            (None, true, _) => format!("This replica, {identity}, leads: it holds Lease {lease}."),
            (None, false, Some(holder)) => {
                let holder = Printable(holder);
                format!(
                    "{holder} holds Lease {lease}; {identity} tries until that one lets go of it."
                )
            }
            (None, false, None) => {
                format!("Nobody holds Lease {lease}; {identity} tries to get it.")
            }
        }];
        sentences.extend(self.failure.as_ref().map(|failure| format!("{failure}.")));
        sentences
    }
}

impl fmt::Display for ElectionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            lease, identity, ..
        } = self;
        match &self.holder {
            None => write!(f, "nobody holds Lease {lease}; {identity} ")?,
            Some(holder) => {
                let since = self.since.as_deref().unwrap_or_default();
                let (holder, since) = (Printable(holder), Printable(since));
                write!(f, "{holder} holds Lease {lease} since {since}; {identity} ")?;
            }
        }
        match (&self.ended, self.leads) {
            (Some(reason), _) => write!(f, "has ended: {reason}")?,
            (None, true) => write!(f, "leads, with token {}", self.transitions)?,
            (None, false) => f.write_str("does not lead")?,
        }
        match &self.failure {
            None => Ok(()),
            Some(failure) => write!(f, "; {failure}"),
        }
    }
}

impl fmt::Display for ElectionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            message,
            count,
            ago,
        } = self;
        let (requests, ago) = (counted(*count, "request"), roughly(*ago));
        write!(f, "{requests} failed, the last one {ago} ago: {message}")
    }
}

/// The replica has ended, so it will not lead any more.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ElectionStopped {
    /// The Lease.
    pub lease: ObjectKey,
    /// Why it has ended, for people.
    pub reason: String,
}

impl ElectionStopped {
    pub(super) fn new(shared: &Shared, reason: &str) -> Self {
        Self {
            lease: shared.lease.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl fmt::Display for ElectionStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lease, reason } = self;
        write!(f, "the election for Lease {lease} has ended here: {reason}")
    }
}

impl std::error::Error for ElectionStopped {}
