//! An indexed, queryable local store of Kubernetes objects.
//!
//! Use it alone, without an informer, transport or runtime. The store itself is the
//! [`Indexer`](informer_core::indexer::Indexer) of `informer-core`; this crate adds index functions,
//! selectors, queries, listers and snapshots for other threads.
//!
//! # Hello, store
//!
//! ```
//! use informer_core::decode::{Lean, decode_object};
//! use informer_core::indexer::Indexer;
//! use informer_core::storage::{Heap, Seed};
//! use informer_indexers::{Query, by};
//!
//! let mut store = Indexer::<_, Heap>::new(Seed::new(1));
//! store.add_index("app", by::label("app"))?;
//! for json in [
//!     r#"{"metadata":{"namespace":"web","name":"a","labels":{"app":"shop"}}}"#,
//!     r#"{"metadata":{"namespace":"web","name":"b","labels":{"app":"blog"}}}"#,
//! ] {
//!     store.put(decode_object(&mut Lean, json.as_bytes())?)?;
//! }
//!
//! let selector = "app=shop".parse()?;
//! let query = Query::new().labels(&selector);
//! let names: Vec<_> = query.select(&store).map(|pod| pod.key().name()).collect();
//! assert_eq!(names, ["a"]);
//! assert_eq!(query.plan(&store).to_string(), r#"1 candidate from the index "app""#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `std` (default) | [`shared`]: snapshots for other threads |
//!
#![cfg_attr(not(feature = "std"), doc = "[`shared`]: index.html")]
//!
//! Without `std`, the crate is `no_std` with an allocator.
//!
//! # Where to go next
//!
//! * [`Query`]: select and page, through an index where one fits.
//! * [`by`]: ready-made index functions. [`TypedIndex`]: typed values and ranges.
//! * [`selector`]: label and field selectors with the semantics of the API server.
//! * [`Keyed`] and [`KeyFormat`]: your own keys.
//! * [`shared`] (feature `std`): one writer, many readers on other threads.
#![no_std]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_alloc)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

// Your own keys.
mod key;

// Typed values, encoded in bytes that sort like the values.
pub mod value;

// Indices with typed values.
mod typed;

// Ready-made index functions.
pub mod by;

// Label and field selectors.
pub mod selector;

// Queries, and which index answers them.
mod query;

// How a query reads a store.
mod select;

// Whatever can be an index.
mod index;

// Snapshots for other threads.
#[cfg(feature = "std")]
pub mod shared;

pub use index::{IntoIndex, Values};
pub use key::{KeyFormat, KeyFormatError, Keyed, Namespaced};
pub use query::{Plan, Query};
pub use select::{KeyPage, NoKeyIndex, Page};
pub use typed::{TypedId, TypedIndex};

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
