//! What the HTTP transports of informers share.
//!
//! A [`Sender`] sends one request and returns the answer. This crate does the rest: it classifies
//! failures, unpacks and gathers bodies, limits how many lists are read at a time, and finds resources by
//! name.
//!
//! The crates `informer-transport-hyper` and `informer-transport-kube` are built on it. You need it only to
//! write a transport over another HTTP client.
//!
//! # Features
//!
//! This crate has no Cargo features.

// A failed exchange.
mod failed;

// Errors and what is behind them, as text.
mod causes;

// Compressed bodies.
mod gzip;

// API resources and the targets they give.
mod resource;

// Sends requests.
mod sender;

// One request and its answer.
mod exchange;

// How long a server asks to wait.
mod retry_after;

// The body of an answer.
mod body;

// An answer for tests.
#[cfg(test)]
mod arrived;

// A limit on full states read at the same time.
mod budget;

// How long a full state waits, and for whom.
mod pace;

// The body of an answer, as events.
mod reading;

// The transport of one informer.
mod transport;

// One request with its whole answer.
mod get;

// One request for one object.
mod call;

// From names to resources.
mod discovery;

pub use body::poll_data;
pub use budget::{Budget, BudgetStatus};
pub use call::call;
pub use causes::{chain, find};
pub use discovery::{ResolveError, resolve};
pub use failed::Failed;
pub use get::{RequestError, get};
pub use resource::{ApiResource, Reach, TargetError};
pub use sender::{Answer, Limits, Purpose, Question, Sender};
pub use transport::HttpTransport;

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
