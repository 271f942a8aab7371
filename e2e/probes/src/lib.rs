//! Compares the mock with a real kube-apiserver: the same requests to both.
//!
//! The requests are in a [table](table::chapters()). The answers of a real server are
//! [recorded](record::Record) in `recorded.json`, without everything that differs from run to run.
//! So `cargo test -p informer-probes` checks the mock without a server. A difference fails the
//! test, unless it is on the list of [known ones](known::KNOWN) with a reason. An entry of the list
//! that explains nothing fails the test too.
//!
//! # How to run it against a real server
//!
//! ```console
//! $ e2e/probes/run SERVER             # SERVER is the program of e2e/apiserver
//! $ e2e/probes/run SERVER --record    # …and write down what it answers: look at the diff
//! ```
//!
//! Any other throw-away server works. The probes write to it and do not clean up.
//!
//! ```console
//! $ cargo run -p informer-probes -- --real KUBECONFIG --forget COMMAND
//! ```
//!
//! `COMMAND` runs in a shell. It must make the server forget its history: compact etcd and restart
//! the API server. Without it, the requests about a forgotten history are skipped.

// A request of the table.
mod probe;

// The table of requests.
pub mod table;

// Values that only the server knows.
mod names;

// The location of a server.
mod kubeconfig;

// One request over HTTP.
mod endpoint;

// The parts of an answer that are compared.
mod answer;

// The servers under test.
mod subject;

// Sends all requests.
mod interview;

// The recorded answers.
pub mod record;

// Differences, known and unknown.
pub mod compare;

// The known differences.
pub mod known;

// Errors.
mod error;

pub use error::ProbeError;
pub use interview::interview;
pub use probe::{Chapter, Probe, Step};
pub use subject::Subject;
