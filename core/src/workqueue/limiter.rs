//! Delays before retries.

use core::hash::Hash;
use core::time::Duration;

use super::failures::Failures;
use crate::bucket::TokenBucket;
use crate::storage::{Full, Seed, Storage};
use crate::time::Instant;

/// Chooses the delay before an item is retried.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::Full;
/// use informer_core::workqueue::{MaxWait, RateLimiter, TokenBucket};
///
/// /// Items with longer names wait longer.
/// struct ByName;
///
/// impl RateLimiter<&str> for ByName {
///     fn when(&mut self, item: &&str, _: Instant) -> Result<Duration, Full> {
///         Ok(Duration::from_secs(item.len() as u64))
///     }
///     fn forget(&mut self, _: &&str) {}
///     fn attempts(&self, _: &&str) -> u32 {
///         0
///     }
/// }
///
/// let mut limiter = MaxWait::new(ByName, Duration::from_secs(4));
/// let now = Instant::from_micros(0);
/// assert_eq!(limiter.when(&"db", now), Ok(Duration::from_secs(2)));
/// assert_eq!(limiter.when(&"frontend", now), Ok(Duration::from_secs(4)));
/// ```
pub trait RateLimiter<K> {
    /// Makes room for the next [`when`](Self::when) of this item. A limiter that combines others calls
    /// it first, so that none of them counts an attempt that another one refuses.
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    fn reserve(&mut self, item: &K) -> Result<(), Full> {
        let _ = item;
        Ok(())
    }

    /// Counts an attempt, and returns the delay before it.
    ///
    /// # Errors
    /// [`Full`] if there is no room to count the attempt. Nothing has changed then.
    fn when(&mut self, item: &K, now: Instant) -> Result<Duration, Full>;

    /// Resets the attempts of this item.
    fn forget(&mut self, item: &K);

    /// Returns the number of attempts of this item since it was last forgotten.
    #[doc(alias = "NumRequeues")]
    fn attempts(&self, item: &K) -> u32;
}

/// A limiter that is chosen at run time.
#[cfg(feature = "alloc")]
impl<K, L: RateLimiter<K> + ?Sized> RateLimiter<K> for alloc::boxed::Box<L> {
    fn reserve(&mut self, item: &K) -> Result<(), Full> {
        (**self).reserve(item)
    }

    fn when(&mut self, item: &K, now: Instant) -> Result<Duration, Full> {
        (**self).when(item, now)
    }

    fn forget(&mut self, item: &K) {
        (**self).forget(item);
    }

    fn attempts(&self, item: &K) -> u32 {
        (**self).attempts(item)
    }
}

/// The type of limiter that [`controller_limiter`] returns.
pub type ControllerLimiter<K, S> = MaxOf<Exponential<K, S>, TokenBucket>;

/// Creates the default limiter of client-go's controllers.
///
/// The delay of an item starts at 5 ms and doubles with each failure, up to 1,000 s. All items together
/// are limited to 10 retries per second, after a burst of 100.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::workqueue::{ControllerLimiter, RateLimiter, controller_limiter};
///
/// let mut limiter: ControllerLimiter<_, Heap> = controller_limiter(Seed::new(1));
/// let now = Instant::from_micros(0);
/// assert_eq!(limiter.when(&"web", now)?, Duration::from_millis(5));
/// assert_eq!(limiter.when(&"web", now)?, Duration::from_millis(10));
/// for _ in 2..100 {
///     limiter.when(&"web", now)?;
/// }
/// // This item is new, but the burst is used up.
/// assert_eq!(limiter.when(&"db", now)?, Duration::from_millis(100));
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
#[doc(alias = "DefaultTypedControllerRateLimiter")]
#[must_use]
pub fn controller_limiter<K, S: Storage>(seed: Seed) -> ControllerLimiter<K, S> {
    let per_item = Exponential::new(Duration::from_millis(5), Duration::from_secs(1_000), seed);
    MaxOf::new(per_item, TokenBucket::new(10.0, 100))
}

