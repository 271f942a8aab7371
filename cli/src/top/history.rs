//! Events per second, over the last minute.

use std::collections::VecDeque;
use std::time::Duration;

/// How many samples are kept.
const KEPT: usize = 60;

/// How many samples the current rate is the mean of. One alone would flicker.
const RECENT: usize = 5;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Samples of a counter, the oldest first.
#[derive(Clone, Default, Debug)]
pub(crate) struct History {
    total: u64,
    rates: VecDeque<f64>,
}

impl History {
    /// Takes a sample, that long after the last one.
    pub(crate) fn record(&mut self, total: u64, since: Duration) {
        let events = total.saturating_sub(self.total) as f64;
        self.total = total;
        if since.is_zero() {
            return;
        }
        if self.rates.len() == KEPT {
            self.rates.pop_front();
        }
        self.rates.push_back(events / since.as_secs_f64());
    }

    /// The current rate per second; `None` before the first sample.
    pub(crate) fn rate(&self) -> Option<f64> {
        let recent = self.rates.iter().rev().take(RECENT);
        let count = recent.len();
        (count > 0).then(|| recent.sum::<f64>() / count as f64)
    }

    /// The last `width` samples as bars. The highest one of them is a full bar, and only nothing is the
    /// lowest one.
    pub(crate) fn bars(&self, width: usize) -> String {
        let shown = || self.rates.iter().rev().take(width).rev();
        let most = shown().copied().fold(0.0, f64::max);
        let bar = |rate: &f64| {
            let level = match rate / most {
                part if part > 0.0 => 1 + (part * (BARS.len() - 2) as f64).round() as usize,
                _ => 0,
            };
            BARS.get(level).copied().unwrap_or_default()
        };
        shown().map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn of(totals: &[u64]) -> History {
        let mut history = History::default();
        for total in totals {
            history.record(*total, SECOND);
        }
        history
    }

    #[test]
    fn a_rate_is_the_mean_of_the_last_seconds() {
        assert_eq!(of(&[]).rate(), None);
        assert_eq!(of(&[3]).rate(), Some(3.0));
        assert_eq!(of(&[100, 100, 101, 103, 106, 110]).rate(), Some(2.0));
        let mut history = of(&[]);
        history.record(10, Duration::from_secs(4));
        assert_eq!(history.rate(), Some(2.5));
        // Without time there is no rate.
        history.record(10, Duration::ZERO);
        assert_eq!(history.rate(), Some(2.5));
    }

    #[test]
    fn bars_are_scaled_to_the_highest_that_is_shown() {
        assert_eq!(of(&[]).bars(8), "");
        assert_eq!(of(&[0, 0]).bars(8), "▁▁");
        assert_eq!(of(&[0, 1, 101, 151]).bars(8), "▁▂█▅");
        // The peak is out of sight.
        assert_eq!(of(&[0, 100, 101, 103]).bars(2), "▅█");
    }

    #[test]
    fn a_minute_is_kept() {
        let totals: Vec<u64> = (1..=100).collect();
        assert_eq!(of(&totals).bars(usize::MAX).chars().count(), KEPT);
    }
}
