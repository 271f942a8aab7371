//! A failed exchange.

use std::error::Error;
use std::fmt;

use informer_core::Failure;
use informer_core::failure::message;

use crate::causes::chain;

/// A failed exchange.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Failed {
    /// The kind of failure.
    pub failure: Failure,
    /// The explanation for people. It is short and
    /// [printable](informer_core::failure::Printable), even if parts of it come from the server.
    pub message: String,
}

impl Failed {
    /// A failure, and what to say about it.
    #[must_use]
    pub fn new(failure: Failure, about: impl fmt::Display) -> Self {
        Self {
            failure,
            message: message(about),
        }
    }

    /// The failure of an answer that breaks off.
    #[must_use]
    pub fn broken_off(error: &(dyn Error + 'static)) -> Self {
        let why = chain(error);
        Self::new(Failure::Broken, format_args!("the answer broke off: {why}"))
    }

    /// The failure of a list that takes too long.
    pub(crate) fn too_slow() -> Self {
        let about = "the list took longer than `list_timeout` allows; is the server overloaded?";
        Self::new(Failure::TimedOut, about)
    }

    /// The failure of every request after the runtime has shut down.
    pub(crate) fn runtime_ended() -> Self {
        let about = "the runtime of the client has ended; create a client in another runtime";
        Self::new(Failure::Broken, about)
    }
}
