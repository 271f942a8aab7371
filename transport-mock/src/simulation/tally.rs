//! Counts of what happened.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of what happened, in one run or in many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Writes to the server.
    pub writes: u64,
    /// Objects that informers received in lists and events.
    pub events: u64,
    /// Notifications that listeners received.
    pub notifications: u64,
    /// Relists.
    pub relists: u64,
    /// Sources that came or went while their informer was running.
    pub sources: u64,
    /// Comparisons of everything with the server.
    pub comparisons: u64,
    /// Faults by name.
    pub faults: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        self.writes += other.writes;
        self.events += other.events;
        self.notifications += other.notifications;
        self.relists += other.relists;
        self.sources += other.sources;
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
            "{} writes, {} events, {} notifications, {} relists, {} changes of sources, {} comparisons",
            self.writes,
            self.events,
            self.notifications,
            self.relists,
            self.sources,
            self.comparisons
        )?;
        write!(f, "{} faults:", self.faults.values().sum::<u64>())?;
        for (name, times) in &self.faults {
            write!(f, " {name} {times}")?;
        }
        Ok(())
    }
}
