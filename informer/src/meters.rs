//! Histograms that run only while somebody looks at the metrics.
#![cfg_attr(
    not(feature = "metrics"),
    allow(dead_code, reason = "only metrics switch them on")
)]

use std::time::Duration;

/// How often a value was observed, by its size.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    /// Upper bounds, and how many values are at most that and more than the bound before. The last is
    /// infinite.
    buckets: Vec<(f64, u64)>,
    sum: f64,
    count: u64,
}

impl Histogram {
    /// A histogram with these upper bounds, in ascending order, and an infinite one.
    fn new(bounds: impl IntoIterator<Item = f64>) -> Self {
        let all = bounds.into_iter().chain([f64::INFINITY]);
        Self {
            buckets: all.map(|bound| (bound, 0)).collect(),
            sum: 0.0,
            count: 0,
        }
    }

    pub(crate) fn observe(&mut self, value: f64) {
        let bucket = self.buckets.iter_mut().find(|(bound, _)| value <= *bound);
        if let Some((_, count)) = bucket {
            *count += 1;
            self.count += 1;
            self.sum += value;
        }
    }

    pub(crate) fn observe_time(&mut self, time: Duration) {
        self.observe(time.as_secs_f64());
    }

    pub(crate) fn buckets(&self) -> &[(f64, u64)] {
        &self.buckets
    }

    pub(crate) const fn sum(&self) -> f64 {
        self.sum
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }
}

/// What is measured of an informer.
#[derive(Clone, Debug)]
pub(crate) struct InformerMeters {
    /// How long the core took for a piece of received bytes.
    pub(crate) decode: Histogram,
    /// How long a batch of notifications waited for its handler.
    pub(crate) delivery: Histogram,
    /// How long a full state took.
    pub(crate) list: Histogram,
    /// How many objects a full state had.
    pub(crate) items: Histogram,
}

impl Default for InformerMeters {
    fn default() -> Self {
        Self {
            decode: Histogram::new([
                1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.1, 1.0,
            ]),
            delivery: Histogram::new([
                1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0,
            ]),
            list: Histogram::new([
                0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
            ]),
            items: Histogram::new((0..7).map(|power| 10_f64.powi(power))),
        }
    }
}

/// What is measured of a controller and its queue.
#[derive(Clone, Debug)]
pub(crate) struct QueueMeters {
    /// How long a key was queued.
    pub(crate) queued: Histogram,
    /// How long a worker had a key.
    pub(crate) worked: Histogram,
    /// The same in the buckets of controller-runtime.
    pub(crate) reconciled: Histogram,
}

impl Default for QueueMeters {
    /// The buckets are those of controller-runtime, so that its dashboards work.
    fn default() -> Self {
        let decades = || Histogram::new((-8..=3).map(|power| 10_f64.powi(power)));
        Self {
            queued: decades(),
            worked: decades(),
            reconciled: Histogram::new([
                0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
                0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0,
                8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_is_in_its_bucket() {
        let mut histogram = Histogram::new([1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 2.0, 2.5, f64::INFINITY] {
            histogram.observe(value);
        }
        let counts: Vec<_> = histogram.buckets().iter().map(|it| it.1).collect();
        assert_eq!((counts, histogram.count()), (vec![2, 2, 2], 6));
    }
}
