//! What happened how often.

use std::collections::BTreeMap;
use std::fmt;

/// What happened how often, in one run or in many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Writes to the server.
    pub writes: u64,
    /// Objects that informers received in lists and events.
    pub events: u64,
    /// Notifications that listeners received.
    pub notifications: u64,
    /// Full states that were read again.
    pub relists: u64,
    /// Times at which everything was compared with the server.
    pub comparisons: u64,
    /// Faults by name.
    pub faults: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Adds what happened elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.writes += other.writes;
        self.events += other.events;
        self.notifications += other.notifications;
        self.relists += other.relists;
        self.comparisons += other.comparisons;
        for (name, times) in &other.faults {
            *self.faults.entry(name).or_default() += times;
        }
    }

    pub(super) fn fault(&mut self, name: &'static str) {
        *self.faults.entry(name).or_default() += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} writes, {} events, {} notifications, {} relists, {} comparisons",
            self.writes, self.events, self.notifications, self.relists, self.comparisons
        )?;
        write!(f, "{} faults:", self.faults.values().sum::<u64>())?;
        for (name, times) in &self.faults {
            write!(f, " {name} {times}")?;
        }
        Ok(())
    }
}
