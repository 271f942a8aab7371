//! List and watch a Kubernetes API server over the client of kube-rs.
//!
//! Most programs do not use this crate directly. With the feature `kube`, the crate `informer` takes a
//! [`kube::Client`] wherever it takes a client.
//!
//! Lists, watches and discovery go through the service stack of the client ([`kube::Client::send`]):
//! middleware sees every request, and authentication is that of the client. Bodies are read as they arrive,
//! by the task of the informer. What it does not read stays with the server.
//!
//! ```no_run
//! use informer_transport_kube::{KubeClient, Settings, kube};
//! use std::num::NonZeroUsize;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let client = kube::Client::try_default().await?;
//! // At most two lists at a time, for all informers of this client.
//! let client = KubeClient::new(client)?.with_settings(Settings {
//!     max_lists: NonZeroUsize::new(2).expect("not zero"),
//!     ..Settings::new()
//! });
//! let deployments = client.resolve("deploy").await?;
//! assert_eq!(deployments.to_string(), "deployments.apps");
//! let transport = client.transport(&deployments.target(None)?)?;
//! # let _ = transport;
//! # Ok(())
//! # }
//! ```
//!
//! # What the client decides
//!
//! * **Compression.** Lists are compressed if kube's feature `gzip` is on and `Config::disable_compression` is
//!   not. Watches are asked for as they are:
//!   a kube-apiserver does not compress them, and kube's decompression ends where another server flushes.
//! * **Retries.** `Config::default_retry` is on by default: the client itself repeats requests that get 429,
//!   503 or 504, and the informer does not hear of it. To see these failures in the status of the informer,
//!   turn it off; the informer retries anyway.
//! * **Silence.** `Config::read_timeout` is off by default, and should stay off. If you set it, it breaks every
//!   watch that is silent for that long. The informer then watches again from the last version it knows: nothing
//!   is lost, and nothing is listed again. A server sends a bookmark about once a minute, so a timeout of
//!   several minutes never strikes. The informer has its own deadline for silent watches.
//! * **Connections.** The default stack of kube speaks HTTP/1.1: each watch has a connection of its own.
//! * **Tokens and authorities.** kube reads a token file (`tokenFile` of a kubeconfig, or that of the cluster)
//!   again after 50 s and, with rustls, `Config::root_cert_file` after 60 s. Until then the informer reports
//!   the failure and retries, and nothing is lost. [`Config::incluster`](kube::Config::incluster) sets
//!   `root_cert_file`. From a kubeconfig, kube reads `certificate-authority` once: if it may be replaced, set
//!   `root_cert_file` yourself, before you build the client. kube reads client certificates once, too.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `runtime` | [`kube`] has its `runtime` module, with `ObjectRef` |

// Answers of a kube client.
mod answer;

// What went wrong, in the words of informers.
mod failure;

// A kube client with limits.
mod client;

// The transport of one informer.
mod transport;

pub use client::{KubeClient, NoRuntime, Settings};
pub use transport::KubeTransport;

pub use informer_transport_http::{ApiResource, Reach, RequestError, ResolveError, TargetError};

// You name `kube::Client`.
pub use kube;

// For its references to objects.
pub use k8s_openapi;

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
