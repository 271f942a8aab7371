//! Replays the recorded behaviour of client-go through the public API of `informer-core` and
//! `informer-indexers`. Whole informers are also replayed through the crate `informer`, the front
//! door.
//!
//! Each line of a `.jsonl` file is one case: how to build a machine, what to do to it, and what the
//! real client-go answered after every step. `vectors/README.md` describes the format. A case
//! passes only if every step gives everything that was recorded. Cases that we cannot express are
//! skipped, counted and named.

extern crate alloc;

// The format of the vectors.
mod vector;

// The first difference between two answers.
mod compare;

// One module per family.
mod delta_fifo;
mod in_order;
mod indexer;
mod keys;
mod selectors;
mod shared_informer;
mod workqueue;

// Texts of a Kubernetes API server.
mod server;

// Results of a file.
mod report;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Error, Result};
use std::path::{Path, PathBuf};

use report::Failed;
pub use report::{FileReport, Totals};
pub use vector::Case;

/// The result of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Outcome {
    /// Everything is as recorded.
    Passed,
    /// The case was skipped for this reason.
    Skipped(Skip),
    /// Something differs from the record.
    Failed {
        /// The number of the step, from 1; `None` if the first step was not reached.
        step: Option<usize>,
        /// The first difference.
        what: String,
    },
}

/// Why a case is skipped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Skip {
    /// The in-order queue without atomic events; we have only the atomic one.
    PlainInOrder,
    /// A value without metadata is used as an object; our types prevent that.
    KeyError,
    /// An index function fails; ours cannot.
    IndexError,
    /// The key of something that is not an object; our types prevent that.
    KeyOfOther,
}

impl Skip {
    /// The name of the reason.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PlainInOrder => "plain_in_order",
            Self::KeyError => "key_error",
            Self::IndexError => "index_error",
            Self::KeyOfOther => "key_of_other",
        }
    }
}

/// The API that a case is replayed through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Way {
    /// The machines themselves, driven by hand. Works for every case.
    ByHand,
    /// The crate `informer`. Works for whole informers only.
    FrontDoor,
}

/// Replays one case.
#[must_use]
pub fn run_case(case: &Case, way: Way) -> Outcome {
    if let Some(reason) = reason_to_skip(case) {
        return Outcome::Skipped(reason);
    }
    let played = match case.family.as_str() {
        "shared_informer" => shared_informer::replay(case, way),
        family if way == Way::FrontDoor => Err(vector::Mismatch::before_the_steps(format!(
            "the family {family:?} has no front door"
        ))),
        "keys" => keys::replay(case),
        "delta_fifo" => delta_fifo::replay(case),
        "real_fifo" => in_order::replay(case),
        "indexer" => indexer::replay(case),
        "selectors" => selectors::replay(case),
        "workqueue" => workqueue::replay(case),
        family => Err(vector::Mismatch::before_the_steps(format!(
            "unknown family: {family:?}"
        ))),
    };
    match played {
        Ok(()) => Outcome::Passed,
        Err(vector::Mismatch { step, what }) => Outcome::Failed { step, what },
    }
}

/// Whether a case is also replayed through the front door. Skipped cases count once.
fn is_for_front_door(case: &Case) -> bool {
    case.family == "shared_informer" && reason_to_skip(case).is_none()
}

fn reason_to_skip(case: &Case) -> Option<Skip> {
    match case.family.as_str() {
        _ if case.has_tag("key_error") => Some(Skip::KeyError),
        _ if case.has_tag("index_error") => Some(Skip::IndexError),
        "keys" if keys::asks_for_no_object(case) => Some(Skip::KeyOfOther),
        "real_fifo" if in_order::is_plain(case) => Some(Skip::PlainInOrder),
        "shared_informer" if shared_informer::is_plain(case) => Some(Skip::PlainInOrder),
        _ => None,
    }
}

/// Replays all cases of a text, one per line; empty lines are ignored. If there are whole informers
/// among them, a second report has their results through the front door.
///
/// # Errors The text could not be read to its end. A line that is not a case is a failure in the
/// first report.
pub fn run_lines(name: &str, mut text: impl BufRead) -> Result<Vec<FileReport>> {
    let mut report = FileReport::new(name);
    let mut front_door = None;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if text.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match Case::parse(&line) {
            Ok(case) => {
                report.count(case.id(), run_case(&case, Way::ByHand));
                if is_for_front_door(&case) {
                    let name = || format!("{name} through the front door");
                    let report = front_door.get_or_insert_with(|| FileReport::new(&name()));
                    report.count(case.id(), run_case(&case, Way::FrontDoor));
                }
            }
            Err(error) => report.fail(Failed::new(
                format!("{name}, line {number}"),
                None,
                format!("not a case: {error}"),
            )),
        }
    }
    Ok([report].into_iter().chain(front_door).collect())
}

/// Replays all cases of a file. A file that cannot be read is a failure in the report.
#[must_use]
pub fn run_file(path: &Path) -> Vec<FileReport> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let played = File::open(path).and_then(|file| run_lines(&name, BufReader::new(file)));
    played.unwrap_or_else(|error| vec![unreadable(path, &error)])
}

/// Replays all cases of a file, or of every `.jsonl` file in a folder, in name order.
#[must_use]
pub fn run_path(path: &Path) -> Vec<FileReport> {
    if !path.is_dir() {
        return run_file(path);
    }
    match vector_files(path) {
        Ok(files) if files.is_empty() => {
            let error = Error::other("there is no .jsonl file in this folder");
            vec![unreadable(path, &error)]
        }
        Ok(files) => files.iter().flat_map(|file| run_file(file)).collect(),
        Err(error) => vec![unreadable(path, &error)],
    }
}

fn vector_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("jsonl")) && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn unreadable(path: &Path, error: &Error) -> FileReport {
    let name = path.display().to_string();
    let mut report = FileReport::new(&name);
    report.fail(Failed::new(name, None, format!("cannot be read: {error}")));
    report
}
