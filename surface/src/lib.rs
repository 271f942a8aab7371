//! Reads what cargo knows about this workspace, and checks what strangers get to see of it.

// Packages, as `cargo metadata` describes them.
mod workspace;

// The table of features in the documentation of a crate.
pub mod features;

// What a crate pulls in.
pub mod tree;

pub use workspace::{Package, Workspace, root};
