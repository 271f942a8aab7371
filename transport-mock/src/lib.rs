//! A small, honest Kubernetes API server in memory.
//!
//! [`Server`] keeps objects of any kind, one counter of versions and a history, and answers
//! requests with the bytes, codes and messages of a real kube-apiserver: lists at any version, page
//! by page, watches with bookmarks and streamed lists, conflicts, finalizers, expiry. Nothing here
//! reads a clock, draws a random number or touches a socket: time is an argument, and the same calls
//! give the same bytes.
//!
//! Around it: [`MockServer`] shares one in [virtual time](VirtualClock), [`transport`] makes it a
//! transport for informers, with [`fault`]s, [`script`] answers what a test has written down, and
//! [`simulation`] puts whole informers against all of it.
//!
//! # Should you be here?
//!
//! Yes, to test what lists and watches: an informer, a controller. No, if what you test depends on
//! what a cluster does with its objects: nothing here schedules, defaults or garbage-collects.
//!
//! # What it is not
//!
//! It is asked the same questions as a real server, and the differences are on a list with their
//! reasons: `e2e/probes` in the repository. The large ones are these.
//!
//! * **Kinds** have one version each, and of the subresources only `status`. Specs are neither
//!   defaulted nor validated; of the metadata, names, labels and finalizers are. No admission, no
//!   managed fields.
//! * **Writes**: no server-side apply and no JSON patch (415), no dry run (400, rather than a write),
//!   no create by `PUT`. A strategic merge knows the usual lists by name and replaces the others.
//! * **Deletions** ignore grace periods and propagation: what has no finalizers is gone at once, pods
//!   and namespaces included. Namespaces need not exist.
//! * **Bodies** are JSON: YAML is refused with 415, protobuf and CBOR with 406.
//! * **Lists** of a version that is not reached are refused after the real wait of three seconds, but
//!   a version that is reached within them is not noticed; a streamed list does notice.
//! * **Watches** that fall behind the window are told so with an ERROR event. The watch cache of a
//!   real server closes them without a word; the event is what comes from etcd.
//! * **Messages** are the real ones, but for the syntax of selectors and of JSON.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `http` | the module `http`: the server on a socket, with or without TLS; and the program `mock-apiserver` |

// The kinds it serves.
pub mod api;

// Seconds since 1970.
mod timestamp;

// Numbers from a seed.
mod random;

// Uids and generated names, from a seed.
mod names;

// JSON as Go writes it.
mod encode;

// How the server says no.
pub mod status;

// Texts of paths and queries.
mod query;

// The query of a request.
mod options;

// What a client asks.
pub mod request;

// What a client says about a deletion.
mod delete_options;

// Whole objects, metadata, tables.
mod form;

// Objects, versions, history.
mod store;

// Which objects are meant.
mod selection;

// The token of the next page.
mod continue_token;

// Lists.
mod list;

// The lines of a watch.
mod frame;

// Watches.
pub mod watch;

// What the server answers.
pub mod answer;

// How a server is set up.
mod config;

// The composition.
mod server;

// Short ways to its objects.
mod calls;

// Virtual time.
mod clock;

// What can go wrong, on purpose.
pub mod fault;

// Between the server and its readers.
mod wire;

// A server that is shared.
mod shared;

// The server as a transport.
pub mod transport;

// A transport that follows a script.
pub mod script;

// Whole informers against all of it.
pub mod simulation;

// Pods that come, change and go.
pub mod churn;

// Over HTTP.
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
