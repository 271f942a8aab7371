//! The report. The keys are those of the other programs.

use crate::options::{Form, Strategy};

/// One line of JSON. Memory is in bytes.
#[derive(serde::Serialize, Debug, Default)]
pub(crate) struct Report {
    pub(crate) contender: &'static str,
    pub(crate) allocator: &'static str,
    pub(crate) form: Form,
    pub(crate) strategy: Strategy,
    pub(crate) handlers: u16,
    /// The number of stored pods, if there is a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<usize>,
    /// The length of the first state as it was sent, without gzip, if that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer_bytes: Option<u64>,
    pub(crate) sync_ms: f64,
    pub(crate) store_ready_ms: f64,
    pub(crate) sync_cpu_ms: f64,
    pub(crate) rss_baseline: u64,
    pub(crate) rss_after_sync: u64,
    pub(crate) rss_peak: u64,
    /// Unlike the other programs, we cannot ask the allocator to release memory, which takes
    /// `unsafe`. So this is an upper bound.
    pub(crate) rss_settled: u64,
    /// The allocator's live heap. Not measured, always 0.
    pub(crate) heap_live: u64,
    pub(crate) rss_end: u64,
    pub(crate) rss_peak_end: u64,
    pub(crate) churn_events: u32,
    pub(crate) churn_seen: u64,
    pub(crate) churn_ms: f64,
    pub(crate) churn_events_per_s: f64,
    pub(crate) churn_cpu_us_per_event: f64,
    pub(crate) lat_p50_us: f64,
    pub(crate) lat_p99_us: f64,
    pub(crate) lat_max_us: f64,
    pub(crate) lat_cpu_us_per_event: f64,
    pub(crate) get_ops_s: f64,
    pub(crate) list_all_us: f64,
    pub(crate) list_ns_us: f64,
    pub(crate) index_app_us: f64,
}
