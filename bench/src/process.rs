//! Memory and CPU time of this process, as Linux counts them. `bench-receive` includes this file.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Memory in use now, in bytes.
pub(crate) fn resident() -> u64 {
    status("VmRSS:")
}

/// Peak memory, in bytes.
pub(crate) fn peak() -> u64 {
    status("VmHWM:")
}

/// CPU time of all threads, including ended ones, as in `getrusage`.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// A line of `/proc/self/status` in kB.
fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0) * 1024
}