/// Creates client-go's default item-based limiter.
///
/// The delay of an item starts at 1 ms and doubles with each failure, up to 1,000 s.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::workqueue::{Exponential, RateLimiter, item_limiter};
///
/// let mut limiter: Exponential<_, Heap> = item_limiter(Seed::new(1));
/// let delays = [(); 3].map(|()| limiter.when(&"web", Instant::from_micros(0)));
/// assert_eq!(delays, [1, 2, 4].map(|ms| Ok(Duration::from_millis(ms))));
/// ```
#[doc(alias = "DefaultTypedItemBasedRateLimiter")]
#[must_use]
pub fn item_limiter<K, S: Storage>(seed: Seed) -> Exponential<K, S> {
    Exponential::new(Duration::from_millis(1), Duration::from_secs(1_000), seed)
}

/// Doubles the delay of an item with each of its failures, up to a maximum.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::workqueue::{Exponential, RateLimiter};
///
/// let (base, max) = (Duration::from_millis(5), Duration::from_millis(18));
/// let mut limiter: Exponential<_, Heap> = Exponential::new(base, max, Seed::new(1));
/// let now = Instant::from_micros(0);
/// let delays = [(); 4].map(|()| limiter.when(&"web", now));
/// assert_eq!(delays, [5, 10, 18, 18].map(|ms| Ok(Duration::from_millis(ms))));
/// assert_eq!(limiter.attempts(&"web"), 4);
/// assert_eq!(limiter.when(&"db", now), Ok(base));
/// limiter.forget(&"web");
/// assert_eq!(limiter.when(&"web", now), Ok(base));
/// ```
pub struct Exponential<K, S: Storage> {
    base: Duration,
    max: Duration,
    failures: Failures<K, S>,
}

impl<K, S: Storage> Exponential<K, S> {
    /// Creates a limiter whose first delay is `base` and whose longest delay is `max`.
    #[must_use]
    pub fn new(base: Duration, max: Duration, seed: Seed) -> Self {
        Self {
            base,
            max,
            failures: Failures::new(seed),
        }
    }
}

/// After this many doublings, every duration but zero has reached `Duration::MAX`.
const DOUBLINGS: u32 = 94;

impl<K: Clone + Eq + Hash, S: Storage> RateLimiter<K> for Exponential<K, S> {
    fn reserve(&mut self, item: &K) -> Result<(), Full> {
        self.failures.reserve(item)
    }

    fn when(&mut self, item: &K, _: Instant) -> Result<Duration, Full> {
        let doublings = self.failures.count(item)?.min(DOUBLINGS);
        let delay = (0..doublings).fold(self.base, |delay, _| delay.saturating_mul(2));
        Ok(delay.min(self.max))
    }

    fn forget(&mut self, item: &K) {
        self.failures.forget(item);
    }

    fn attempts(&self, item: &K) -> u32 {
        self.failures.of(item)
    }
}

debug_fields!([K, S: Storage] Exponential[K, S], self: base, max, failures; all);

/// Uses a short delay for the first failures of an item and a long delay for all others.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::workqueue::{FastSlow, RateLimiter};
///
/// let (fast, slow) = (Duration::from_millis(5), Duration::from_secs(10));
/// let mut limiter: FastSlow<_, Heap> = FastSlow::new(fast, slow, 2, Seed::new(1));
/// let delays = [(); 4].map(|()| limiter.when(&"web", Instant::from_micros(0)));
/// assert_eq!(delays, [fast, fast, slow, slow].map(Ok));
/// ```
pub struct FastSlow<K, S: Storage> {
    fast: Duration,
    slow: Duration,
    fast_attempts: u32,
    failures: Failures<K, S>,
}

impl<K, S: Storage> FastSlow<K, S> {
    /// Creates a limiter that delays the first `fast_attempts` failures of an item by `fast`, and the
    /// others by `slow`.
    #[must_use]
    pub fn new(fast: Duration, slow: Duration, fast_attempts: u32, seed: Seed) -> Self {
        Self {
            fast,
            slow,
            fast_attempts,
            failures: Failures::new(seed),
        }
    }
}

