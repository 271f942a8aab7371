//! The targets.
//!
//! Code with a public function is called directly. The transport's own parsers (Retry-After, gzip,
//! the output of exec plugins) are private. They get their bytes the real way: a client sends a
//! request to a server on loopback, which answers with the bytes of the target.

// Whether a JSON text repeats a member.
mod repeated;

// Lists and watches in any pieces, against both queues.
pub mod signals;

// One object, against serde_json.
pub mod acceptance;

// Objects, lists and watches in protobuf, against prost.
pub mod protobuf;

// Label and field selectors.
pub mod selectors;

// Kubeconfig files.
pub mod kubeconfig;

// A server with scripted answers.
mod loopback;

// Error answers, and how long they ask to wait.
pub mod refusal;

// Compressed bodies.
pub mod gzip;

// The output of exec plugins.
pub mod exec;
