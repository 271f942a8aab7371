//! From commands that borrow their texts to commands that own them, to keep them or to hand them to
//! another task, and back.

#[cfg(feature = "alloc")]
use alloc::string::String;
use core::convert::Infallible;

use super::{At, Command, OwnedAt, OwnedCommand, OwnedRequest, Request};
use crate::storage::{Full, Text};

impl<X: AsRef<str>> OwnedCommand<X> {
    /// Borrows the command, to execute it.
    #[must_use]
    pub fn as_command(&self) -> Command<'_> {
        let Ok(lent) = self.try_map(|text| Ok::<_, Infallible>(text.as_ref()));
        lent
    }
}

impl<X: AsRef<str>> OwnedRequest<X> {
    /// Borrows the request.
    #[must_use]
    pub fn as_request(&self) -> Request<'_> {
        let Ok(lent) = self.try_map(|text| Ok::<_, Infallible>(text.as_ref()));
        lent
    }
}

impl<X: AsRef<str>> OwnedAt<X> {
    /// Borrows the version.
    #[must_use]
    pub fn as_at(&self) -> At<'_> {
        let Ok(lent) = self.try_map(|text| Ok::<_, Infallible>(text.as_ref()));
        lent
    }
}

impl Command<'_> {
    /// A copy that owns its texts.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_owned(self) -> OwnedCommand<String> {
        let Ok(owned) = self.try_map(|text| Ok::<_, Infallible>(String::from(*text)));
        owned
    }

    /// A copy with texts of another type, such as strings of fixed capacity.
    ///
    /// # Errors
    /// A text does not fit.
    pub fn try_to_owned<X: Text>(self) -> Result<OwnedCommand<X>, Full> {
        self.try_map(|text| X::copy(text))
    }
}

impl Request<'_> {
    /// A copy that owns its texts.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_owned(self) -> OwnedRequest<String> {
        let Ok(owned) = self.try_map(|text| Ok::<_, Infallible>(String::from(*text)));
        owned
    }
}

impl<X> OwnedCommand<X> {
    fn try_map<'a, Y, E>(
        &'a self,
        text: impl Fn(&'a X) -> Result<Y, E>,
    ) -> Result<OwnedCommand<Y>, E> {
        Ok(match self {
            Self::Open { exchange, request } => OwnedCommand::Open {
                exchange: *exchange,
                request: request.try_map(text)?,
            },
            Self::Abort(exchange) => OwnedCommand::Abort(*exchange),
        })
    }
}

impl<X> OwnedRequest<X> {
    fn try_map<'a, Y, E>(
        &'a self,
        text: impl Fn(&'a X) -> Result<Y, E>,
    ) -> Result<OwnedRequest<Y>, E> {
        Ok(match self {
            Self::List {
                version,
                limit,
                page,
            } => OwnedRequest::List {
                version: version.try_map(&text)?,
                limit: *limit,
                page: page.as_ref().map(text).transpose()?,
            },
            Self::Watch {
                version,
                timeout,
                initial_events,
            } => OwnedRequest::Watch {
                version: version.try_map(text)?,
                timeout: *timeout,
                initial_events: *initial_events,
            },
        })
    }
}

impl<X> OwnedAt<X> {
    fn try_map<'a, Y, E>(&'a self, text: impl Fn(&'a X) -> Result<Y, E>) -> Result<OwnedAt<Y>, E> {
        Ok(match self {
            Self::Latest => OwnedAt::Latest,
            Self::Any => OwnedAt::Any,
            Self::Version(version) => OwnedAt::Version(text(version)?),
            Self::Exact(version) => OwnedAt::Exact(text(version)?),
        })
    }
}
