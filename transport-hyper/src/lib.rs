//! List and watch against any Kubernetes API server, over hyper, rustls and tokio.
//!
//! It executes the commands of [`informer_core`] and reports bytes and failures. It knows URLs,
//! connections and credentials; what is asked next and when, the core decides.
//!
//! ```no_run
//! use informer_transport_hyper::{Client, Config};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Config::infer()?)?;
//! let pods = client.resolve("pods").await?;
//! // One client, many informers: each has a transport, all share connections and credentials.
//! let transport = client.transport(&pods.target(Some("web"))?)?;
//! # Ok(())
//! # }
//! ```

// Texts that must not be seen.
mod secret;

// Files that somebody names.
mod file;

// Points in time, as text.
mod timestamp;

// Where the cluster is, whom to trust and who we are.
mod config;

// What is shown with each request, and how it is renewed.
mod auth;

// Certificates.
mod tls;

// Connections, and who shares them.
mod net;

// Bodies that come compressed.
mod gzip;

// Resources of the API, and what can be asked of them.
mod resource;

// One request and its answer.
mod exchange;

// How many full states are read at the same time.
mod budget;

// The transport of one informer.
mod transport;

// One client for many informers.
mod client;

// Names to resources.
mod discovery;

pub use client::{Client, ClientError, RequestError};
pub use config::{Config, ConfigError, Environment, HttpVersion, Settings};
pub use discovery::ResolveError;
pub use resource::{ApiResource, Reach, TargetError};
pub use secret::Secret;
pub use transport::HyperTransport;

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
