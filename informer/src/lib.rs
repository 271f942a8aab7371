//! Kubernetes informers for Rust. An informer lists a resource, watches it, keeps its objects in an indexed
//! local cache, and calls your handlers with every change and its cause.
//!
#![cfg_attr(feature = "hyper", doc = "```no_run")]
#![cfg_attr(not(feature = "hyper"), doc = "```ignore")]
//! use informer::{Client, Config, InformerBuilder, Target};
//! use std::time::Duration;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Config::infer()?)?;
//! let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start(&client)?;
//! pods.on(|change| println!("{change}"))?;
//! pods.synced(Duration::from_secs(30)).await?;
//! println!("{} pods", pods.lister().len());
//! tokio::signal::ctrl_c().await?;
//! pods.stop();
//! # Ok(())
//! # }
//! ```
//!
//! You can test your code without a cluster. The crate `informer-transport-mock` has an API server in
//! memory; pass its `connect()` in place of the client:
//!
//! ```
//! use informer::{InformerBuilder, Query, Target, by};
//! use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//! server.with(|server| server.create("pods", serde_json::json!({
//!     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"}}
//! })))?;
//! let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
//!     .index("app", by::label("app"))
//!     .start(&server.connect())?;
//! pods.synced(Duration::from_secs(30)).await?;
//!
//! let shop = "app=shop".parse()?;
//! assert_eq!(pods.lister().select(&Query::new().labels(&shop)).len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Which form to choose
//!
//! The builder decides in which form the cache keeps objects. **Start with
//! [`packed`](InformerBuilder::packed).** It keeps everything that the server sent except `managedFields`,
//! compressed to about a seventh to a tenth, and decodes an object when you ask for it, in some
//! microseconds. No other form keeps the whole object in less memory. Choose
//! [`typed`](InformerBuilder::typed) if you read most objects all the time: each object is decoded once,
//! into your Rust type. Prefer a small type with only the fields you need, because the complete types of
//! `k8s-openapi` take much more memory. Choose [`lean`](InformerBuilder::lean) if you read the text of
//! objects often and memory is not scarce: it keeps the text as it is. Choose
//! [`metadata_at`](InformerBuilder::metadata_at) if labels, annotations and owner references are enough; the
//! server then sends nothing else. Choose [`dynamic_at`](InformerBuilder::dynamic_at) for tools that handle
//! any kind as a [`serde_json::Value`]; this form needs the most memory of all. For kinds without a Rust
//! type there are [`packed_at`](InformerBuilder::packed_at) and [`lean_at`](InformerBuilder::lean_at).
//!
//! Built-in kinds have two encodings. Metadata is read from protobuf by default, and everything else from JSON. Ask for
//! [`protobuf`](InformerBuilder::protobuf) if you need little of the bodies, or take types of prost (feature `prost`).
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `hyper` (default) | `Client` and `Config`: an API server over HTTP, found by kubeconfig or from inside the cluster; implies `tokio` |
//! | `tokio` (default) | `runtime::Tokio`, `InformerBuilder::start`, `SharedInformer::send_to` |
//! | `signal` (default) | `ControllerBuilder::shutdown_on_signal`: SIGTERM and Ctrl-C; implies `tokio` |
//! | `threads` | `runtime::Threads`, `runtime::block_on`, `InformerBuilder::start_blocking`, `SharedInformer::wait_synced`: no async runtime; a `Client` works there, too |
//! | `metrics` | `Metrics`: metrics of informers, controllers, elections and clients, in the OpenMetrics format |
//! | `ops` | the module `ops`: a port with health, metrics, status and the inspector page; implies `metrics` and `tokio` |
//! | `k8s-openapi` | every resource type of that crate is a [`Kind`], and a factory has `pods()`, `deployments()` and so on; your own `Cargo.toml` selects the Kubernetes version of `k8s-openapi` |
//! | `kube` | a `kube::Client` is a [`Connect`], and the types of kube-rs can be followed: see the module `kube`; implies `tokio` |
//! | `prost` | built-in kinds as types of prost, such as those of `k8s-pb`, decoded from protobuf: `InformerBuilder::prost_at` |
//! | `mock` | a `MockServer` is a [`Connect`] and a [`Calls`], for tests of your controllers |
//! | `kube-runtime` | conversions to and from the `ObjectRef` of `kube::runtime`; implies `kube` |
//!
//! # Where to go on
//!
//! * [`InformerBuilder`] has every setting: namespace, selectors, indices, transform, resync, limits.
//! * [`SharedInformer`] is one watch and one cache with many handlers. [`Informer`] has a single handler.
//!   [`SharedInformerFactory`] shares informers across a program.
//! * [`Handler`] is a trait or a closure. [`AsyncHandler`] can await, [`Filter`] selects objects, and
//!   [`Notifications`] is a stream. Every handler runs in its own task, so a panic does not affect the
//!   others. [`Backlog`] decides what happens to the notifications of a slow handler; it does not slow
//!   the others unless you choose [`Backlog::Stall`].
//! * [`Lister`] reads the cache by key, index or [`Query`], without waiting for writers.
//! * [`controller`] has a work queue, workers with retries, and handlers that enqueue keys.
//! * [`election`] lets one replica work at a time.
//! * [`Api`] reads and writes single objects: create, update, patch, apply, delete.
//! * [`finalizer`] holds deleted objects until your controller has cleaned up. [`events`] tells the users
//!   of an object what the controller does.
//! * [`Status`] says what the informer is doing and why it waits. Use [`SharedInformer::is_fresh`] for a
//!   readiness probe and [`SharedInformer::reached`] to wait until the cache shows your own writes.
//!   [`SharedInformer::verify`] compares the cache with the server.
//! * `Metrics` exports all that, and spans and log events go through `tracing`. The module `ops` opens a port
//!   with probes, metrics, status and the inspector page.
//! * [`Connect`] and [`runtime`] let you bring your own transport, runtime and clock. The crate
//!   `informer-core` makes all decisions and does no I/O; this crate moves bytes and waits.
//!
//! The repository has a guide (`docs/guide.md`), notes for operators (`docs/operations.md`) and many
//! runnable programs (`examples`).
#![forbid(unsafe_code)]

