//! Is the mock honest? The same questions to a real kube-apiserver and to the mock, and a comparison
//! of what they answer.
//!
//! The questions are a [table](table::chapters()). What a real server answered is
//! [recorded](record::Record) in `recorded.json`, with everything left out that differs from run to
//! run; so the mock is held against the truth by `cargo test -p informer-probes`, without a server.
//! A difference fails, unless it stands with its reason on the list of [known ones](known::KNOWN);
//! an entry of the list that explains nothing fails, too.
//!
//! # How to run it against a real server
//!
//! ```console
//! $ e2e/probes/run SERVER             # SERVER is the program of e2e/apiserver
//! $ e2e/probes/run SERVER --record    # …and write down what it answers: look at the diff
//! ```
//!
//! Any other server will do that may be thrown away: the probes write to it and do not tidy up.
//!
//! ```console
//! $ cargo run -p informer-probes -- --real KUBECONFIG --forget COMMAND
//! ```
//!
//! `COMMAND` is for a shell; it must make the server forget the past: compact etcd, and start the
//! API server again. Without it, the questions about a forgotten past are left out.

// What is asked.
mod probe;

// The questions.
pub mod table;

// What only the server knows.
mod names;

// Where a server is.
mod kubeconfig;

// One request over HTTP.
mod endpoint;

// What is compared of an answer.
mod answer;

// The servers that are asked.
mod subject;

// Asks everything.
mod interview;

// What a real server answered.
pub mod record;

// Differences, known and not.
pub mod compare;

// The short list.
pub mod known;

// What can go wrong on the way.
mod error;

pub use error::ProbeError;
pub use interview::interview;
pub use probe::{Chapter, Probe, Step};
pub use subject::Subject;
