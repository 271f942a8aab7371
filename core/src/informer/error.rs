//! Errors of the informer's methods.

use core::fmt;

use super::status::RejectedObject;
use crate::storage::Full;
use crate::version::NotComparable;

/// Why a listener was not added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddListenerError {
    /// The informer has been stopped.
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
            Self::Stopped => "the informer has been stopped; build a new one",
            Self::Full => "there is no room for another listener; remove one first",
        })
    }
}

impl core::error::Error for AddListenerError {}

/// Why a source was not added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddSourceError {
    /// The informer has been stopped.
    Stopped,
    /// The storage is full.
    Full,
}

impl From<Full> for AddSourceError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl fmt::Display for AddSourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the informer has been stopped; build a new one",
            Self::Full => {
                "there is no room for another source; remove one first, or give the storage more room"
            }
        })
    }
}

impl core::error::Error for AddSourceError {}

/// Why waiting for a version would never end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum WaitError<'a, K, X> {
    /// One of the versions is not a decimal number, so they cannot be compared.
    NotComparable,
    /// The write may belong to this object, which could not be used. The store does not show it.
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
