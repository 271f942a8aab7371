//! The transport against servers on loopback, with TLS: a test plays the server itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// Servers, certificates, wires, and a hand that drives a transport.
mod rig;

// What a server may answer.
mod answers;

// Whom we trust, and whom the server trusts.
mod certificates;

// Kubeconfigs and the like.
mod config;

// How connections are made, shared, lost and made again.
mod connections;

// Who we are.
mod credentials;

// Names to resources.
mod discovery;

// Whole informers.
mod informers;

// What a list may cost.
mod limits;

// Servers without TLS.
mod plaintext;

// Exec plugins that misbehave.
mod plugins;

// Why a server cannot be reached.
mod reach;

// What is sent again, and what is used again.
mod repeats;

// No secret is printed.
mod secrecy;
