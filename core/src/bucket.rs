//! A bucket of tokens: so many at once, and then at a steady rate.

use core::time::Duration;

use crate::time::Instant;

/// A bucket of tokens, full at first, that is refilled at a steady rate. Whoever comes takes one; if
/// there is none, in advance, and waits until it would have been there.
///
/// As a [`RateLimiter`](crate::workqueue::RateLimiter) it knows no items: `forget` does nothing, and
/// there are no `attempts`.
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
/// // The two tokens that were taken in advance come first.
/// let later = now.after(Duration::from_millis(750));
/// assert_eq!(bucket.when(&"any", later), Ok(Duration::ZERO));
/// ```
#[derive(Clone, Debug)]
pub struct TokenBucket {
    per_second: f64,
    burst: u32,
    /// How many there are; negative if some were taken in advance.
    tokens: f64,
    last: Instant,
}

impl TokenBucket {
    /// A bucket with room for `burst` tokens that is given `per_second` of them.
    ///
    /// Without any tokens to come (not a positive number), the wait after the burst has no end; without
    /// room, so has every wait. An infinite rate means no wait at all.
    #[must_use]
    pub const fn new(per_second: f64, burst: u32) -> Self {
        Self {
            per_second: per_second.max(0.0),
            burst,
            tokens: burst as f64,
            last: Instant::from_micros(0),
        }
    }

    /// Takes a token, and says how long to wait for it. A clock that goes back stands still.
    //
    // Step by step as golang.org/x/time/rate: then the last bit is the same, too.
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

    /// Time that was counted once is not counted again when the clock comes back to it.
    #[test]
    fn a_clock_that_goes_back_gives_no_tokens() {
        let mut bucket = TokenBucket::new(1.0, 1);
        assert_eq!(bucket.take(at(10)), Duration::ZERO);
        assert_eq!(bucket.take(at(5)), Duration::from_secs(1));
        assert_eq!(bucket.take(at(10)), Duration::from_secs(2));
        assert_eq!(bucket.take(at(13)), Duration::ZERO);
    }
}