// Mutexes, atomics and threads; shuttle replaces them in model checks.
mod sync;

// Numbers, durations and errors as text.
mod words;

// A rate limit for log lines.
mod sparing;

// Histograms for metrics.
mod meters;

// Transports for informers.
mod connect;

// Executors and clocks.
pub mod runtime;

// Rust types of Kubernetes kinds.
mod kind;

// Indices of a cache.
mod indices;

// Settings of an informer.
mod builder;

// A mutex that detects re-entry.
mod lock;

// The shared state: the core informer behind a lock.
mod engine;

// Room in memory for objects that are about to be read.
mod room;

// The task that connects the core with the transport.
mod driver;

// Futures that wait for a condition, with a timeout.
mod wait;

// Callbacks and streams for notifications.
mod handler;

// Handles of registered handlers.
mod registration;

// Catches panics in user code.
mod panics;

// Log events.
mod log;

// Spans of lists and watches.
mod spans;

// Called for failures and rejected objects.
mod hooks;

// Health of informers and handlers.
mod status;

// Error types.
mod error;

// Read access to the cache.
mod lister;

// One watch, one cache, many handlers.
mod shared;

// Sources that come and go.
mod sources;

// Namespaces by label.
mod namespaces;

// Waiting until a cache shows what was written.
mod written;

// A rest of a whole informer.
mod rest;

// Definitions of custom kinds, followed on behalf of their informers.
mod definition;

// Compares a cache with the server.
mod verify;

// One watch, one cache, one handler.
mod informer;

// What metrics and the operations port look at.
#[cfg(feature = "metrics")]
mod inspect;

// Metrics in the OpenMetrics format.
#[cfg(feature = "metrics")]
mod metrics;

// Health, metrics, status and the inspector over HTTP.
#[cfg(feature = "ops")]
pub mod ops;

// Informers shared across a program.
mod factory;

// Shortcuts for common kinds.
#[cfg(feature = "k8s-openapi")]
mod k8s;

// Reads and writes single objects.
mod api;

// Names by the rules of an API server.
mod names;

// The name of a replica.
mod identity;

// Times in objects.
mod micro_time;

// Clean up before an object goes.
pub mod finalizer;

// What a controller tells the users of an object.
pub mod events;

// The client and the types of kube-rs.
#[cfg(feature = "kube")]
pub mod kube;

// Work queue and reconcile workers.
pub mod controller;

// Leader election.
pub mod election;

pub use api::{
    Api, ApiError, ApiErrorKind, Apply, Delete, Deletion, FieldCause, Patch, Propagation, Scale,
    ScaleSpec, ScaleStatus,
};
pub use builder::InformerBuilder;
pub use connect::{Calls, Connect, ConnectError};
#[cfg(feature = "hyper")]
pub use connect::{Client, Config};
pub use engine::{Moment, MomentKind};
pub use error::{AddIndexError, BuildError, NotReached, NotSynced, RemoveIndexError, StartError};
pub use factory::{
    Contrast, Meta, NotAllSynced, NotShared, Setting, SettingConflict, SharedInformerFactory,
};
pub use handler::{Added, AsyncHandler, Deleted, Filter, Handler, Notifications};
pub use indices::NAMESPACE_INDEX;
pub use informer::Informer;
#[cfg(feature = "metrics")]
pub use inspect::{Inspect, Inspected};
pub use kind::Kind;
pub use lister::{KeptLister, Lister, NamespaceLister};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
pub use registration::Registration;
pub use shared::SharedInformer;
pub use status::{HandlerStatus, SourceStatus, Status};
pub use verify::{Difference, NotVerified, Verified};

// For your own transports, forms and indices.
pub use informer_core;
pub use informer_indexers;

// For a registry of metrics.
#[cfg(feature = "metrics")]
pub use prometheus_client;

// For connection settings, credentials and discovery of resources.
#[cfg(feature = "hyper")]
pub use informer_transport_hyper;

// For tests.
#[cfg(feature = "mock")]
pub use informer_transport_mock;

// For limits of a kube client.
#[cfg(feature = "kube")]
pub use informer_transport_kube;

pub use informer_core::decode::form::{LeanBody, MetadataBody, PackedBody, Untyped};
pub use informer_core::indexer::{IndexError, IndexFn, IndexId, IndexRef, UnknownIndex};
pub use informer_core::informer::{AddSourceError, Counts, RejectedObject};
pub use informer_core::processor::{Backlog, ListenerConfig, Resync};
pub use informer_core::queue::{QueueKind, TransformError};
pub use informer_core::reflector::{
    FirstState, FullState, GoneConfig, History, InvalidConfig, LastFailure, Phase, Tally, WhenGone,
};
pub use informer_core::transport::{Content, InvalidTarget, Target, Transport};
pub use informer_core::{
    Cause, Certainty, Clock, Encoding, Encodings, Failure, InformerConfig, Instant, Labels,
    Notification, Object, ObjectKey, OwnerReference, SourceId, Timer,
};
pub use informer_indexers::shared::Snapshot;
pub use informer_indexers::{
    IntoIndex, KeyFormat, Namespaced, Plan, Query, TypedId, TypedIndex, Values, by, selector, value,
};

// The examples of the README are compiled and run.
#[cfg(all(doctest, feature = "hyper"))]
#[doc = include_str!("../README.md")]
struct Readme;
