//! Informers against a real kube-apiserver: `e2e [--quick] [NAME…]`. Started by `e2e/run`, which
//! builds the server and sets `E2E_APISERVER` to its path.
//!
//! `transport-kube/e2e` is the same with another `clients`.

// Clients over hyper.
mod clients;

// The scenarios.
mod scenarios;

// The program.
mod program;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    program::main().await
}
