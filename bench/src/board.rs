//! What the handlers record, and waiting for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use informer::Notification;

use crate::pods::Measured;

/// The pod that the load server sends after all others.
const MARKER: &str = "zz-bench-marker";

/// One sheet per handler.
#[derive(Debug)]
pub(crate) struct Board {
    armed: AtomicBool,
    latency: AtomicBool,
    sheets: Vec<Sheet>,
}

/// What one handler has seen since the board was armed.
#[derive(Default, Debug)]
struct Sheet {
    events: AtomicU64,
    /// When it saw the first event, in ns since 1970.
    first: AtomicU64,
    /// When it saw the last one.
    marker: AtomicU64,
    /// Latencies of events, in ns.
    taken: Mutex<Vec<u64>>,
}

impl Sheet {
    fn taken(&self) -> MutexGuard<'_, Vec<u64>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    pub(crate) fn new(handlers: u16) -> Self {
        Self {
            armed: AtomicBool::new(false),
            latency: AtomicBool::new(false),
            sheets: (0..handlers).map(|_| Sheet::default()).collect(),
        }
    }

    /// Records a notification of a handler.
    pub(crate) fn write<K: Measured>(
        &self,
        handler: u16,
        notification: &Notification<informer::Object<K>>,
    ) {
        if !self.armed.load(Ordering::Relaxed) {
            return;
        }
        let Some(sheet) = self.sheets.get(usize::from(handler)) else {
            return;
        };
        if sheet.events.fetch_add(1, Ordering::Relaxed) == 0 {
            sheet.first.store(now(), Ordering::Relaxed);
        }
        let pod = match notification {
            Notification::Added { object, .. } => Some(object),
            Notification::Updated { new, .. } => Some(new),
            Notification::Deleted { last, .. } => last.as_ref(),
        };
        if self.latency.load(Ordering::Relaxed)
            && let Some(sent) = pod.and_then(K::sent)
        {
            sheet.taken().push(now().saturating_sub(sent));
        }
        if notification.key().name() == MARKER {
            sheet.marker.store(now(), Ordering::Release);
        }
    }

    /// Starts counting events. With `latency`, also records the latency of each.
    pub(crate) fn arm(&self, latency: bool) {
        for sheet in &self.sheets {
            sheet.events.store(0, Ordering::Relaxed);
            sheet.first.store(0, Ordering::Relaxed);
            sheet.marker.store(0, Ordering::Relaxed);
            sheet.taken().clear();
        }
        self.latency.store(latency, Ordering::Relaxed);
        self.armed.store(true, Ordering::Release);
    }

    /// Waits until every handler has seen the last event. It polls once per millisecond, like the
    /// other programs of the benchmark; this is part of the CPU time of all of them.
    pub(crate) async fn marker(&self) {
        let seen = |sheet: &Sheet| sheet.marker.load(Ordering::Acquire) != 0;
        while !self.sheets.iter().all(seen) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.armed.store(false, Ordering::Release);
    }

    /// From the first event at any handler to the last one at all of them.
    pub(crate) fn span(&self) -> Duration {
        let first = |sheet: &Sheet| sheet.first.load(Ordering::Relaxed);
        let marker = |sheet: &Sheet| sheet.marker.load(Ordering::Relaxed);
        let first = self.sheets.iter().map(first).min().unwrap_or_default();
        let last = self.sheets.iter().map(marker).max().unwrap_or_default();
        Duration::from_nanos(last.saturating_sub(first))
    }

    /// How many events the first handler has seen.
    pub(crate) fn events(&self) -> u64 {
        let first = self.sheets.first();
        first.map_or(0, |sheet| sheet.events.load(Ordering::Relaxed))
    }

    /// The latencies of events at all handlers, in ns, sorted.
    pub(crate) fn latencies(&self) -> Vec<u64> {
        let taken = |sheet: &Sheet| std::mem::take(&mut *sheet.taken());
        let mut all: Vec<u64> = self.sheets.iter().flat_map(taken).collect();
        all.sort_unstable();
        all
    }
}

/// In ns since 1970, as the load server writes it into its events.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.unwrap_or_default().as_nanos();
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
