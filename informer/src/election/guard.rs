//! Proof of leadership.

use std::fmt;
use std::sync::Arc;

use informer_core::Instant;

use super::shared::{Shared, State};
use super::wait::Wait;

/// Says whether this replica still leads, in the term in which the guard was taken. If leadership is lost and
/// regained, the guard says no: the work must begin anew.
///
/// A guard does not keep the replica leading.
#[derive(Clone)]
pub struct Guard {
    shared: Arc<Shared>,
    term: u64,
    token: u32,
}

impl Guard {
    /// A guard for the current term, if there is one.
    pub(super) fn of(shared: &Arc<Shared>) -> Option<Self> {
        let state = shared.lock();
        let guard = Self::from_state(shared, &state, Instant::default());
        drop(state);
        // The clock is read last, so that the answer is not older than the lock took.
        guard.filter(Self::holds)
    }

    pub(super) fn from_state(shared: &Arc<Shared>, state: &State, now: Instant) -> Option<Self> {
        let token = state.machine.fencing_token(now)?;
        Some(Self {
            shared: Arc::clone(shared),
            term: state.machine.terms(),
            token,
        })
    }

    /// Whether this replica leads now, in the same term. Ask before each step of the work; the clock is read at
    /// each call. It says no at the [renew deadline](super::ElectionConfig::renew_deadline), even if no answer
    /// of the server has come and no task has run.
    #[must_use]
    pub fn holds(&self) -> bool {
        let until = self.shared.lock().leads_until(self.term);
        // The clock is read after the lock was taken: that may take a while.
        until.is_some_and(|until| self.shared.clock.now() < until)
    }

    /// A number that grows with each term of any replica (`leaseTransitions` of the Lease). Send it along with
    /// what you write elsewhere, and let the receiver refuse smaller numbers than it has seen: then even a
    /// request that was delayed for long does no harm.
    ///
    /// If somebody deletes the Lease, it may start from zero again.
    #[must_use]
    pub const fn fencing_token(&self) -> u32 {
        self.token
    }

    /// Waits until the guard says no.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        Wait::for_end_of(&self.shared, self.term)
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("lease", &self.shared.lease)
            .field("token", &self.token)
            .field("holds", &self.holds())
            .finish()
    }
}
