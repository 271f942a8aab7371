//! Faults between an informer over a kube client and a server: all tests of `informer`, with another client.
//!
//! kube reads the files of tokens and authorities about once a minute: the tests that replace them take two.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Clients of kube-rs.
mod client;

// A proxy that injects faults.
#[path = "../../../informer/tests/faults_over_http/wire.rs"]
mod wire;

// The objects of a server.
#[path = "../../../informer/tests/world/view.rs"]
#[allow(unreachable_pub, reason = "other tests use this module, too")]
mod view;

// An informer that is checked against the server.
#[path = "../../../informer/tests/faults_over_http/followed.rs"]
mod followed;

// Watches that break.
#[path = "../../../informer/tests/faults_over_http/broken.rs"]
mod broken;

// Bad answers.
#[path = "../../../informer/tests/faults_over_http/refused.rs"]
mod refused;

// Shared connections and GOAWAY.
#[path = "../../../informer/tests/faults_over_http/go_away.rs"]
mod go_away;

// Files that change.
#[path = "../../../informer/tests/faults_over_http/files.rs"]
mod files;

// Changing tokens.
#[path = "../../../informer/tests/faults_over_http/tokens.rs"]
mod tokens;

// Unknown certificate authorities.
#[path = "../../../informer/tests/faults_over_http/trust.rs"]
mod trust;

// Changing certificate authorities.
#[path = "../../../informer/tests/faults_over_http/authorities.rs"]
mod authorities;

// Tokens that a layer shows.
mod layers;

// What kube makes of the files that a kubeconfig names.
mod kubeconfig;

// Watches that are silent for longer than the client allows.
mod silence;

// Requests that the client itself repeats.
mod repeats;

// Writes.
#[path = "../../../informer/tests/faults_over_http/writes.rs"]
mod writes;
