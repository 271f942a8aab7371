//! Results of a file, and of all files.

use alloc::collections::BTreeMap;
use core::fmt;
use core::ops::AddAssign;

use crate::{Outcome, Skip};

/// The results of one file. Displays as one line, plus one for each failure and each reason to
/// skip.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileReport {
    name: String,
    passed: u64,
    failed: Vec<Failed>,
    skipped: BTreeMap<Skip, u64>,
}

/// One failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failed {
    /// The id of the case, or the location of an invalid line.
    id: String,
    step: Option<usize>,
    what: String,
}

impl Failed {
    pub(crate) const fn new(id: String, step: Option<usize>, what: String) -> Self {
        Self { id, step, what }
    }
}

impl FileReport {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            passed: 0,
            failed: Vec::new(),
            skipped: BTreeMap::new(),
        }
    }

    pub(crate) fn count(&mut self, id: &str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Skipped(reason) => *self.skipped.entry(reason).or_default() += 1,
            Outcome::Failed { step, what } => self.fail(Failed::new(id.to_owned(), step, what)),
        }
    }

    pub(crate) fn fail(&mut self, failed: Failed) {
        self.failed.push(failed);
    }

    /// The name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The counts.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals {
            passed: self.passed,
            failed: self.failed.len() as u64,
            skipped: self.skipped.values().sum(),
        }
    }

    /// How many cases were skipped, by reason.
    #[must_use]
    pub const fn skipped(&self) -> &BTreeMap<Skip, u64> {
        &self.skipped
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.totals())?;
        for (reason, count) in &self.skipped {
            write!(f, "\n  skipped {count}: {}", reason.name())?;
        }
        for Failed { id, step, what } in &self.failed {
            write!(f, "\n  FAILED {id}")?;
            if let Some(step) = step {
                write!(f, ", step {step}")?;
            }
            write!(f, ": {what}")?;
        }
        Ok(())
    }
}

/// How many cases passed, failed and were skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Totals {
    /// Cases that equal the record.
    pub passed: u64,
    /// Cases that differ from the record, and unreadable inputs.
    pub failed: u64,
    /// Skipped cases.
    pub skipped: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
