//! Runs a target and reports findings.

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::{Target, folder, mutate};

/// An input at which a target panicked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// The panic message and its location.
    pub message: String,
}

/// The message of the last panic.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Runs one input.
///
/// # Errors
/// The target panicked.
pub fn one(target: &Target, input: &[u8]) -> Result<(), Finding> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        panic::set_hook(Box::new(|info| {
            *SAID.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
        }));
    });
    panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|_| Finding {
        input: input.to_vec(),
        message: SAID.lock().unwrap_or_else(PoisonError::into_inner).clone(),
    })
}

/// The input of a seed.
#[must_use]
pub fn input_of(target: &Target, corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
    mutate::input(seed, corpus, target.words)
}

/// The corpus and the fixtures: mutations start from both.
#[must_use]
pub fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let of = |folder| target.inputs(folder).into_iter().map(|(_, input)| input);
    of("corpus").chain(of("fixtures")).collect()
}

/// Removes parts of a finding while the target still panics, for a few seconds at most.
#[must_use]
pub fn shrink(target: &Target, mut finding: Finding) -> Finding {
    const PATIENCE: Duration = Duration::from_secs(5);
    let begun = Instant::now();
    let mut length = finding.input.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at < finding.input.len() {
            if begun.elapsed() > PATIENCE {
                return finding;
            }
            let mut shorter = finding.input.clone();
            shorter.drain(at..(at + length).min(shorter.len()));
            match one(target, &shorter) {
                Ok(()) => at += length,
                Err(found) => finding = found,
            }
        }
        length /= 2;
    }
    finding
}

/// Writes a finding to `findings/TARGET/`.
///
/// # Errors
/// The file cannot be written.
pub fn keep(target: &Target, seed: u64, finding: &Finding) -> std::io::Result<PathBuf> {
    let folder = folder().join("findings").join(target.name);
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("seed-{seed}"));
    std::fs::write(&file, &finding.input)?;
    Ok(file)
}
