//! Informers over hyper against the mock server over HTTP: real sockets and real time, without sleeping. The
//! tests of `transport-kube` run the same modules with another `client`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

// Clients over hyper.
mod client;

// Informers that follow a server.
mod follows;

// Elections.
mod elects;

// Informers that stop reading.
mod stalled_lists;

// Caches compared with the server.
mod verifies;
