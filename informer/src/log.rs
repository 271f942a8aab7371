//! Log events.
//!
//! A `tracing` subscriber is user code and may call the informer. So events are collected under the lock
//! and emitted after it is released.

use std::sync::Arc;
use std::time::Duration;

use informer_core::ObjectKey;
use informer_core::failure::Printable;
use informer_core::informer::RejectedObject;
use informer_core::processor::ListenerId;
use informer_core::reflector::{LastFailure, Phase};

use crate::runtime::RuntimeError;
use crate::status::GONE;
use crate::words::roughly;

/// An event that waits for the lock to be released.
pub(crate) enum Log {
    Broken(String),
    Lost(RuntimeError),
    HandlerLost(ListenerId),
    Dropped {
        handlers: usize,
        waiting: usize,
    },
    Failed {
        last: LastFailure<String>,
        /// The source, if there are several.
        source: Option<Arc<str>>,
    },
    Gone {
        is_gone: bool,
        objects: usize,
        next_try: Duration,
        source: Option<Arc<str>>,
    },
    StoppedWhenGone,
    Phase {
        phase: Phase,
        version: String,
        source: Option<Arc<str>>,
    },
    Synced {
        objects: usize,
    },
    Rejected {
        object: RejectedObject<ObjectKey, String>,
        not_logged: Option<u64>,
    },
}

impl Log {
    pub(crate) fn say(&self, informer: &str) {
        match self {
            Self::Broken(panic) => tracing::error!(informer, panic, "stopped by a panic"),
            Self::Lost(reason) => tracing::error!(informer, %reason, "the informer was lost"),
            Self::HandlerLost(handler) => tracing::error!(
                informer,
                ?handler,
                reason = %RuntimeError::ended(),
                "a handler was lost"
            ),
            Self::Dropped { handlers, waiting } => tracing::warn!(
                informer,
                handlers,
                waiting,
                "the last handle of an informer was dropped while handlers were there or tasks waited for \
                 it; keep a handle or a lister, or end it with `stop`"
            ),
            Self::Failed { last, source } => tracing::warn!(
                informer,
                source = source.as_deref(),
                failure = %last.failure,
                detail = last.message,
                "list or watch failed"
            ),
            Self::Gone {
                is_gone: true,
                objects,
                next_try,
                source,
            } => tracing::warn!(
                informer,
                source = source.as_deref(),
                objects,
                next_try = roughly(*next_try),
                "the server does not serve this kind (404); it may not be installed yet"
            ),
            Self::Gone {
                objects, source, ..
            } => tracing::info!(
                informer,
                source = source.as_deref(),
                objects,
                "the server serves this kind again"
            ),
            Self::StoppedWhenGone => {
                tracing::warn!(informer, reason = GONE, "the informer has ended")
            }
            Self::Phase {
                phase,
                version,
                source,
            } => tracing::info!(
                informer,
                source = source.as_deref(),
                ?phase,
                version = %Printable(version),
                "phase"
            ),
            Self::Synced { objects } => tracing::info!(informer, objects, "synced"),
            Self::Rejected { object, not_logged } => tracing::warn!(
                informer,
                key = object.key.as_ref().map(|key| tracing::field::display(Printable(key.as_str()))),
                version = %Printable(object.version.as_deref().unwrap_or_default()),
                reason = object.reason,
                not_logged,
                "an object could not be used"
            ),
        }
    }
}
