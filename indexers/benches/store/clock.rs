//! Time without the time in which other programs had the processor.

use std::time::{Duration, Instant};

/// The nanoseconds that `run` takes: those in which this thread works or waits for a lock, but not those
/// in which it is ready to run and another one has its processor. Where the system does not tell them
/// apart, all of them.
pub fn time(run: impl FnOnce()) -> f64 {
    let before = ready();
    let start = Instant::now();
    run();
    let time = start.elapsed();
    let waited = ready().saturating_sub(before);
    time.saturating_sub(waited).as_nanos() as f64
}

/// How long this thread has been ready without running: the second number of three.
fn ready() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let number = text.split_whitespace().nth(1);
    let nanoseconds = number.and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
