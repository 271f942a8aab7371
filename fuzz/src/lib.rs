//! Fuzz targets: one function for every place where bytes come in from outside.
//!
//! A target takes any bytes and panics if something is wrong. "It does not panic" is never all that it
//! checks: each has an oracle, such as a naive model, another implementation, or the same bytes cut in
//! another way. The first lines of each file of [`targets`] say which.
//!
//! Two drivers run the same functions:
//!
//! * `cargo run --profile checked -p informer-fuzz` mutates a corpus by seeds, on stable Rust. The same seed
//!   makes the same input.
//! * libFuzzer, with coverage: `cargo +nightly fuzz run --fuzz-dir fuzz/libfuzzer TARGET`.
//!
//! A finding that is mended becomes a file in `fixtures/TARGET/`, and `cargo test` replays it for ever.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "an oracle speaks by panicking"
)]

// Numbers from a seed.
mod random;

// An input becomes another one.
pub mod mutate;

// What is fuzzed.
pub mod targets;

// Runs a target and says what it found.
pub mod run;

use std::path::PathBuf;

/// One place where bytes come in.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Target {
    /// The name of the target, of its corpus and of its fixtures.
    pub name: &'static str,
    /// Takes any bytes, and panics if something is wrong.
    pub run: fn(&[u8]),
    /// What mutations insert: words that mean something here.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    targets::signals::TARGET,
    targets::acceptance::TARGET,
    targets::selectors::TARGET,
    targets::kubeconfig::TARGET,
    targets::refusal::TARGET,
    targets::gzip::TARGET,
    targets::exec::TARGET,
];

/// The folder of this crate: the corpus, the fixtures and the findings lie there.
#[must_use]
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Target {
    /// The target of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.iter().find(|target| target.name == name).copied()
    }

    /// The inputs in `corpus/` or `fixtures/`, with their file names, in a fixed order.
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
