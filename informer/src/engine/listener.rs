//! The part of a handler that the core does not know: its name, its task and its progress.

use std::sync::Arc;
use std::task::Waker;

use informer_core::Instant;
use informer_core::processor::{ListenerId, ListenerStatus};

use super::State;
use crate::handler::Progress;
use crate::status::HandlerStatus;
use crate::sync::AtomicBool;

/// A handler or a stream.
pub(super) struct Listener {
    name: &'static str,
    /// Whether it only looks on: nobody relies on it.
    pub(super) looks_on: bool,
    /// Whether it was removed, or the informer was stopped. Read before every call of the handler, without
    /// the lock: the driver holds the lock nearly all the time while it decodes.
    pub(super) over: Arc<AtomicBool>,
    /// Whether it is paused, or the informer is suspended. Read as `over`.
    pub(super) held: Arc<AtomicBool>,
    pub(super) progress: Arc<Progress>,
    pub(super) waker: Option<Waker>,
    /// Since when it has had something to do without a break.
    pub(super) busy_since: Option<Instant>,
    /// Since when its next batch has been ready, while this is measured.
    pub(super) ready_since: Option<Instant>,
    pub(super) panics: u64,
    pub(super) synced: bool,
    /// The last status, if its task was dropped before it finished.
    pub(super) lost: Option<ListenerStatus>,
}

/// The parts of a listener that its task needs.
pub(crate) struct Listening {
    pub(crate) id: ListenerId,
    pub(crate) over: Arc<AtomicBool>,
    pub(crate) held: Arc<AtomicBool>,
    pub(crate) progress: Arc<Progress>,
}

impl Listener {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            looks_on: false,
            over: Arc::default(),
            held: Arc::default(),
            progress: Arc::default(),
            waker: None,
            busy_since: None,
            ready_since: None,
            panics: 0,
            synced: false,
            lost: None,
        }
    }

    pub(super) fn listening(&self, id: ListenerId) -> Listening {
        Listening {
            id,
            over: Arc::clone(&self.over),
            held: Arc::clone(&self.held),
            progress: Arc::clone(&self.progress),
        }
    }

    /// The core counts notifications as delivered when the task takes them, before the handler is called.
    fn status(&self, id: ListenerId, core: ListenerStatus, now: Instant) -> HandlerStatus {
        let taken = self.progress.taken();
        HandlerStatus {
            id: id.number(),
            name: self.name,
            pending: core.pending + taken,
            delivered: core.delivered.saturating_sub(taken as u64),
            coalesced: core.coalesced,
            synced: core.synced,
            panics: self.panics,
            stalls: core.stalls,
            paused: core.paused,
            in_call: self.progress.in_call(now).filter(|_| self.lost.is_none()),
            waited: self.busy_since.map(|since| now.since(since)),
            lost: self.lost.is_some(),
            looks_on: self.looks_on,
        }
    }
}

impl<K: Send + Sync + 'static> State<K> {
    pub(crate) fn handlers(&self, now: Instant) -> Vec<HandlerStatus> {
        let ids = self.listeners.keys();
        ids.filter_map(|id| self.handler(*id, now)).collect()
    }

    pub(crate) fn handler(&self, id: ListenerId, now: Instant) -> Option<HandlerStatus> {
        let listener = self.listeners.get(&id)?;
        let core = listener.lost.or_else(|| self.core.listener_status(id))?;
        Some(listener.status(id, core, now))
    }
}
