//! Informers over a kube client against the mock server over HTTP.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

// Clients of kube-rs.
mod client;

// Informers that follow a server.
#[path = "../../../informer/tests/over_http/follows.rs"]
mod follows;

// Elections.
#[path = "../../../informer/tests/over_http/elects.rs"]
mod elects;

// Informers that stop reading.
#[path = "../../../informer/tests/over_http/stalled_lists.rs"]
mod stalled_lists;

// Caches compared with the server.
#[path = "../../../informer/tests/over_http/verifies.rs"]
mod verifies;

// Layers of the service stack.
mod middleware;

// Bodies that nobody reads.
mod pressure;

// Types of kube-rs.
mod kinds;

// An informer outside of tokio.
mod threads;

// The hello world of the README.
mod hello;

// Resources by name.
mod discovery;

// Errors and what they say.
mod errors;
