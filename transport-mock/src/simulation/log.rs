//! The trace of a run, and the first violation.

use std::fmt;

/// How many trace lines before a violation are shown.
const BEFORE: usize = 25;

/// A violation of the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// The seed of the world.
    pub seed: u64,
    /// What was wrong.
    pub what: String,
    /// The trace lines before the violation; empty without a trace.
    pub surroundings: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {}", self.seed, self.what)?;
        for line in self.surroundings.lines() {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

/// The trace of a run. It stops at the first violation.
#[derive(Debug)]
pub(super) struct Log {
    seed: u64,
    is_tracing: bool,
    lines: Vec<String>,
    violation: Option<Violation>,
}

impl Log {
    pub(super) const fn new(seed: u64, is_tracing: bool) -> Self {
        Self {
            seed,
            is_tracing,
            lines: Vec::new(),
            violation: None,
        }
    }

    /// Adds a line, if tracing is on.
    pub(super) fn line(&mut self, line: impl FnOnce() -> String) {
        if self.is_tracing && self.violation.is_none() {
            self.lines.push(line());
        }
    }

    /// Records a violation. Only the first counts, because others may follow from it.
    pub(super) fn violation(&mut self, what: String) {
        if self.violation.is_some() {
            return;
        }
        self.line(|| format!("VIOLATION {what}"));
        let from = self.lines.len().saturating_sub(BEFORE);
        let surroundings = self.lines.get(from..).unwrap_or_default().join("\n");
        self.violation = Some(Violation {
            seed: self.seed,
            what,
            surroundings,
        });
    }

    /// Records the error as a violation, if there is one.
    pub(super) fn check(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.violation(what);
        }
    }

    pub(super) const fn is_bad(&self) -> bool {
        self.violation.is_some()
    }

    pub(super) fn into_parts(self) -> (String, Option<Violation>) {
        let mut trace = self.lines.join("\n");
        if !trace.is_empty() {
            trace.push('\n');
        }
        (trace, self.violation)
    }
}
