//! What can go wrong for whoever asks.

use std::fmt;
use std::time::Duration;

use informer_core::indexer::IndexError;
use informer_core::informer::{AddListenerError, RejectedObject};
use informer_core::reflector::{InvalidConfig, Phase};
use informer_core::transport::InvalidTarget;
use informer_core::{NotComparable, ObjectKey};
use informer_indexers::selector::SelectorError;

use crate::connect::ConnectError;
use crate::runtime::RuntimeError;
use crate::status::{HandlerStatus, Status};
use crate::words::{counted, roughly};

/// An informer was not started, or a handler was not added to it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The informer has ended.
    Ended {
        /// What it followed.
        name: String,
        /// Why, in words.
        reason: String,
    },
    /// There is no room for another handler.
    Handler(AddListenerError),
    /// The runtime cannot run the task.
    Runtime(RuntimeError),
}

impl From<RuntimeError> for StartError {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended { name, reason } => {
                write!(f, "{name} has ended, make a new one: {reason}")
            }
            Self::Handler(error) => error.fmt(f),
            Self::Runtime(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

/// An index was not added to an informer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddIndexError {
    /// The store does not take it.
    Index(IndexError),
    /// Its function panicked.
    Panicked {
        /// The name of the index.
        name: String,
        /// What it said then.
        panic: String,
    },
}

impl From<IndexError> for AddIndexError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl fmt::Display for AddIndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt(f),
            Self::Panicked { name, panic } => {
                write!(f, "the function of the index {name:?} panicked: {panic}")
            }
        }
    }
}

impl std::error::Error for AddIndexError {}

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
    /// How the informer was doing then; `None` if it was dropped.
    pub status: Option<Box<Status>>,
}

impl NotSynced {
    pub(crate) fn of(status: Status, waited: Duration) -> Self {
        Self {
            reason: status.reason(),
            name: status.name.clone(),
            waited,
            status: Some(Box::new(status)),
        }
    }

    /// A handler of an informer that was dropped.
    pub(crate) fn of_none(name: String, waited: Duration) -> Self {
        Self {
            name,
            waited,
            reason: "the informer was dropped".to_owned(),
            status: None,
        }
    }

    pub(crate) fn of_handler(
        status: Status,
        handler: Option<HandlerStatus>,
        waited: Duration,
    ) -> Self {
        let runs = status.phase != Phase::Stopped;
        let reason = match handler {
            None => Some("the handler was removed".to_owned()),
            Some(handler) if runs && handler.lost => Some(format!(
                "the task of the handler was lost: {}",
                RuntimeError::ended()
            )),
            Some(handler) if runs && status.synced => {
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
                Some(format!(
                    "the store is, but {notifications} {waits} for the handler{blocked}"
                ))
            }
            Some(_) => None,
        };
        let error = Self::of(status, waited);
        match reason {
            Some(reason) => Self { reason, ..error },
            None => error,
        }
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
        /// The version that it has reached; `None` before the first full state.
        reached: Option<String>,
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
            } => {
                write!(
                    f,
                    "{name} has not reached version {version} after {waited:?}, "
                )?;
                match reached {
                    Some(reached) => write!(f, "it is at {reached:?}: {reason}"),
                    None => write!(f, "it has no state yet: {reason}"),
                }
            }
        }
    }
}

impl std::error::Error for NotReached {}

/// Why an informer could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration cannot work.
    Config(InvalidConfig),
    /// An index cannot be added.
    Index(AddIndexError),
    /// It was made, but could not be started.
    Start(StartError),
    /// The group, the version, the resource or the namespace has a name that none can have.
    Target(InvalidTarget),
    /// A label or field selector cannot be read.
    Selector {
        /// What was given.
        selector: String,
        /// What is wrong with it.
        error: SelectorError,
    },
    /// There is no transport for the target.
    Connect(ConnectError),
}

impl From<ConnectError> for BuildError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<InvalidTarget> for BuildError {
    fn from(error: InvalidTarget) -> Self {
        Self::Target(error)
    }
}

impl From<InvalidConfig> for BuildError {
    fn from(error: InvalidConfig) -> Self {
        Self::Config(error)
    }
}

impl From<IndexError> for BuildError {
    fn from(error: IndexError) -> Self {
        Self::Index(error.into())
    }
}

impl From<AddIndexError> for BuildError {
    fn from(error: AddIndexError) -> Self {
        Self::Index(error)
    }
}

impl From<StartError> for BuildError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Index(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
            Self::Connect(error) => error.fmt(f),
            Self::Target(error) => error.fmt(f),
            Self::Selector { selector, error } => {
                write!(f, "the selector {selector:?} cannot be read: {error}")
            }
        }
    }
}

impl std::error::Error for BuildError {}
