//! Kubernetes informers: list once, watch for ever, keep an indexed local copy of the objects, and tell
//! every handler exactly what changed and why.
//!
#![cfg_attr(feature = "hyper", doc = "```no_run")]
#![cfg_attr(not(feature = "hyper"), doc = "```ignore")]
//! use informer::{Client, Config, InformerBuilder, Target};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Config::infer()?)?;
//! let pods = InformerBuilder::lean(Target::new("", "v1", "pods")).start(&client)?;
//! pods.on(|change| println!("{change}"))?;
//! pods.synced(std::time::Duration::from_secs(30)).await?;
//! tokio::signal::ctrl_c().await?;
//! # Ok(())
//! # }
//! ```
//!
//! It needs no cluster to be tested; here a mock of an API server plays its part:
//!
//! ```
//! use informer::{InformerBuilder, Query, Target, by};
//! use std::time::Duration;
//! # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//! # server.with(|server| server.create("pods", serde_json::json!({
//! #     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"}}
//! # })))?;
//! # let client = server.connect();
//! let pods = InformerBuilder::lean(Target::new("", "v1", "pods"))
//!     .index("app", by::label("app"))
//!     .start(&client)?;
//!
//! // Everybody who wants to be told registers; what is there is shown first.
//! let registration = pods.on(|notification| println!("{notification}"))?;
//! registration.synced(Duration::from_secs(30)).await?;
//!
//! // The store can be read at any time; nobody waits for anybody.
//! let shop = "app=shop".parse()?;
//! assert_eq!(pods.lister().select(&Query::new().labels(&shop)).len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # The parts
//!
//! * [`InformerBuilder`] says what to follow and how: resource, namespace, selectors, the form in which
//!   objects are kept (typed, lean, metadata only, dynamic), indices, transform, resync, queue, preset.
//! * [`SharedInformer`] is one watch and one store with many handlers; [`Informer`] has one handler;
//!   [`SharedInformerFactory`] gives the same informer to all who ask for the same thing.
//! * [`Handler`]s are traits or closures, [`AsyncHandler`]s may wait, [`Filter`] selects,
//!   [`Notifications`] is a stream. Each runs in a task of its own and pulls: a slow one costs memory by
//!   its [`Backlog`] policy and slows nobody else; one that panics harms nobody else.
//! * [`Lister`] reads the store, by key, index or [`Query`].
//! * [`controller`] has a work queue, workers with retries, and handlers that queue keys.
//! * [`Status`] says what the informer is doing and why it waits; [`SharedInformer::is_fresh`] is for a
//!   readiness probe, [`SharedInformer::reached`] waits for one's own writes.
//!
//! Nothing of it is magic: every decision is made by `informer-core`; the driver here moves bytes and
//! commands between the core and a transport, and waits. Each part can be replaced: the transport
//! ([`Connect`]), the runtime and the clock ([`runtime`]).
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `hyper` (default) | `Client` and `Config`: an API server over HTTP, by kubeconfig or in the cluster |
//! | `tokio` (default) | [`runtime`]`::Tokio`, `InformerBuilder::start` |
//! | `threads` | `runtime::Threads`, `InformerBuilder::start_blocking`, `SharedInformer::wait_synced`: no async runtime |
//! | `k8s-openapi` | the types of that crate are [`Kind`]s, and a factory has `pods()`, `deployments()` and so on; you pick its version feature |
#![forbid(unsafe_code)]

// What threads share, by one name.
mod sync;

// How things are put in words.
mod words;

// Not a line of the log for each of a thousand things.
mod sparing;

// Who brings the bytes.
mod connect;

// Where tasks run and by which clock.
pub mod runtime;

// Kinds that Rust has a type for.
mod kind;

// How an informer is set up.
mod builder;

// A lock that notices who asks itself.
mod lock;

// What is shared: the core behind a lock.
mod engine;

// Moves signals and commands, and waits.
mod driver;

// Waiting for something, up to a deadline.
mod wait;

// Who is told of changes.
mod handler;

// A handler that is registered.
mod registration;

// What is done about panics of code that is not ours.
mod panics;

// What is said in the log.
mod log;

// How it is doing.
mod status;

// What can go wrong for whoever asks.
mod error;

// What a controller reads.
mod lister;

// One watch, one store, many handlers.
mod shared;

// One watch, one store, one handler.
mod informer;

// One informer for all who follow the same thing.
mod factory;

// The kinds that nearly every controller follows.
#[cfg(feature = "k8s-openapi")]
mod k8s;

// Reconcile loops.
pub mod controller;

pub use builder::InformerBuilder;
#[cfg(feature = "hyper")]
pub use connect::{Client, Config};
pub use connect::{Connect, ConnectError};
pub use engine::Shared;
pub use error::{AddIndexError, BuildError, NotReached, NotSynced, StartError};
pub use factory::{Meta, NotAllSynced, SharedInformerFactory};
pub use handler::{Added, AsyncHandler, Deleted, Filter, Handler, Notifications};
pub use informer::Informer;
pub use kind::Kind;
pub use lister::{Lister, NamespaceLister};
pub use registration::Registration;
pub use shared::SharedInformer;
pub use status::{HandlerStatus, Status};

// For whoever writes a transport, a form or an index of their own.
pub use informer_core;
pub use informer_indexers;

// For whoever sets up connections: settings, secrets, resources by their names.
#[cfg(feature = "hyper")]
pub use informer_transport_hyper;

pub use informer_core::decode::form::{LeanBody, MetadataBody};
pub use informer_core::indexer::{IndexError, IndexFn, IndexId, IndexRef, UnknownIndex};
pub use informer_core::informer::{Counts, RejectedObject};
pub use informer_core::processor::{Backlog, ListenerConfig, Resync};
pub use informer_core::queue::{QueueKind, TransformError};
pub use informer_core::reflector::{FirstState, InvalidConfig, LastFailure, Phase};
pub use informer_core::transport::{Content, InvalidTarget, Target, Transport};
pub use informer_core::{
    Cause, Certainty, Clock, Failure, InformerConfig, Instant, Labels, Notification, Object,
    ObjectKey, Timer,
};
pub use informer_indexers::shared::Snapshot;
pub use informer_indexers::{
    KeyFormat, Namespaced, Plan, Query, TypedId, TypedIndex, by, selector,
};

// The examples of the README are compiled and run.
#[cfg(all(doctest, feature = "hyper"))]
#[doc = include_str!("../README.md")]
struct Readme;
