//! What the handles, the guards and the driver share.

use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Duration;

use informer_core::election::Election as Machine;
use informer_core::{Clock, Instant, ObjectKey, Wakers};

use crate::sync::{Mutex, MutexGuard};

pub(super) struct Shared {
    pub(super) lease: ObjectKey,
    pub(super) identity: String,
    /// How long to wait for a release.
    pub(super) patience: Duration,
    pub(super) clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

pub(super) struct State {
    pub(super) machine: Machine,
    /// The last failure, until an attempt succeeds.
    pub(super) failure: Option<Failed>,
    /// Tasks that wait for leadership, or its end.
    pub(super) waiting: Wakers,
    pub(super) driver: Option<Waker>,
    /// Whether somebody has asked to stop.
    pub(super) stopping: bool,
    /// Why the driver has ended before it was stopped.
    pub(super) broken: Option<String>,
}

pub(super) struct Failed {
    pub(super) message: String,
    /// How many requests have failed in a row.
    pub(super) count: u64,
    /// When the last one did.
    pub(super) at: Instant,
}

impl Shared {
    pub(super) fn new(
        lease: ObjectKey,
        identity: String,
        patience: Duration,
        clock: Arc<dyn Clock>,
        machine: Machine,
    ) -> Self {
        let state = State {
            machine,
            failure: None,
            waiting: Wakers::default(),
            driver: None,
            stopping: false,
            broken: None,
        };
        Self {
            lease,
            identity,
            patience,
            clock,
            state: Mutex::new(state),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes the tasks that the change concerns.
    pub(super) fn update<R>(&self, change: impl FnOnce(&mut State, Instant) -> R) -> R {
        let mut state = self.lock();
        let now = self.clock.now();
        let before = state.facts();
        let result = change(&mut state, now);
        let woken = match state.facts() == before {
            true => Vec::new(),
            false => state.waiting.take(),
        };
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        result
    }

    /// Stops the replica. The driver then gives the lease up.
    pub(super) fn stop(&self) {
        let driver = self.update(|state, now| {
            state.stopping = true;
            state.machine.stop(now);
            state.driver.take()
        });
        driver.into_iter().for_each(Waker::wake);
    }

    /// The driver has ended, unless it was stopped: nobody renews the lease.
    pub(super) fn break_off(&self, reason: impl FnOnce() -> String) {
        self.update(|state, now| {
            if !state.has_ended() {
                state.broken = Some(reason());
                state.machine.stop(now);
            }
        });
    }
}

impl State {
    /// Until when this replica leads if it cannot renew, provided that it is still in this term.
    pub(super) fn leads_until(&self, term: u64) -> Option<Instant> {
        let is_current = self.machine.terms() == term;
        self.machine.leads_until().filter(|_| is_current)
    }

    /// Whether nothing more will happen.
    pub(super) fn has_ended(&self) -> bool {
        self.machine.is_stopped() || self.broken.is_some()
    }

    /// Why this replica will not lead again, if so.
    pub(super) fn reason(&self) -> Option<&str> {
        let stopped = self.stopping.then_some("it was stopped");
        self.broken.as_deref().or(stopped)
    }

    /// What tasks wait for.
    fn facts(&self) -> (bool, u64, bool, bool) {
        (
            self.machine.leads_until().is_some(),
            self.machine.terms(),
            self.stopping,
            self.has_ended(),
        )
    }
}
