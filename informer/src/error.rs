//! Error types.

use std::fmt;
use std::time::Duration;

use informer_core::indexer::{IndexError, UnknownIndex};
use informer_core::informer::{AddListenerError, AddSourceError, RejectedObject};
use informer_core::reflector::{InvalidConfig, Phase};
use informer_core::transport::InvalidTarget;
use informer_core::{NotComparable, ObjectKey};
use informer_indexers::selector::SelectorError;

use crate::connect::ConnectError;
use crate::factory::NotShared;
use crate::indices::NAMESPACE_INDEX;
use crate::runtime::RuntimeError;
use crate::status::{HandlerStatus, NEW_RUNTIME, Status};
use crate::words::{counted, roughly};

/// An informer could not be started, or a handler could not be added.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The informer has ended.
    Ended {
        /// The resource, namespace and selectors that it followed.
        name: String,
        /// Why it has ended, for people.
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
                write!(f, "{name} has ended: {reason}; build a new informer")
            }
            Self::Handler(error) => write!(f, "cannot add a handler: {error}"),
            Self::Runtime(error) => write!(f, "cannot start a task: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// An index could not be added to an informer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddIndexError {
    /// The cache rejects the index, for example because its name is taken.
    Index(IndexError),
    /// The name is that of the index by namespace, which every cache has.
    Reserved {
        /// The name of the index.
        name: String,
    },
    /// The index reads annotations, but the objects do not have them.
    NoAnnotations {
        /// The name of the index.
        name: String,
    },
    /// The index function panicked.
    Panicked {
        /// The name of the index.
        name: String,
        /// The message of the panic.
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
            Self::Reserved { name } => write!(
                f,
                "cannot add index {name:?}: every cache has an index by namespace under this name; \
                 choose another name"
            ),
            Self::NoAnnotations { name } => write!(
                f,
                "cannot add index {name:?}: it reads annotations, which typed objects of this kind do not \
                 keep; call `keep_annotations` on the builder, or index with a closure"
            ),
            Self::Panicked { name, panic } => {
                write!(
                    f,
                    "cannot add index {name:?}: its function panicked: {panic}"
                )
            }
        }
    }
}

impl std::error::Error for AddIndexError {}

/// An index could not be removed from an informer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RemoveIndexError {
    /// There is no such index.
    Unknown(UnknownIndex),
    /// It is the last index by namespace, and every cache has one.
    LastByNamespace {
        /// The name of the index.
        name: String,
    },
}

impl From<UnknownIndex> for RemoveIndexError {
    fn from(error: UnknownIndex) -> Self {
        Self::Unknown(error)
    }
}

impl fmt::Display for RemoveIndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::LastByNamespace { name } => {
                write!(
                    f,
                    "cannot remove index {name:?}: it is the last one by namespace, and every cache has one"
                )?;
                if name != NAMESPACE_INDEX {
                    write!(f, "; add {NAMESPACE_INDEX:?} first")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for RemoveIndexError {}

/// An informer or a handler did not sync: the timeout has passed, or it has ended.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct NotSynced {
    /// The resource, namespace and selectors that the informer follows.
    pub name: String,
    /// The timeout of the call.
    pub waited: Duration,
    /// Why it did not sync, for people.
    pub reason: String,
    /// The status of the informer at that moment; `None` if it was dropped.
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

    /// For a handler whose informer was dropped.
    pub(crate) fn of_none(name: String, waited: Duration) -> Self {
        Self {
            name,
            waited,
            reason: "the informer was dropped; keep a handle or a lister of it".to_owned(),
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
                "the task of the handler was lost: {}; {NEW_RUNTIME}",
                RuntimeError::ended()
            )),
            Some(handler) if runs && handler.paused => {
                Some("the handler is paused; call `resume` on its registration".to_owned())
            }
            Some(_) if status.phase == Phase::Suspended => None,
            Some(handler) if runs && status.synced => {
                let waits = if handler.pending == 1 {
                    "waits"
                } else {
                    "wait"
                };
                let notifications = counted(handler.pending, "notification");
                let blocked = handler.in_call.map_or(String::new(), |time| {
                    let time = roughly(time);
                    format!("; its current call has not returned for {time}")
                });
                Some(format!(
                    "the cache is synced, but {notifications} {waits} for the handler{blocked}"
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

/// The cache did not reach a version.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum NotReached {
    /// The version is not a decimal number, so it cannot be compared.
    NotComparable {
        /// The version waited for.
        version: String,
    },
    /// An object was rejected, and the version may belong to a write to it. The cache does not show that
    /// write.
    ///
    /// If the object came with a full state, only a range of versions is known for it. It may then be a
    /// different object from the one you wrote.
    Rejected {
        /// The version waited for.
        version: String,
        /// The resource, namespace and selectors that the informer follows.
        name: String,
        /// The rejected object, with the reason.
        object: Box<RejectedObject<ObjectKey, String>>,
    },
    /// The timeout has passed, or the informer has ended.
    InTime {
        /// The version waited for.
        version: String,
        /// The resource, namespace and selectors that the informer follows.
        name: String,
        /// The timeout of the call.
        waited: Duration,
        /// The version that the cache has reached; `None` before the first full state.
        reached: Option<String>,
        /// What the informer is doing, for people.
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
                "{name} cannot show version {version}: {object}; fix the object, or the code that rejects it"
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
                    "{name} has not reached version {version} after {waited:?}: "
                )?;
                match reached {
                    Some(reached) => write!(f, "it is at version {reached:?}; {reason}"),
                    None => write!(f, "it has no state yet; {reason}"),
                }
            }
        }
    }
}

impl std::error::Error for NotReached {}

/// An informer could not be built.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration is invalid.
    Config(InvalidConfig),
    /// An index cannot be added.
    Index(AddIndexError),
    /// The informer cannot be started.
    Start(StartError),
    /// The group, version, resource or namespace has an invalid name.
    Target(InvalidTarget),
    /// A label or field selector is invalid.
    Selector {
        /// The selector as you passed it.
        selector: String,
        /// What is wrong with it.
        error: SelectorError,
    },
    /// A source has another kind than the informer.
    OtherKind {
        /// What the source was to follow.
        source: String,
        /// The kind that the informer follows.
        kind: String,
    },
    /// The source cannot be added.
    Source(AddSourceError),
    /// There is no transport for the target.
    Connect(ConnectError),
    /// A factory has an informer for the same objects, but with other settings.
    NotShared(NotShared),
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
            Self::NotShared(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
            Self::OtherKind { source, kind } => write!(
                f,
                "an informer on {kind} cannot follow {source}: all its sources must have the same group, \
                 version and resource; build another informer for the other kind"
            ),
            Self::Target(error) => error.fmt(f),
            Self::Selector { selector, error } => {
                write!(f, "invalid selector {selector:?}: {error}")
            }
        }
    }
}

impl std::error::Error for BuildError {}
