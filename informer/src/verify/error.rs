//! Why a cache could not be compared with the server.

use std::fmt;
use std::time::Duration;

use informer_core::Failure;

use crate::connect::ConnectError;

use super::ATTEMPTS;
use super::listing::Unlisted;

/// A cache could not be compared with the server: see [`SharedInformer::verify`].
///
/// [`SharedInformer::verify`]: crate::SharedInformer::verify
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotVerified {
    /// The client has no transport for the resource.
    Connect(ConnectError),
    /// The cache did not show the state of one version in time, or the informer has ended.
    NoState {
        /// The resource, namespace and selectors that the informer follows.
        name: String,
        /// The timeout of the call.
        waited: Duration,
        /// The version that the cache showed, if the server no longer has it.
        expired: Option<String>,
        /// What the informer is doing, for people.
        reason: String,
    },
    /// The server's state could not be read.
    Failed {
        /// The resource, namespace and selectors that the informer follows.
        name: String,
        /// The version that the server was asked for.
        version: String,
        /// The class of the failure.
        failure: Failure,
        /// The message of the server or the transport.
        message: String,
    },
    /// The server answered with the state of another version.
    OtherVersion {
        /// The resource, namespace and selectors that the informer follows.
        name: String,
        /// The version that the server was asked for.
        version: String,
        /// The version of its answer.
        answered: String,
    },
    /// The server's state was not read in time.
    InTime {
        /// The resource, namespace and selectors that the informer follows.
        name: String,
        /// The version that the server was asked for.
        version: String,
        /// The timeout of the call.
        waited: Duration,
    },
}

impl NotVerified {
    pub(super) fn of_list(
        unlisted: Unlisted,
        name: String,
        version: String,
        waited: Duration,
    ) -> Self {
        match unlisted {
            Unlisted::Failed { failure, message } => Self::Failed {
                name,
                version,
                failure,
                message,
            },
            Unlisted::OtherVersion { answered } => Self::OtherVersion {
                name,
                version,
                answered,
            },
            Unlisted::TimedOut => Self::InTime {
                name,
                version,
                waited,
            },
        }
    }
}

impl From<ConnectError> for NotVerified {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl fmt::Display for NotVerified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            Self::NoState {
                name,
                waited,
                expired,
                reason,
            } => {
                write!(f, "{name} cannot be compared with the server: ")?;
                match expired {
                    Some(version) => write!(
                        f,
                        "the server no longer has version {version}, and the cache showed no newer one \
                         within {waited:?}: {reason}"
                    ),
                    None => write!(
                        f,
                        "the cache showed no complete state within {waited:?}: {reason}"
                    ),
                }
            }
            Self::Failed {
                name,
                version,
                failure: Failure::Expired,
                message,
            } => write!(
                f,
                "{name} cannot be compared with the server: it discarded version {version} before its \
                 state was read, as it did with the versions before it ({ATTEMPTS} attempts): {message}; try \
                 again, or compare less with a namespace"
            ),
            Self::Failed {
                name,
                version,
                failure,
                message,
            } => {
                write!(
                    f,
                    "{name} cannot be compared with the server: its state at version {version} could not \
                     be read: {failure}"
                )?;
                if message.is_empty() {
                    return Ok(());
                }
                write!(f, " ({message})")
            }
            Self::OtherVersion {
                name,
                version,
                answered,
            } => write!(
                f,
                "{name} cannot be compared with the server: it was asked for version {version} and \
                 answered with version {answered:?}; it does not support `resourceVersionMatch=Exact`"
            ),
            Self::InTime {
                name,
                version,
                waited,
            } => write!(
                f,
                "{name} cannot be compared with the server: its state at version {version} was not read \
                 within {waited:?}; allow more time, or compare less with a namespace"
            ),
        }
    }
}

impl std::error::Error for NotVerified {}
