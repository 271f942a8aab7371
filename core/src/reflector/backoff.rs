//! Delays after failures.

use core::time::Duration;

use super::config::{BackoffConfig, BackoffReset};
use crate::rng::Rng;
use crate::time::Instant;

/// The one back-off of a reflector. Each delay doubles, up to a cap. A random part of up to the same
/// length is added, so that clients do not all return at once when a server comes back.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    config: BackoffConfig,
    next: Duration,
    /// The start of the time that the reset rule measures.
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

    /// Begins again with the shortest delay.
    pub(super) const fn start_over(&mut self, now: Instant) {
        *self = Self::new(self.config, now);
    }

    /// Returns the next delay, which is at least `at_least`. With `AfterHealth`, the delay itself does not
    /// count as healthy time.
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

/// The time after the first internal error of a series in which the reflector may watch again without
/// a relist.
#[derive(Clone, Debug)]
pub(super) struct RetryWindow {
    length: Duration,
    /// The first and the last error of the series.
    series: Option<(Instant, Instant)>,
}

/// After this time without an internal error, the next one starts a new series.
const NEW_SERIES: Duration = Duration::from_secs(60);

impl RetryWindow {
    pub(super) const fn new(length: Duration) -> Self {
        Self {
            length,
            series: None,
        }
    }

    /// Records an internal error. Returns whether the reflector may watch again without a relist.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let first = match self.series {
            Some((first, last)) if now.since(last) < NEW_SERIES => first,
            _ => now,
        };
        let admitted = now.since(first) <= self.length;
        self.series = admitted.then_some((first, now));
        admitted
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
    fn delays_double_up_to_the_cap_and_jitter_adds_up_to_the_same() {
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

    /// With one failure every 30 seconds, the default stays at the cap and client-go's rule starts over.
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
        // The delay does not count as healthy time: the two minutes start at its end.
        let quiet = at(121 + 60 + 121);
        assert!(backoff.delay(Duration::ZERO, &mut rng, quiet) < Duration::from_millis(1_600));
    }

    #[test]
    fn a_window_of_thirty_seconds_admits_one_error_per_second_31_times() {
        let mut window = RetryWindow::new(Duration::from_secs(30));
        assert_eq!((0..60).take_while(|s| window.admits(at(*s))).count(), 31);
        // The window has closed. A new series opens it again.
        assert!(window.admits(at(200)));
    }

    #[test]
    fn a_minute_without_an_error_starts_a_new_window() {
        let mut window = RetryWindow::new(Duration::from_secs(30));
        assert!(window.admits(at(0)));
        assert!(window.admits(at(60)), "a new series");
        assert!(window.admits(at(90)));
        assert!(!window.admits(at(91)));
        // It stays closed while errors keep coming.
        let mut window = RetryWindow::new(Duration::from_secs(30));
        assert!(window.admits(at(0)));
        assert!(!window.admits(at(59)));
    }
}
