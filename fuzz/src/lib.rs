//! Fuzz targets: one function for every place where bytes come in from outside.
//!
//! A target takes any bytes and panics if something is wrong. It never checks only that nothing
//! panics: each target has an oracle, such as a naive model, another implementation, or the same
//! bytes cut in another way. The header of each file in [`targets`] names it.
//!
//! Two drivers run the same functions:
//!
//! * `cargo run --profile checked -p informer-fuzz` mutates a corpus by seeds, on stable Rust. The
//!   same seed gives the same input.
//! * libFuzzer, with coverage: `cargo +nightly fuzz run --fuzz-dir fuzz/libfuzzer TARGET`.
//!
//! When a finding is fixed, it becomes a file in `fixtures/TARGET/`, and `cargo test` replays it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "oracles panic"
)]

// Seeded random numbers.
mod random;

// Mutations of inputs.
pub mod mutate;

// The targets.
pub mod targets;

// Runs a target and reports findings.
pub mod run;

use std::path::PathBuf;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Target {
    /// The name of the target, its corpus and its fixtures.
    pub name: &'static str,
    /// Takes any bytes, and panics if something is wrong.
    pub run: fn(&[u8]),
    /// Meaningful words for mutations to insert.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    targets::signals::TARGET,
    targets::acceptance::TARGET,
    targets::protobuf::TARGET,
    targets::selectors::TARGET,
    targets::kubeconfig::TARGET,
    targets::refusal::TARGET,
    targets::gzip::TARGET,
    targets::exec::TARGET,
];

/// The folder of this crate, with the corpus, the fixtures and the findings.
#[must_use]
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Target {
    /// The target with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.iter().find(|target| target.name == name).copied()
    }

    /// The inputs in `corpus/` or `fixtures/` with their file names, in a fixed order.
    ///
    /// # Panics
    /// A file cannot be read.
    #[must_use]
    pub fn inputs(&self, of: &str) -> Vec<(String, Vec<u8>)> {
        let folder = folder().join(of).join(self.name);
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Vec::new();
        };
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let read = |file: PathBuf| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(file).unwrap())
        };
        files.into_iter().map(read).collect()
    }
}
