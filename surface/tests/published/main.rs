//! What strangers see of the published crates is complete and true.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

// The manifests.
mod manifests;

// The tables of features.
mod features;

// The trees of dependencies.
mod trees;
