//! Kubernetes informers for Rust.
#![forbid(unsafe_code)]

// Who brings the bytes.
mod connect;

// Where tasks run and by which clock.
pub mod runtime;

// Kinds that Rust has a type for.
mod kind;

// How an informer is set up.
mod builder;

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

// Reconcile loops.
pub mod controller;

pub use builder::{BuildError, InformerBuilder};
pub use connect::Connect;
pub use engine::Shared;
pub use error::{NotReached, NotSynced};
pub use factory::{NotAllSynced, SharedInformerFactory};
pub use handler::{Added, AsyncHandler, Deleted, Filter, Handler, Notifications};
pub use informer::Informer;
pub use kind::Kind;
pub use lister::{Lister, NamespaceLister};
pub use registration::Registration;
pub use shared::SharedInformer;
pub use status::{HandlerStatus, Status};

pub use informer_core::decode::form::{LeanBody, MetadataBody};
pub use informer_core::informer::{Counts, RejectedObject};
pub use informer_core::processor::{Backlog, ListenerConfig, Resync};
pub use informer_core::queue::{QueueKind, Refusal};
pub use informer_core::reflector::{FirstState, LastFailure, Phase};
pub use informer_core::transport::{Encoding, Target, Transport};
pub use informer_core::{
    Cause, Certainty, Clock, Failure, InformerConfig, Instant, Labels, Notification, Object,
    ObjectKey, Timer,
};
pub use informer_indexers::shared::Snapshot;
pub use informer_indexers::{
    KeyFormat, Namespaced, Plan, Query, TypedId, TypedIndex, by, selector,
};
