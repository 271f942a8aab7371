//! Measures time without CPU contention from other programs.

use std::time::{Duration, Instant};

/// The nanoseconds that `run` takes. Time spent working or waiting for a lock counts; time spent waiting
/// for a CPU does not. If the system does not tell them apart, all time counts.
pub fn time(run: impl FnOnce()) -> f64 {
    let before = ready();
    let start = Instant::now();
    run();
    let time = start.elapsed();
    let waited = ready().saturating_sub(before);
    time.saturating_sub(waited).as_nanos() as f64
}

/// How long this thread has waited for a CPU: the second of three numbers.
fn ready() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let number = text.split_whitespace().nth(1);
    let nanoseconds = number.and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
