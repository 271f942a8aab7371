//! Log events.
//!
//! A `tracing` subscriber is user code, so nothing is logged under the lock.

use informer_core::Instant;

use super::shared::{Shared, State};
use crate::sparing::{Say, Sparing};

/// Logs what changes, once.
#[derive(Default)]
pub(super) struct Log {
    led: bool,
    said: Option<String>,
    /// Limits lines about failures that differ each time.
    failures: Sparing,
}

/// Whether this replica leads, and why not.
pub(super) struct Lead {
    token: Option<u32>,
    holder: Option<String>,
    stopping: bool,
}

impl Lead {
    pub(super) fn of(state: &State) -> Self {
        let leads = state.machine.leads_until().is_some();
        let seen = state.machine.seen().filter(|_| leads);
        Self {
            token: seen.map(|lease| lease.record.transitions),
            holder: state.machine.holder().map(str::to_owned),
            stopping: state.stopping,
        }
    }
}

impl Log {
    /// Logs that leadership has begun or ended.
    pub(super) fn lead(&mut self, shared: &Shared, lead: Lead) {
        let leads = lead.token.is_some();
        if leads == self.led {
            return;
        }
        self.led = leads;
        let Shared {
            lease, identity, ..
        } = shared;
        let Lead { token, holder, .. } = lead;
        match (token, lead.stopping) {
            (Some(token), _) => tracing::info!(%lease, identity, token, "this replica leads"),
            (None, true) => tracing::info!(%lease, identity, "this replica gives up leadership"),
            (None, false) => tracing::warn!(%lease, identity, holder, "leadership was lost"),
        }
    }

    /// Logs a failure, unless it is the same as before.
    pub(super) fn failure(&mut self, shared: &Shared, failure: &str, now: Instant) {
        if self.said.as_deref() == Some(failure) {
            return;
        }
        self.said = Some(failure.to_owned());
        let Shared {
            lease, identity, ..
        } = shared;
        if let Some(Say { not_logged }) = self.failures.say(now) {
            tracing::warn!(%lease, identity, failure, not_logged, "a request for the lease failed");
        }
    }
}
