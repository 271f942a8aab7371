//! The report.

use std::fmt;
use std::time::Duration;

use crate::Outcome;

/// What happened after a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Aftermath {
    /// The fault.
    pub fault: String,
    /// From the end of the fault until the store equalled the server; `None` if it never did.
    pub until_equal: Option<Duration>,
    /// Relists.
    pub relists: u64,
    /// Unavoidable relists: the server no longer had the version.
    pub forced: u64,
    /// Duplicate notifications.
    pub duplicates: usize,
    /// Objects that differed in store or handler in the end.
    pub losses: usize,
}

impl Aftermath {
    /// Checks the numbers.
    ///
    /// # Errors
    /// One of them is wrong.
    pub fn judge(&self) -> Outcome {
        let Self {
            until_equal,
            relists,
            forced,
            duplicates,
            losses,
            ..
        } = self;
        if until_equal.is_none() || *losses > 0 {
            return Err(format!("{losses} objects differ from the server").into());
        }
        if *duplicates > 0 {
            return Err(format!("{duplicates} duplicate notifications").into());
        }
        if relists > forced {
            return Err(format!("{relists} relists, only {forced} unavoidable").into());
        }
        Ok(())
    }
}

/// The results of all scenarios.
#[derive(Default, Debug)]
pub struct Report {
    passed: usize,
    failed: Vec<String>,
    faults: Vec<Aftermath>,
    notes: Vec<String>,
}

impl Report {
    /// Records the end of a scenario.
    pub fn ended(&mut self, name: &str, outcome: &Outcome) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(error) => self.failed.push(format!("{name}: {error}")),
        }
    }

    /// Adds a remark.
    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Records what happened after a fault.
    pub fn fault(&mut self, aftermath: Aftermath) {
        self.faults.push(aftermath);
    }

    /// Whether nothing failed.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.failed.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        if !self.faults.is_empty() {
            writeln!(
                f,
                "\n{:<44} {:>12} {:>8} {:>6} {:>10} {:>6}",
                "after this fault", "equal after", "relists", "forced", "duplicates", "losses"
            )?;
        }
        for fault in &self.faults {
            let after = fault.until_equal.map_or_else(
                || "never".to_owned(),
                |after| format!("{:.2} s", after.as_secs_f64()),
            );
            writeln!(
                f,
                "{:<44} {after:>12} {:>8} {:>6} {:>10} {:>6}",
                fault.fault, fault.relists, fault.forced, fault.duplicates, fault.losses
            )?;
        }
        for failed in &self.failed {
            writeln!(f, "FAILED {failed}")?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failed.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Aftermath {
        Aftermath {
            fault: "a cut".to_owned(),
            until_equal: Some(Duration::from_millis(1500)),
            relists: 1,
            forced: 1,
            duplicates: 0,
            losses: 0,
        }
    }

    #[test]
    fn each_column_counts() {
        assert!(good().judge().is_ok());
        let bad = [
            Aftermath {
                relists: 2,
                ..good()
            },
            Aftermath {
                duplicates: 1,
                ..good()
            },
            Aftermath {
                losses: 1,
                ..good()
            },
            Aftermath {
                until_equal: None,
                ..good()
            },
        ];
        for aftermath in bad {
            assert!(aftermath.judge().is_err(), "{aftermath:?}");
        }
    }

    #[test]
    fn the_counts_come_last() {
        let mut report = Report::default();
        report.note("10 pods".to_owned());
        report.fault(good());
        report.ended("one", &Ok(()));
        assert!(report.is_good());
        report.ended("two", &Err("it rains".into()));
        assert!(!report.is_good());
        let text = report.to_string();
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        let expected = [
            "10 pods",
            "",
            "after this fault                              equal after  relists forced duplicates losses",
            "a cut                                              1.50 s        1      1          0      0",
            "FAILED two: it rains",
            "1 passed, 1 failed",
        ];
        assert_eq!(lines, expected);
    }
}
