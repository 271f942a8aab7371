#![doc = include_str!("../README.md")]

// Which cluster: the flags that say so, and the mock where there are none.
mod cluster;

// How a program ends.
mod outcome;

// A program that shows one thing, on any cluster.
mod demonstration;

// Pods as most examples see them, and what happens to those of the mock.
pub mod pods;

// A cluster in which something happens all the time.
mod busy;

// Coloured lines on a terminal, plain ones in a pipe.
pub mod screen;

// A reflector with its decoder and its transport.
mod list_watch;

pub use busy::Busy;
pub use cluster::{Cluster, ClusterArgs};
pub use demonstration::{demonstrate, flags, no_flags};
pub use list_watch::{ListWatch, Step};
pub use outcome::exit;

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
#[doc = include_str!("../../docs/porting.md")]
struct Porting;

#[cfg(doctest)]
#[doc = include_str!("../../docs/migrating-from-client-go.md")]
struct MigratingFromClientGo;

#[cfg(doctest)]
#[doc = include_str!("../../docs/migrating-from-kube-rs.md")]
struct MigratingFromKubeRs;
