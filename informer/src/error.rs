//! What can go wrong for whoever asks.

use std::fmt;
use std::time::Duration;

use informer_core::informer::RejectedObject;
use informer_core::reflector::Phase;
use informer_core::{NotComparable, ObjectKey};

use crate::status::{HandlerStatus, Status};
use crate::words::{counted, roughly};

/// An informer, or a handler of it, was not synced in time, or never will be. It says why.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct NotSynced {
    /// What the informer follows.
    pub name: String,
    /// How long somebody waited.
    pub waited: Duration,
    /// Why, in words.
    pub reason: String,
    /// How the informer was doing then.
    pub status: Box<Status>,
}

impl NotSynced {
    pub(crate) fn of(status: Status, waited: Duration) -> Self {
        Self {
            reason: status.reason(),
            name: status.name.clone(),
            waited,
            status: Box::new(status),
        }
    }

    pub(crate) fn of_handler(
        status: &Status,
        handler: Option<HandlerStatus>,
        waited: Duration,
    ) -> Self {
        let error = Self::of(status.clone(), waited);
        let reason = match handler {
            None => "the handler was removed".to_owned(),
            Some(handler) if status.synced && status.phase != Phase::Stopped => {
                let waits = if handler.pending == 1 {
                    "waits"
                } else {
                    "wait"
                };
                let notifications = counted(handler.pending, "notification");
                let blocked = handler.in_call.map_or(String::new(), |time| {
                    let time = roughly(time);
                    format!(", whose present call has not returned for {time}")
                });
                format!("the store is, but {notifications} {waits} for the handler{blocked}")
            }
            Some(_) => return error,
        };
        Self { reason, ..error }
    }
}

impl fmt::Display for NotSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            waited,
            reason,
            ..
        } = self;
        write!(f, "{name} is not synced after {waited:?}: {reason}")
    }
}

impl std::error::Error for NotSynced {}

/// A version was not reached.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum NotReached {
    /// Versions can be compared only if they are decimal numbers.
    NotComparable {
        /// The version waited for.
        version: String,
    },
    /// An object was left out because it could not be used, and the version may be that of a write to
    /// it: the store does not show that write. Of an object that came in a full state it is only known
    /// between which versions its writes are, so it may be another object than the one written to.
    Rejected {
        /// The version waited for.
        version: String,
        /// What the informer follows.
        name: String,
        /// What was left out, and why.
        object: Box<RejectedObject<ObjectKey, String>>,
    },
    /// It was not reached in time, or never will be.
    InTime {
        /// The version waited for.
        version: String,
        /// What the informer follows.
        name: String,
        /// How long somebody waited.
        waited: Duration,
        /// The version that it has reached.
        reached: String,
        /// What it is doing, in words.
        reason: String,
    },
}

impl fmt::Display for NotReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotComparable { version } => {
                write!(f, "cannot wait for version {version:?}: {NotComparable}")
            }
            Self::Rejected {
                version,
                name,
                object,
            } => write!(
                f,
                "{name} does not show version {version}: {object}; mend the object, or what refuses it"
            ),
            Self::InTime {
                version,
                name,
                waited,
                reached,
                reason,
            } => write!(
                f,
                "{name} has not reached version {version} after {waited:?}, it is at {reached:?}: {reason}"
            ),
        }
    }
}

impl std::error::Error for NotReached {}
