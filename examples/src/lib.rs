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

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide.md")]
struct Guide;

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
