//! What workers have, and what came of it.

use std::time::Duration;

use informer_core::Instant;

use super::Key;
use super::status::{ControllerStatus, Working};
use crate::meters::QueueMeters;

/// What came of a key.
pub(super) enum Outcome {
    Done,
    After(Duration),
    Retry,
    GiveUp,
    /// It was not finished, and this is not its fault.
    PutBack,
}

/// The keys that workers have, and counters of what came of the others.
pub(super) struct Work<Q> {
    /// The keys that workers have, and since when.
    working: Vec<(Q, Instant)>,
    pub(super) retries: u64,
    pub(super) panics: u64,
    succeeded: u64,
    requeued: u64,
    failed: u64,
    given_up: u64,
    /// Set while somebody looks at the metrics.
    meters: Option<QueueMeters>,
}

impl<Q: Key> Work<Q> {
    pub(super) const fn new() -> Self {
        Self {
            working: Vec::new(),
            retries: 0,
            panics: 0,
            succeeded: 0,
            requeued: 0,
            failed: 0,
            given_up: 0,
            meters: None,
        }
    }

    /// Measures from now on.
    #[cfg(feature = "metrics")]
    pub(super) fn measure(&mut self) -> &QueueMeters {
        self.meters.get_or_insert_default()
    }

    /// A worker takes a key that was queued for this long.
    pub(super) fn begin(&mut self, key: Q, queued: Duration, now: Instant) {
        self.working.push((key, now));
        if let Some(meters) = &mut self.meters {
            meters.queued.observe_time(queued);
        }
    }

    /// A worker has finished a key.
    pub(super) fn end(&mut self, key: &Q, outcome: &Outcome, now: Instant) {
        let at = self.working.iter().position(|(taken, _)| taken == key);
        let since = at.map(|at| self.working.remove(at).1);
        if let (Some(meters), Some(since)) = (&mut self.meters, since) {
            let time = now.since(since);
            meters.worked.observe_time(time);
            if !matches!(outcome, Outcome::PutBack) {
                meters.reconciled.observe_time(time);
            }
        }
        match outcome {
            Outcome::Done => self.succeeded += 1,
            Outcome::After(_) => {
                self.succeeded += 1;
                self.requeued += 1;
                self.retries += 1;
            }
            Outcome::Retry => {
                self.failed += 1;
                self.retries += 1;
            }
            Outcome::GiveUp => {
                self.failed += 1;
                self.given_up += 1;
            }
            Outcome::PutBack => {}
        }
    }

    /// The status of a queue that is empty and has no workers.
    pub(super) fn status(&self, now: Instant) -> ControllerStatus<Q> {
        let working = self.working.iter().map(|(key, since)| Working {
            key: key.clone(),
            time: now.since(*since),
        });
        ControllerStatus {
            name: String::new(),
            queued: 0,
            delayed: 0,
            adds: 0,
            retries: self.retries,
            workers: 0,
            working: working.collect(),
            succeeded: self.succeeded,
            requeued: self.requeued,
            failed: self.failed,
            panics: self.panics,
            given_up: self.given_up,
            leads: None,
            stopped: false,
        }
    }
}
