//! Informers over a kube client against a real kube-apiserver: `e2e-kube [--quick] [NAME…]`. Started by
//! `e2e/run`, which builds the server and sets `E2E_APISERVER` to its path.

// Clients of kube-rs.
mod clients;

// A derived custom resource.
mod derived;

// The scenarios.
#[path = "../../../e2e/src/scenarios/mod.rs"]
mod scenarios;

// The program.
#[path = "../../../e2e/src/program.rs"]
mod program;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    program::main().await
}
