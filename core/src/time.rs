//! Points in time.

use core::time::Duration;

/// A point in time on the driver's monotonic clock.
///
/// It counts microseconds from an origin that the driver picks. There is no `now()`: the driver
/// passes the time to the state machines. Arithmetic saturates, so no input can overflow it.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
///
/// let start = Instant::from_micros(500);
/// let later = start.after(Duration::from_millis(2));
/// assert_eq!(later.as_micros(), 2_500);
/// assert_eq!(later.since(start), Duration::from_millis(2));
/// assert_eq!(start.since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

impl Instant {
    /// The point `micros` microseconds after the origin.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the origin.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The point `duration` later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}
