//! A token bucket: a burst first, then a steady rate.

use core::time::Duration;

use crate::time::Instant;

/// A token bucket that starts full and refills at a steady rate. If it is empty, a caller takes a
/// token in advance and waits until that token would have arrived.
///
/// As a [`RateLimiter`](crate::workqueue::RateLimiter) it treats all items alike: `forget` does
/// nothing and `attempts` is always zero.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::workqueue::{RateLimiter, TokenBucket};
///
/// let mut bucket = TokenBucket::new(4.0, 2);
/// let now = Instant::from_micros(0);
/// let delays = [(); 4].map(|()| bucket.when(&"any", now).expect("it needs no room"));
/// assert_eq!(delays, [0, 0, 250, 500].map(Duration::from_millis));
/// // Two tokens were taken in advance, so the next one is free only after them.
/// let later = now.after(Duration::from_millis(750));
/// assert_eq!(bucket.when(&"any", later), Ok(Duration::ZERO));
/// ```
#[derive(Clone, Debug)]
pub struct TokenBucket {
    per_second: f64,
    burst: u32,
    /// Negative if tokens were taken in advance.
    tokens: f64,
    last: Instant,
}

impl TokenBucket {
    /// Creates a bucket that holds `burst` tokens and gains `per_second` tokens each second.
    ///
    /// If `per_second` is not positive, every wait after the burst is endless. If `burst` is zero,
    /// every wait is. An infinite rate means no wait at all.
    #[must_use]
    pub const fn new(per_second: f64, burst: u32) -> Self {
        Self {
            per_second: per_second.max(0.0),
            burst,
            tokens: burst as f64,
            last: Instant::from_micros(0),
        }
    }

    /// Takes a token and returns how long to wait for it. A clock that goes back counts as standing
    /// still.
    //
    // The steps follow golang.org/x/time/rate, so the results agree to the last bit.
    pub(crate) fn take(&mut self, now: Instant) -> Duration {
        if self.per_second.is_infinite() {
            return Duration::ZERO;
        }
        if self.burst == 0 {
            return Duration::MAX;
        }
        let refill = now.since(self.last).as_secs_f64() * self.per_second;
        let tokens = (self.tokens + refill).min(f64::from(self.burst)) - 1.0;
        self.tokens = tokens;
        self.last = self.last.max(now);
        if tokens >= 0.0 {
            return Duration::ZERO;
        }
        let nanos = -tokens / self.per_second * 1e9;
        if nanos < u64::MAX as f64 {
            Duration::from_nanos(nanos as u64)
        } else {
            Duration::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    /// Time is not counted twice when the clock returns to it.
    #[test]
    fn a_clock_that_goes_back_gives_no_tokens() {
        let mut bucket = TokenBucket::new(1.0, 1);
        assert_eq!(bucket.take(at(10)), Duration::ZERO);
        assert_eq!(bucket.take(at(5)), Duration::from_secs(1));
        assert_eq!(bucket.take(at(10)), Duration::from_secs(2));
        assert_eq!(bucket.take(at(13)), Duration::ZERO);
    }
}
