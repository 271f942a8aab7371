//! Tests the transport against servers on loopback, with TLS. Each test writes the server's answers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// Servers, certificates, relays, and a hand that drives a transport.
mod rig;

// Answers of a server.
mod answers;

// Server and client certificates.
mod certificates;

// Kubeconfig files and the environment.
mod config;

// How connections are opened, shared, lost and replaced.
mod connections;

// Tokens, passwords, plugins and impersonation.
mod credentials;

// From names to resources.
mod discovery;

// Protobuf and JSON.
mod encodings;

// Complete informers.
mod informers;

// Limits on lists.
mod limits;

// Pieces of a body that arrive together.
mod pieces;

// Servers without TLS.
mod plaintext;

// Exec plugins that misbehave.
mod plugins;

// Proxies on the way to the server.
mod proxies;

// Why a server cannot be reached.
mod reach;

// Which requests are retried and which connections are reused.
mod repeats;

// Secrets are never printed.
mod secrecy;

// What a client says of itself.
mod status;
