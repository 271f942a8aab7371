//! What a handler has seen of a series of events, from the first to the marker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use informer_bench_pods::{MARKER, SENT};
use k8s_openapi::api::core::v1::Pod;

/// One for each handler and series.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    seen: AtomicU64,
    /// In ns since 1970.
    first: AtomicU64,
    /// The time of the marker; 0 before.
    end: AtomicU64,
    /// In ns; empty unless wanted.
    latencies: Mutex<Vec<u64>>,
    wants_latencies: bool,
}

impl Tally {
    pub(crate) fn with_latencies() -> Self {
        Self {
            wants_latencies: true,
            ..Self::default()
        }
    }

    pub(crate) fn count(&self, pod: &Pod) {
        if self.seen.fetch_add(1, Ordering::Relaxed) == 0 {
            self.first.store(now(), Ordering::Relaxed);
        }
        if self.wants_latencies
            && let Some(sent) = sent(pod)
        {
            let latency = now().saturating_sub(sent);
            let mut latencies = self
                .latencies
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            latencies.push(latency);
        }
        if pod.metadata.name.as_deref() == Some(MARKER) {
            self.end.store(now(), Ordering::Release);
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.load(Ordering::Acquire) != 0
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    pub(crate) fn latencies(&self) -> Vec<u64> {
        let latencies = self.latencies.lock();
        latencies.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From the first event at any handler to the marker at all.
    pub(crate) fn span<'a>(tallies: impl Iterator<Item = &'a Self> + Clone) -> Duration {
        let first = tallies
            .clone()
            .map(|tally| tally.first.load(Ordering::Relaxed));
        let end = tallies.map(|tally| tally.end.load(Ordering::Relaxed));
        let nanos = end
            .max()
            .unwrap_or(0)
            .saturating_sub(first.min().unwrap_or(0));
        Duration::from_nanos(nanos)
    }
}

fn sent(pod: &Pod) -> Option<u64> {
    pod.metadata.annotations.as_ref()?.get(SENT)?.parse().ok()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
