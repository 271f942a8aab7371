//! What is said in the log.
//!
//! A subscriber is the user's code, and may ask the informer. So what is to be said is collected under
//! the lock, and said when that has been given back.

use informer_core::ObjectKey;
use informer_core::failure::Printable;
use informer_core::informer::RejectedObject;
use informer_core::processor::ListenerId;
use informer_core::reflector::{LastFailure, Phase};

use crate::runtime::RuntimeError;

/// Something to be said.
pub(crate) enum Log {
    Broken(String),
    Lost(RuntimeError),
    HandlerLost(ListenerId),
    Failed(LastFailure<String>),
    Phase {
        phase: Phase,
        version: String,
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
            Self::Failed(last) => tracing::warn!(
                informer,
                failure = %last.failure,
                detail = last.message,
                "the server could not be followed"
            ),
            Self::Phase { phase, version } => {
                tracing::info!(informer, ?phase, version = %Printable(version), "phase");
            }
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
