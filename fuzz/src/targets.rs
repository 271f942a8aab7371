//! What is fuzzed.
//!
//! Whatever has a public function is called by it. The readers of the transport (Retry-After, gzip,
//! what an exec plugin prints) are its own business, so their bytes come in where they do in life: a
//! client asks a server, here on loopback, that answers with whatever the target says.

// Whether a text names a member twice.
mod repeated;

// Lists and watches in any pieces, against both queues.
pub mod signals;

// One object, against serde_json.
pub mod acceptance;

// Label and field selectors.
pub mod selectors;

// Kubeconfig files.
pub mod kubeconfig;

// A server that answers as it is told.
mod loopback;

// Unsuccessful answers, and how long they ask to wait.
pub mod refusal;

// Bodies that come compressed.
pub mod gzip;

// What exec plugins print.
pub mod exec;
