//! What this process costs, by the counts of Linux.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Resident memory in bytes: now, and at its peak.
pub(crate) fn memory() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let bytes = |name| kilobytes(name).unwrap_or(0) * 1024;
    (bytes("VmRSS:"), bytes("VmHWM:"))
}
