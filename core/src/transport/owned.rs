//! Commands that own their texts, to keep them or to hand them to another task.

#[cfg(feature = "alloc")]
use alloc::string::{String, ToString as _};
#[cfg(feature = "alloc")]
use core::convert::Infallible;
use core::time::Duration;

use super::{At, Command, ExchangeId, Request};
use crate::storage::{Full, Text};

/// A [`Command`] that owns its texts. `X` is their type: `String`, or a string of fixed capacity.
///
/// ```
/// use informer_core::Instant;
/// use informer_core::reflector::{Reflector, ReflectorConfig};
/// use informer_core::storage::Heap;
/// use informer_core::transport::OwnedCommand;
///
/// let now = Instant::from_micros(0);
/// let mut reflector: Reflector<Heap> = Reflector::new(ReflectorConfig::new(), 42)?;
/// reflector.start(now);
/// let command = reflector.poll_command(now).unwrap();
/// let kept: OwnedCommand<String> = command.to_owned();
/// assert_eq!(kept.as_command(), command);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the same cases as `Command`")]
pub enum OwnedCommand<X> {
    /// See [`Command::Open`].
    Open {
        /// Identifies the signals of this exchange.
        exchange: ExchangeId,
        /// The request.
        request: OwnedRequest<X>,
    },
    /// See [`Command::Abort`].
    Abort(ExchangeId),
}

/// A [`Request`] that owns its texts.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the same cases as `Request`")]
pub enum OwnedRequest<X> {
    /// See [`Request::List`].
    List {
        /// The state to list.
        version: OwnedAt<X>,
        /// The most objects in this page; `None` for all of them.
        limit: Option<u32>,
        /// The token from the previous page.
        page: Option<X>,
    },
    /// See [`Request::Watch`].
    Watch {
        /// Send the events after this version.
        version: OwnedAt<X>,
        /// When the server should end the watch.
        timeout: Duration,
        /// Send the whole state first.
        initial_events: bool,
    },
}

/// An [`At`] that owns its text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the same cases as `At`")]
pub enum OwnedAt<X> {
    /// The newest state.
    Latest,
    /// Any state that the server has in memory.
    Any,
    /// A version seen before.
    Version(X),
}

impl<X: AsRef<str>> OwnedCommand<X> {
    /// Borrows the command, to execute it.
    #[must_use]
    pub fn as_command(&self) -> Command<'_> {
        match self {
            Self::Open { exchange, request } => Command::Open {
                exchange: *exchange,
                request: request.as_request(),
            },
            Self::Abort(exchange) => Command::Abort(*exchange),
        }
    }
}

impl<X: AsRef<str>> OwnedRequest<X> {
    /// Borrows the request.
    #[must_use]
    pub fn as_request(&self) -> Request<'_> {
        match self {
            Self::List {
                version,
                limit,
                page,
            } => Request::List {
                version: version.as_at(),
                limit: *limit,
                page: page.as_ref().map(AsRef::as_ref),
            },
            Self::Watch {
                version,
                timeout,
                initial_events,
            } => Request::Watch {
                version: version.as_at(),
                timeout: *timeout,
                initial_events: *initial_events,
            },
        }
    }
}

impl<X: AsRef<str>> OwnedAt<X> {
    /// Classifies the version of an object or a list.
    #[must_use]
    pub fn from_text(text: X) -> Self {
        match At::from_text(text.as_ref()) {
            At::Latest => Self::Latest,
            At::Any => Self::Any,
            At::Version(_) => Self::Version(text),
        }
    }

    /// Borrows the version.
    #[must_use]
    pub fn as_at(&self) -> At<'_> {
        match self {
            Self::Latest => At::Latest,
            Self::Any => At::Any,
            Self::Version(version) => At::Version(version.as_ref()),
        }
    }
}

impl Command<'_> {
    /// A copy that owns its texts.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_owned(self) -> OwnedCommand<String> {
        let Ok(owned) = self.copied(|text| Ok::<_, Infallible>(text.to_string()));
        owned
    }

    /// A copy with texts of another type, such as strings of fixed capacity.
    ///
    /// # Errors
    /// A text does not fit.
    pub fn try_to_owned<X: Text>(self) -> Result<OwnedCommand<X>, Full> {
        self.copied(|text| {
            let mut copy = X::default();
            copy.set(text)?;
            Ok(copy)
        })
    }

    fn copied<X, E>(self, copy: impl Fn(&str) -> Result<X, E>) -> Result<OwnedCommand<X>, E> {
        Ok(match self {
            Self::Open { exchange, request } => OwnedCommand::Open {
                exchange,
                request: request.copied(copy)?,
            },
            Self::Abort(exchange) => OwnedCommand::Abort(exchange),
        })
    }
}

impl Request<'_> {
    /// A copy that owns its texts.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_owned(self) -> OwnedRequest<String> {
        let Ok(owned) = self.copied(|text| Ok::<_, Infallible>(text.to_string()));
        owned
    }

    fn copied<X, E>(self, copy: impl Fn(&str) -> Result<X, E>) -> Result<OwnedRequest<X>, E> {
        let at = |at| match at {
            At::Latest => Ok(OwnedAt::Latest),
            At::Any => Ok(OwnedAt::Any),
            At::Version(version) => copy(version).map(OwnedAt::Version),
        };
        Ok(match self {
            Self::List {
                version,
                limit,
                page,
            } => OwnedRequest::List {
                version: at(version)?,
                limit,
                page: page.map(&copy).transpose()?,
            },
            Self::Watch {
                version,
                timeout,
                initial_events,
            } => OwnedRequest::Watch {
                version: at(version)?,
                timeout,
                initial_events,
            },
        })
    }
}
