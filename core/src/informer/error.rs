//! What callers are told instead of what they asked for.

use core::fmt;

use super::status::RejectedObject;
use crate::storage::Full;
use crate::version::NotComparable;

/// Why a listener was not added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddListenerError {
    /// The informer was stopped.
    Stopped,
    /// The storage is full.
    Full,
}

impl From<Full> for AddListenerError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl fmt::Display for AddListenerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the informer was stopped; make a new one",
            Self::Full => "there is no room for another listener",
        })
    }
}

impl core::error::Error for AddListenerError {}

/// Why waiting for a version is in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum WaitError<'a, K, X> {
    /// One of the versions is not a decimal number, so nobody can tell.
    NotComparable,
    /// The write may be one of this object, which could not be used: the store does not show it.
    Rejected(&'a RejectedObject<K, X>),
}

impl<K, X> From<NotComparable> for WaitError<'_, K, X> {
    fn from(_: NotComparable) -> Self {
        Self::NotComparable
    }
}

impl<K: fmt::Debug, X: AsRef<str>> fmt::Display for WaitError<'_, K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotComparable => NotComparable.fmt(f),
            Self::Rejected(object) => object.fmt(f),
        }
    }
}

impl<K: fmt::Debug, X: AsRef<str> + fmt::Debug> core::error::Error for WaitError<'_, K, X> {}
