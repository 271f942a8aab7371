//! Commands with texts of their own: to keep them, or to hand them to another task.

#[cfg(feature = "alloc")]
use alloc::string::{String, ToString as _};
#[cfg(feature = "alloc")]
use core::convert::Infallible;
use core::time::Duration;

use super::{At, Command, ExchangeId, Request};
use crate::storage::{Full, Text};

/// A [`Command`] that can be kept. `X` is the text in it: a `String`, or one of a fixed size.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "as `Command`")]
pub enum OwnedCommand<X> {
    /// See [`Command::Open`].
    Open {
        /// The name under which its signals are reported.
        exchange: ExchangeId,
        /// What to ask.
        request: OwnedRequest<X>,
    },
    /// See [`Command::Abort`].
    Abort(ExchangeId),
}

/// A [`Request`] that can be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "as `Request`")]
pub enum OwnedRequest<X> {
    /// See [`Request::List`].
    List {
        /// Which state is good enough.
        version: OwnedAt<X>,
        /// At most so many objects in this page.
        limit: Option<u32>,
        /// The token of the page.
        page: Option<X>,
    },
    /// See [`Request::Watch`].
    Watch {
        /// The version after which events are wanted.
        version: OwnedAt<X>,
        /// When the server shall end the watch.
        timeout: Duration,
        /// Ask for the whole state first.
        initial_events: bool,
    },
}

/// An [`At`] that can be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "as `At`")]
pub enum OwnedAt<X> {
    /// The newest state.
    Latest,
    /// Whatever the server has at hand.
    Any,
    /// A version seen before.
    Version(X),
}

impl<X: AsRef<str>> OwnedCommand<X> {
    /// Lends the command, to execute it.
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
    /// Lends the request.
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
    /// The form of a version as it stands in an object or a list.
    pub fn from_text(text: X) -> Self {
        match At::from_text(text.as_ref()) {
            At::Latest => Self::Latest,
            At::Any => Self::Any,
            At::Version(_) => Self::Version(text),
        }
    }

    /// Lends the version.
    pub fn as_at(&self) -> At<'_> {
        match self {
            Self::Latest => At::Latest,
            Self::Any => At::Any,
            Self::Version(version) => At::Version(version.as_ref()),
        }
    }
}

impl Command<'_> {
    /// A copy that can be kept.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_owned(self) -> OwnedCommand<String> {
        let Ok(owned) = self.copied(|text| Ok::<_, Infallible>(text.to_string()));
        owned
    }

    /// A copy that can be kept, with texts of any kind.
    ///
    /// # Errors
    /// A text does not fit.
    pub fn to_text<X: Text>(self) -> Result<OwnedCommand<X>, Full> {
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
    /// A copy that can be kept.
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