impl<K: Clone + Eq + Hash, S: Storage> RateLimiter<K> for FastSlow<K, S> {
    fn reserve(&mut self, item: &K) -> Result<(), Full> {
        self.failures.reserve(item)
    }

    fn when(&mut self, item: &K, _: Instant) -> Result<Duration, Full> {
        let fast = self.failures.count(item)? < self.fast_attempts;
        Ok(if fast { self.fast } else { self.slow })
    }

    fn forget(&mut self, item: &K) {
        self.failures.forget(item);
    }

    fn attempts(&self, item: &K) -> u32 {
        self.failures.of(item)
    }
}

debug_fields!([K, S: Storage] FastSlow[K, S], self: fast, slow, fast_attempts, failures; all);

/// Uses the longer delay of two limiters. Nest it to combine more than two.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::workqueue::{Exponential, MaxOf, RateLimiter, TokenBucket};
///
/// let (base, max) = (Duration::from_millis(400), Duration::from_secs(60));
/// let per_item: Exponential<_, Heap> = Exponential::new(base, max, Seed::new(1));
/// let mut limiter = MaxOf::new(per_item, TokenBucket::new(1.0, 1));
/// let delays = [(); 4].map(|()| limiter.when(&"web", Instant::from_micros(0)));
/// assert_eq!(delays, [400, 1_000, 2_000, 3_200].map(|ms| Ok(Duration::from_millis(ms))));
/// ```
#[derive(Clone, Debug)]
pub struct MaxOf<A, B> {
    first: A,
    second: B,
}

impl<A, B> MaxOf<A, B> {
    /// Combines two limiters.
    #[must_use]
    pub const fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<K, A: RateLimiter<K>, B: RateLimiter<K>> RateLimiter<K> for MaxOf<A, B> {
    fn reserve(&mut self, item: &K) -> Result<(), Full> {
        self.first.reserve(item)?;
        self.second.reserve(item)
    }

    fn when(&mut self, item: &K, now: Instant) -> Result<Duration, Full> {
        self.second.reserve(item)?;
        let first = self.first.when(item, now)?;
        Ok(first.max(self.second.when(item, now)?))
    }

    fn forget(&mut self, item: &K) {
        self.first.forget(item);
        self.second.forget(item);
    }

    fn attempts(&self, item: &K) -> u32 {
        self.first.attempts(item).max(self.second.attempts(item))
    }
}

/// Limits the delay of another limiter to a maximum.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::workqueue::{MaxWait, RateLimiter, TokenBucket};
///
/// let mut limiter = MaxWait::new(TokenBucket::new(1.0, 1), Duration::from_millis(1_500));
/// let delays = [(); 4].map(|()| limiter.when(&"any", Instant::from_micros(0)));
/// assert_eq!(delays, [0, 1_000, 1_500, 1_500].map(|ms| Ok(Duration::from_millis(ms))));
/// ```
#[derive(Clone, Debug)]
pub struct MaxWait<L> {
    limiter: L,
    max: Duration,
}

impl<L> MaxWait<L> {
    /// Limits the delays of `limiter` to `max`.
    #[must_use]
    pub const fn new(limiter: L, max: Duration) -> Self {
        Self { limiter, max }
    }
}

impl<K, L: RateLimiter<K>> RateLimiter<K> for MaxWait<L> {
    fn reserve(&mut self, item: &K) -> Result<(), Full> {
        self.limiter.reserve(item)
    }

    fn when(&mut self, item: &K, now: Instant) -> Result<Duration, Full> {
        Ok(self.limiter.when(item, now)?.min(self.max))
    }

    fn forget(&mut self, item: &K) {
        self.limiter.forget(item);
    }

    fn attempts(&self, item: &K) -> u32 {
        self.limiter.attempts(item)
    }
}
