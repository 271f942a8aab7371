//! One source of an informer: its transport, and what the oracle knows about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use informer_core::transport::Signal;
use informer_core::{Instant, SourceId};

use super::interest::Interest;
use super::relists::Relists;
use super::requests::Requests;
use crate::transport::MockTransport;

/// One source of an informer: its transport, and what the oracle knows about it.
pub(super) struct Line {
    pub(super) id: SourceId,
    pub(super) interest: Interest,
    pub(super) transport: MockTransport,
    pub(super) bell: Bell,
    pub(super) requests: Requests,
    pub(super) witness: Witness,
    /// The source was removed. What the transport still delivers must change nothing.
    pub(super) is_removed: bool,
    /// Nothing is delivered for now.
    pub(super) lags: bool,
}

impl Line {
    pub(super) fn new(id: SourceId, interest: Interest, transport: MockTransport) -> Self {
        Self {
            id,
            interest,
            transport,
            bell: Bell::default(),
            requests: Requests::default(),
            witness: Witness {
                relists: Relists::new(),
                heard: None,
                has_failed: false,
            },
            is_removed: false,
            lags: false,
        }
    }

    /// Breaks the connection.
    pub(super) fn cut(&mut self) {
        self.bell.is_awaited = false;
        self.transport.reset();
    }
}

/// Checks that the transport wakes its task.
#[derive(Default)]
pub(super) struct Bell {
    rung: Arc<Rung>,
    /// The transport had nothing and registered a wake-up.
    pub(super) is_awaited: bool,
}

/// Remembers a wake-up.
#[derive(Default)]
struct Rung(AtomicBool);

impl Wake for Rung {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Bell {
    pub(super) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.rung))
    }

    /// The transport had nothing.
    pub(super) fn wait(&mut self) {
        if !self.is_awaited {
            self.rung.0.store(false, Ordering::Relaxed);
        }
        self.is_awaited = true;
    }

    /// The transport has something. Returns whether it should have rung, and has not.
    pub(super) fn was_missed(&mut self) -> bool {
        std::mem::take(&mut self.is_awaited) && !self.rung.0.load(Ordering::Relaxed)
    }
}

/// What the informer has taken from a source.
pub(super) struct Witness {
    pub(super) relists: Relists,
    /// When it last took something that was not a failure.
    heard: Option<Instant>,
    /// Whether the last answer was a failure.
    has_failed: bool,
}

impl Witness {
    /// The informer has taken a signal of the current exchange, the first `used` of its bytes.
    pub(super) fn signal(&mut self, signal: &Signal<'_>, used: usize, now: Instant) {
        match signal {
            Signal::Opened(_) | Signal::Bytes(_) => {
                (self.heard, self.has_failed) = (Some(now), false);
            }
            Signal::Failed { .. } => self.has_failed = true,
            Signal::Closed => {}
        }
        self.relists.signal(signal, used, now);
    }

    /// Checks a claim that the full state is known.
    pub(super) fn check_synced(&self) -> Result<(), &'static str> {
        match self.relists.has_full_state() {
            true => Ok(()),
            false => Err("has sent no full state"),
        }
    }

    /// Checks a claim that changes are followed, and that something came `within` this time.
    pub(super) fn check_fresh(&self, within: Duration, now: Instant) -> Result<(), &'static str> {
        self.check_synced()?;
        match self.heard {
            _ if self.has_failed => Err("has failed"),
            Some(heard) if now.since(heard) <= within => Ok(()),
            _ => Err("is silent"),
        }
    }
}
