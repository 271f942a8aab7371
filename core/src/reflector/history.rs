//! What a reflector has asked for, and what came of it.

use core::ops::AddAssign;
use core::time::Duration;

use crate::failure::Failure;
use crate::invariant::cannot_happen;
use crate::time::Instant;
use crate::transport::OwnedRequest;

/// What a reflector has asked for since its start, and what came of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct History {
    /// Lists begun. The pages of a list count once.
    pub lists: u64,
    /// Watches begun, including those that begin with a streamed state.
    pub watches: u64,
    /// Failures by class.
    pub failures: Tally,
    /// Full states read again, by the failure that made it necessary.
    pub relists: Tally,
    /// The newest full state.
    pub full_state: Option<FullState>,
    /// When the request for the current full state was sent.
    state_began: Instant,
    /// Why the last full state is not followed any more.
    lost_by: Option<Failure>,
}

/// A full state that has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FullState {
    /// The number of its objects, or of its events if it was streamed.
    pub items: u64,
    /// The time from its request to its end.
    pub took: Duration,
}

/// A number for each class of failure.
///
/// ```
/// use informer_core::Failure;
/// use informer_core::flow::Fact;
/// use informer_core::reflector::{Reflector, ReflectorConfig};
/// use informer_core::storage::Heap;
/// use informer_core::transport::Command;
/// use informer_core::{Instant, Object};
///
/// let now = Instant::from_micros(0);
/// let mut reflector: Reflector<Heap> = Reflector::new(ReflectorConfig::new(), 42)?;
/// reflector.start(now);
/// let Some(Command::Open { exchange, .. }) = reflector.poll_command(now) else { panic!() };
/// let refused: Fact<'_, Object<()>> =
///     Fact::Failed { failure: Failure::Unreachable, message: "refused" };
/// assert!(reflector.handle(exchange, refused, now).is_none());
///
/// let failures = reflector.history().failures;
/// assert_eq!(failures.of(Failure::Unreachable), 1);
/// let all: Vec<_> = failures.iter().map(|(failure, count)| (failure.name(), count)).collect();
/// assert_eq!(all, [("unreachable", 1)]);
/// # Ok::<(), informer_core::reflector::InvalidConfig>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally([u64; Failure::ALL.len()]);

impl History {
    /// Notes that a request was sent.
    pub(super) const fn open<X>(&mut self, request: &OwnedRequest<X>, now: Instant) {
        match request {
            OwnedRequest::List { page: None, .. } => {
                self.lists += 1;
                self.state_began = now;
            }
            OwnedRequest::List { page: Some(_), .. } => {}
            OwnedRequest::Watch { initial_events, .. } => {
                self.watches += 1;
                if *initial_events {
                    self.state_began = now;
                }
            }
        }
    }

    /// Notes that the full state is no longer followed, and must be read again.
    pub(super) const fn lose(&mut self, cause: Failure) {
        self.lost_by = Some(cause);
    }

    /// Notes a complete full state.
    pub(super) fn complete(&mut self, items: u64, now: Instant) {
        self.full_state = Some(FullState {
            items,
            took: now.since(self.state_began),
        });
        if let Some(cause) = self.lost_by.take() {
            self.relists.count(cause);
        }
    }
}

/// Adds what another reflector has asked for. The newest full states count as one then, which took as long as
/// the longer one.
impl AddAssign<&Self> for History {
    fn add_assign(&mut self, other: &Self) {
        self.lists += other.lists;
        self.watches += other.watches;
        self.failures += &other.failures;
        self.relists += &other.relists;
        self.full_state = match (self.full_state, other.full_state) {
            (Some(one), Some(two)) => Some(FullState {
                items: one.items + two.items,
                took: one.took.max(two.took),
            }),
            (one, two) => one.or(two),
        };
    }
}

impl AddAssign<&Self> for Tally {
    fn add_assign(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

impl Tally {
    /// The number of this class.
    #[must_use]
    pub fn of(&self, class: Failure) -> u64 {
        self.0.get(class.index()).copied().unwrap_or_default()
    }

    /// The classes that have a number, each with one failure of it.
    pub fn iter(&self) -> impl Iterator<Item = (Failure, u64)> {
        let all = Failure::ALL.into_iter().zip(self.0);
        all.filter(|(_, count)| *count > 0)
    }

    pub(super) fn count(&mut self, class: Failure) {
        match self.0.get_mut(class.index()) {
            Some(count) => *count += 1,
            None => cannot_happen("a class of failure without a place", ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_place() {
        for (index, failure) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(failure.index(), index, "{failure:?}");
            let mut tally = Tally::default();
            tally.count(failure);
            tally.count(failure);
            assert_eq!(tally.of(failure), 2);
            assert!(tally.iter().eq([(failure, 2)]));
        }
    }
}
