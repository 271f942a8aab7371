//! How long to wait after a failure.

use core::time::Duration;

use super::config::{BackoffConfig, BackoffReset};
use super::rng::Rng;
use crate::time::Instant;

/// One backoff for everything that a reflector waits for: each delay is twice the one before, up to a
/// cap, and up to the same again is added at random, so that the clients of a server that comes back
/// do not come back together.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    config: BackoffConfig,
    next: Duration,
    /// When the rule of the reset began to count.
    since: Instant,
}

impl Backoff {
    pub(super) const fn new(config: BackoffConfig, now: Instant) -> Self {
        Self {
            config,
            next: config.base,
            since: now,
        }
    }

    /// The next delay, if need be made longer. The wait itself is not health.
    pub(super) fn delay(&mut self, at_least: Duration, rng: &mut Rng, now: Instant) -> Duration {
        let (BackoffReset::AfterHealth(quiet) | BackoffReset::Periodic(quiet)) = self.config.reset;
        if now.since(self.since) > quiet {
            self.next = self.config.base;
            self.since = now;
        }
        let base = self.next;
        self.next = base.saturating_mul(2).min(self.config.cap);
        let jitter = u64::try_from(base.as_micros()).unwrap_or(u64::MAX);
        let delay = base.saturating_add(Duration::from_micros(rng.below(jitter)));
        let delay = delay.max(at_least);
        if matches!(self.config.reset, BackoffReset::AfterHealth(_)) {
            self.since = now.after(delay);
        }
        delay
    }
}

/// Whether an internal error of the server may be answered by watching again at once: for a while
/// after the first one of a series.
#[derive(Clone, Debug)]
pub(super) struct RetryWindow {
    length: Duration,
    first: Option<Instant>,
    last: Option<Instant>,
}

/// After so long without an internal error, the next one begins a new series.
const NEW_SERIES: Duration = Duration::from_secs(60);

impl RetryWindow {
    pub(super) const fn new(length: Duration) -> Self {
        Self {
            length,
            first: None,
            last: None,
        }
    }

    pub(super) fn admits(&mut self, now: Instant) -> bool {
        if self.last.is_some_and(|last| now.since(last) >= NEW_SERIES) {
            self.first = None;
        }
        self.last = Some(now);
        let first = *self.first.get_or_insert(now);
        if now.since(first) <= self.length {
            return true;
        }
        (self.first, self.last) = (None, None);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn backoff(reset: BackoffReset) -> Backoff {
        let config = BackoffConfig {
            reset,
            ..BackoffConfig::new()
        };
        Backoff::new(config, at(0))
    }

    #[test]
    fn delays_double_up_to_the_cap_with_up_to_as_much_again() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let mut backoff = backoff(BackoffReset::AfterHealth(Duration::from_secs(120)));
            for base in [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0] {
                let delay = backoff.delay(Duration::ZERO, &mut rng, at(1)).as_secs_f64();
                assert!((base..2.0 * base).contains(&delay), "{delay} for {base}");
            }
        }
    }

    #[test]
    fn jitter_spreads_over_the_whole_range() {
        let mut rng = Rng::new(1);
        let (mut low, mut high) = (f64::MAX, 0.0_f64);
        for _ in 0..1_000 {
            let mut backoff = backoff(BackoffReset::AfterHealth(Duration::from_secs(120)));
            let delay = backoff.delay(Duration::ZERO, &mut rng, at(1)).as_secs_f64();
            (low, high) = (low.min(delay), high.max(delay));
        }
        assert!(low < 0.82 && high > 1.58, "{low} to {high}");
    }

    /// One failure every 30 seconds: the default stays at the cap, client-go's rule starts over.
    #[test]
    fn the_two_reset_rules_differ_for_a_reflector_that_keeps_failing() {
        let quiet = Duration::from_secs(120);
        let mut rng = Rng::new(3);
        let mut health = backoff(BackoffReset::AfterHealth(quiet));
        let mut periodic = backoff(BackoffReset::Periodic(quiet));
        let mut restarts = [0, 0];
        for failure in 1..40 {
            let now = at(failure * 30);
            for (which, backoff) in [&mut health, &mut periodic].into_iter().enumerate() {
                let delay = backoff.delay(Duration::ZERO, &mut rng, now);
                restarts[which] += usize::from(delay < Duration::from_millis(1_600));
            }
        }
        assert_eq!(restarts[0], 1, "only the first delay is short");
        assert!(restarts[1] > 5, "{}", restarts[1]);
    }

    #[test]
    fn health_resets_the_backoff() {
        let mut rng = Rng::new(3);
        let mut backoff = backoff(BackoffReset::AfterHealth(Duration::from_secs(120)));
        for _ in 0..6 {
            let _ = backoff.delay(Duration::ZERO, &mut rng, at(1));
        }
        assert!(backoff.delay(Duration::ZERO, &mut rng, at(121)) >= Duration::from_secs(30));
        // The wait after that one is not health: two minutes count from its end.
        let quiet = at(121 + 60 + 121);
        assert!(backoff.delay(Duration::ZERO, &mut rng, quiet) < Duration::from_millis(1_600));
    }

    #[test]
    fn a_window_of_thirty_seconds_admits_one_error_per_second_31_times() {
        let mut window = RetryWindow::new(Duration::from_secs(30));
        assert_eq!((0..60).take_while(|s| window.admits(at(*s))).count(), 31);
        // Closed, and open again for a new series.
        assert!(window.admits(at(200)));
    }

    #[test]
    fn a_window_begins_anew_after_a_minute_without_an_error() {
        let mut window = RetryWindow::new(Duration::from_secs(30));
        assert!(window.admits(at(0)));
        assert!(window.admits(at(60)), "a new series");
        assert!(window.admits(at(90)));
        assert!(!window.admits(at(91)));
        // Not while errors keep coming.
        let mut window = RetryWindow::new(Duration::from_secs(30));
        assert!(window.admits(at(0)));
        assert!(!window.admits(at(59)));
    }
}
