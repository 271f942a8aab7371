//! `TokenBucket` as a limiter for all items together.

use core::time::Duration;

use super::limiter::RateLimiter;
use crate::bucket::TokenBucket;
use crate::storage::Full;
use crate::time::Instant;

impl<K> RateLimiter<K> for TokenBucket {
    fn when(&mut self, _: &K, now: Instant) -> Result<Duration, Full> {
        Ok(self.take(now))
    }

    fn forget(&mut self, _: &K) {}

    fn attempts(&self, _: &K) -> u32 {
        0
    }
}
