//! List and watch any Kubernetes API server over hyper, rustls and tokio.
//!
//! This crate carries out the requests that [`informer_core`] asks for and reports bytes and failures
//! back. It knows URLs, connections and credentials; the core decides what to request and when.
//!
//! # Hello, cluster
//!
//! ```no_run
//! use informer_transport_hyper::{Client, Config};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! // The same configuration that kubectl would use.
//! let client = Client::new(Config::infer()?)?;
//!
//! // One plain request.
//! let version = client.get("/version").await?;
//! println!("{}", String::from_utf8_lossy(&version));
//!
//! // One client serves many informers. Each informer has a transport of its own, and all of them
//! // share connections and credentials.
//! let pods = client.resolve("pods").await?;
//! let transport = client.transport(&pods.target(Some("web"))?)?;
//! # let _ = transport;
//! # Ok(())
//! # }
//! ```
//!
//! # Without a runtime
//!
//! A [`Client`] that is created outside of tokio has a runtime of its own, on one thread that ends with the
//! client. So a program without `async` can use it, with `informer::runtime::Threads` or another runtime.
//!
//! # Proxies
//!
//! A proxy is found as client-go finds it: the `proxy-url` of the kubeconfig, or else `HTTPS_PROXY` (for a
//! server at `http://`, `HTTP_PROXY`) unless `NO_PROXY` exempts the server; see
//! [`Config::with_proxy_from`]. It may be `http://`, `https://`, `socks5://` or `socks5h://`, with user and
//! password.
//!
//! # Features
//!
//! This crate has no Cargo features. Choose the HTTP version, limits and timeouts at run time, with
//! [`Settings`].
//!
//! # Where to go next
//!
//! * [`Config`]: find the cluster and its credentials, from a kubeconfig, from a pod or by hand.
//! * [`Settings`]: HTTP version, limits and timeouts.
//! * [`Client`]: one per API server.
//! * [`Client::resolve`] and [`ApiResource`]: from `deploy` to `apps/v1 deployments`.
//! * [`HyperTransport`]: the transport of one informer.
//!
//! Most programs do not use this crate directly. The crate `informer` drives it and adds handlers,
//! caches and a factory.

// Text that must not be printed.
mod secret;

// Bounded reading of files.
mod file;

// Points in time, as text.
mod timestamp;

// Where the cluster is, which certificates to trust and which credentials to use.
mod config;

// The credentials of each request, and how they are renewed.
mod auth;

// Certificates.
mod tls;

// Connections and how they are shared.
mod net;

// How a request is sent.
mod exchange;

// The transport of one informer.
mod transport;

// The runtime of a client.
mod runtime;

// What a client is doing.
mod status;

// One client for many informers.
mod client;

pub use client::{Client, ClientError, WeakClient};
pub use config::{Config, ConfigError, Environment, HttpVersion, Settings};
pub use secret::Secret;
pub use status::ClientStatus;
pub use transport::HyperTransport;

pub use informer_transport_http::{ApiResource, Reach, RequestError, ResolveError, TargetError};

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
