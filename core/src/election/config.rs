//! The settings of an election.

use core::fmt;
use core::time::Duration;

/// How far the waits of followers are spread: up to this many tenths of the retry period are added.
pub(super) const JITTER_TENTHS: u64 = 12;

/// The settings of an election. The defaults are those of client-go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "users set the public fields")]
pub struct ElectionConfig {
    /// How long the others wait after the last renewal that they saw before one of them takes over. A Lease
    /// counts whole seconds, rounded up. Default 15 s.
    pub lease_duration: Duration,
    /// How long after its last successful renewal a leader leads, at most. It must be shorter than the
    /// lease; the difference is what clocks may differ by in that time. Default 10 s.
    pub renew_deadline: Duration,
    /// How long to wait between two attempts. Default 2 s. Followers wait up to 1.2 times longer.
    pub retry_period: Duration,
    /// Whether a leader that is stopped gives the lease up, so that another one need not wait. Default true.
    pub release_on_stop: bool,
}

impl ElectionConfig {
    /// The default settings.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            release_on_stop: true,
        }
    }

    /// Applies the rules of client-go.
    pub(super) fn check(&self) -> Result<(), InvalidElection> {
        let longest_wait = self.retry_period * (10 + JITTER_TENTHS as u32) / 10;
        if self.retry_period.is_zero() {
            Err(InvalidElection("retry_period is zero; set it above zero"))
        } else if self.lease_duration < Duration::from_secs(1) {
            Err(InvalidElection(
                "lease_duration is shorter than a second; a Lease counts whole seconds",
            ))
        } else if self.renew_deadline >= self.lease_duration {
            Err(InvalidElection(
                "renew_deadline is not shorter than lease_duration; two replicas could lead at once",
            ))
        } else if self.renew_deadline <= longest_wait {
            Err(InvalidElection(
                "renew_deadline is not longer than 2.2 times retry_period; a leader would lose its lease \
                 between two attempts",
            ))
        } else {
            Ok(())
        }
    }
}

impl Default for ElectionConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// The settings of an election do not fit together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidElection(pub(super) &'static str);

impl fmt::Display for InvalidElection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for InvalidElection {}
