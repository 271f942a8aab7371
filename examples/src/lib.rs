#![doc = include_str!("../README.md")]

// The cluster to use: flags for a real one, or a mock server by default.
mod cluster;

// How a program ends.
mod outcome;

// The frame of a program that demonstrates one thing on any cluster.
mod demonstration;

// The pod type of most examples, and pods for the mock server.
pub mod pods;

// A cluster with constant changes.
mod busy;

// The progress of the first state.
mod progress;

// Coloured lines on a terminal, plain lines in a pipe.
pub mod screen;

// A reflector with its decoder and transport.
mod list_watch;

pub use busy::Busy;
pub use cluster::{Cluster, ClusterArgs};
pub use demonstration::{demonstrate, flags, no_flags};
pub use list_watch::{ListWatch, Step};
pub use outcome::exit;
pub use progress::{count, sync};

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/cookbook.md")]
struct Cookbook;

#[cfg(doctest)]
#[doc = include_str!("../../docs/operations.md")]
struct Operations;

#[cfg(doctest)]
#[doc = include_str!("../../docs/operations-port.md")]
struct OperationsPort;

#[cfg(doctest)]
#[doc = include_str!("../../docs/porting.md")]
struct Porting;

#[cfg(doctest)]
#[doc = include_str!("../../docs/migrating-from-client-go.md")]
struct MigratingFromClientGo;

#[cfg(doctest)]
#[doc = include_str!("../../docs/migrating-from-kube-rs.md")]
struct MigratingFromKubeRs;
