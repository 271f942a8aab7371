#![doc = include_str!("../README.md")]

// Which cluster: the flags that say so, and the mock where there are none.
mod cluster;

// How a program ends.
mod outcome;

pub use cluster::{Cluster, ClusterArgs};
pub use outcome::exit;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
