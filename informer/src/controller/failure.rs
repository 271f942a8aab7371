//! Failed reconciliations.

use std::error::Error;
use std::fmt;

use crate::words::with_causes;

/// An error that does not go away by itself. The key is not retried; it comes again when it is added again, or
/// when a delay ends that was asked for before.
///
/// ```
/// use informer::controller::{Next, Permanent};
///
/// type Failure = Box<dyn std::error::Error + Send + Sync>;
///
/// fn replicas(text: &str) -> Result<u32, Failure> {
///     // Only a change of the object can help.
///     Ok(text.parse().map_err(Permanent::new)?)
/// }
/// assert!(replicas("three").unwrap_err().is::<Permanent>());
/// # let _ = Next::Done;
/// ```
///
/// It is found behind other errors, too, if they name it as their source.
#[derive(Debug)]
pub struct Permanent(Box<dyn Error + Send + Sync>);

impl Permanent {
    /// Wraps an error, or a text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    fn is_behind(error: &(dyn Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.is::<Self>() {
                return true;
            }
            next = error.source();
        }
        false
    }
}

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Permanent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// A panic in a reconciliation.
#[derive(Debug)]
pub(super) struct Panicked(pub(super) String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panicked: {}", self.0)
    }
}

impl Error for Panicked {}

/// A failed reconciliation, for [`Controller::on_error`](super::Controller::on_error). Displays the error
/// with all its causes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Failed<'a, Q> {
    /// The key.
    pub key: &'a Q,
    /// The error. A panic is one, too.
    pub error: &'a (dyn Error + Send + Sync + 'static),
    /// How many times in a row the key has failed, with this one.
    pub attempts: u32,
    /// What happens to the key.
    pub verdict: Verdict,
}

/// What happens to a key that has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// It is retried, with a delay.
    Retry,
    /// It is dropped, because the error is [`Permanent`].
    Permanent,
    /// It is dropped, because it has failed too often.
    GiveUp,
}

impl<'a, Q> Failed<'a, Q> {
    pub(super) fn new(
        key: &'a Q,
        error: &'a (dyn Error + Send + Sync + 'static),
        attempts: u32,
        max_retries: Option<u32>,
    ) -> Self {
        let verdict = if Permanent::is_behind(error) {
            Verdict::Permanent
        } else if max_retries.is_some_and(|most| attempts > most) {
            Verdict::GiveUp
        } else {
            Verdict::Retry
        };
        Self {
            key,
            error,
            attempts,
            verdict,
        }
    }
}

impl<Q> fmt::Display for Failed<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_causes(self.error))
    }
}
