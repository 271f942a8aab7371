//! An in-memory Kubernetes API server for tests. It gives the bytes, codes and messages of a real
//! kube-apiserver, in virtual time and with faults on demand.
//!
//! ```
//! use std::sync::Arc;
//! use informer::controller::{Controller, Next, enqueue};
//! use informer::runtime::Manual;
//! use informer::{InformerBuilder, ObjectKey, Target};
//! use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! use serde_json::json;
//!
//! let clock = VirtualClock::new();
//! let server = MockServer::new(ServerConfig::new(42), clock.clone());
//! let runtime = Manual::new(Arc::new(clock));
//!
//! // The controller under test labels every pod that has no team. `connect` replaces the client.
//! let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
//!     .build(&server.connect(), runtime.clone())?;
//! let controller = Controller::new(runtime.clone());
//! pods.on(enqueue::this(controller.queue()))?;
//! let (lister, cluster) = (pods.lister(), server.clone());
//! controller.work(1, move |key: ObjectKey| {
//!     let has_team = lister.by_key(&key).is_none_or(|pod| pod.labels().get("team").is_some());
//!     let outcome = if has_team {
//!         Ok(Next::Done)
//!     } else {
//!         let team = json!({"metadata": {"labels": {"team": "unknown"}}});
//!         let patch = cluster.with(|server| server.patch("pods", &key.to_string(), team));
//!         patch.map(|_| Next::Done)
//!     };
//!     async { outcome }
//! })?;
//! pods.start()?;
//!
//! // A user creates a pod, and everything that can happen now happens.
//! server.with(|server| server.create("pods", json!({"metadata": {"name": "web"}})))?;
//! runtime.run_until_idle();
//! let team = server.with(|server| Some(server.get("pods", "web")?.label("team")?.to_owned()));
//! assert_eq!(team.as_deref(), Some("unknown"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing reads a clock, draws a random number or opens a socket, except in [`http`]. Time is an
//! argument, randomness comes from a seed, and the same calls give the same bytes.
//!
//! Use this crate to test code that lists and watches, such as an informer or a controller. Do not
//! use it if your test depends on what a cluster does with its objects: it has no scheduler, no
//! defaulting and no garbage collection.
//!
//! # Where to go on
//!
//! | you want | look at |
//! | --- | --- |
//! | a server for informers, in virtual time | [`MockServer`], [`VirtualClock`] |
//! | expired watches, smaller windows | [`Server`], [`ServerConfig`] |
//! | custom resources | create their CustomResourceDefinition, or [`api::ApiKind`] |
//! | broken connections, throttling, corrupt objects | [`fault`] |
//! | a unit test of single requests and replies | [`script`] |
//! | a transport to drive by hand | [`transport`] |
//! | pods that change all the time | [`churn`] |
//! | a server on a port, for kubectl or any other client | [`http`] and its program `mock-apiserver` |
//! | random tests of whole informers | [`simulation`] and its program `simulate` |
//! | your own front end | [`Server::handle`], [`request`], [`answer`], [`watch`], [`status`] |
//!
//! The example `test_your_controller` in the repository continues the one above with retries,
//! back-off and an expired watch.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `http` | the module [`http`] and the program `mock-apiserver`; needs tokio |
//!
//! No feature is on by default.
//!
//! # Differences from a real server
//!
//! The folder `e2e/probes` of the repository asks this server and a real one the same questions, and
//! lists every difference with its reason. These are the large ones:
//!
//! * **Kinds** have no subresource but `status` and `scale`, and the built-in ones have one version
//!   each. The schema of a CustomResourceDefinition is neither checked nor used to prune, and names
//!   that two definitions claim are not noticed. The server validates names, labels, finalizers,
//!   leases and events, but neither validates nor defaults other specs. The two groups of events do
//!   not share their objects. There is no admission.
//! * **Writes**: no create by `PUT`. A strategic merge knows the common lists by name and replaces all
//!   others.
//! * **Server-side apply** knows the lists of built-in kinds by name, refuses no unknown fields, and
//!   does not work on `scale`. Objects have `managedFields` from their first apply on, unless
//!   [`ServerConfig::managed_fields`] is set.
//! * **Deletions** ignore grace periods and propagation. An object without finalizers is gone at once,
//!   pods and namespaces included. Namespaces need not exist.
//! * **Bodies** of writes are JSON; anything else is refused with 415. Answers are JSON or protobuf, never
//!   YAML or CBOR. CustomResourceDefinitions have no protobuf here. An object whose fields have other types
//!   than in the API, such as a number for a name, is a 500 in protobuf; a real server does not create it.
//! * **Lists** at a version that is not reached yet are refused after the real server's three seconds,
//!   even if the version is reached in the meantime. A streamed list does notice.
//! * **Watches** that fall behind the window get an ERROR event, as from etcd. The watch cache of a
//!   real server closes them without an event.
//! * **Messages** are the real ones, except for selector and JSON syntax errors.
//!
#![cfg_attr(feature = "http", doc = "[`http`]: crate::http")]
#![cfg_attr(not(feature = "http"), doc = "[`http`]: #features")]

// Kinds.
pub mod api;

// Wall-clock time.
mod timestamp;

// Seeded random numbers.
mod random;

// Seeded uids and generated names.
mod names;

// JSON as Go writes it.
mod encode;

// Refusals.
pub mod status;

// Parsing of paths and queries.
mod query;

// Query parameters.
mod options;

// The encodings and forms that a client accepts.
mod accept;

// Requests.
pub mod request;

// Delete options.
mod delete_options;

// Whole objects, metadata, tables.
mod form;

// Protobuf.
mod protobuf;

// Objects as clients get them.
mod representation;

// Objects, versions, history.
mod store;

// The objects that a list or watch covers.
mod selection;

// Bytes as text.
mod base64_text;

// Page tokens.
mod continue_token;

// Lists.
mod list;

// The frames of a watch.
mod frame;

// Watches.
pub mod watch;

// Answers.
pub mod answer;

// Server configuration.
mod config;

// The server itself.
mod server;

// Custom resource definitions.
mod definitions;

// Shortcuts for tests.
mod calls;

// Virtual time.
mod clock;

// Faults.
pub mod fault;

// Between the server and its readers.
mod wire;

// A shared server.
mod shared;

// The server as a transport.
pub mod transport;

// The server as a caller.
mod caller;

// A scripted transport.
pub mod script;

// Seeded simulations.
pub mod simulation;

// Pods that are created, changed and deleted.
pub mod churn;

// The server over HTTP.
#[cfg(feature = "http")]
pub mod http;

pub use clock::VirtualClock;
pub use config::{ExpiredWatch, ServerConfig};
pub use server::Server;
pub use shared::MockServer;
pub use store::object::StoredObject;
pub use timestamp::Timestamp;

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
