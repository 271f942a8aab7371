//! An indexed, queryable local store of Kubernetes objects.
//!
//! For people who want just that: no informer, no transport, no runtime. The store is
//! [`Indexer`](informer_core::indexer::Indexer) of `informer-core`; this crate adds what one asks it:
//!
//! * [`by`]: ready-made index functions; [`TypedIndex`] for values of a type, with ranges.
//! * [`selector`]: label and field selectors, as a Kubernetes server understands them.
//! * [`StoreLister`] and [`Query`]: list, get, select, count and page, through an index where one fits.
//! * [`Keyed`] and [`KeyFormat`]: keys of your own.
//! * [`shared`] (feature `std`): one writer, many readers on other threads, consistent snapshots.
//!
//! Everything is `no_std`, with an allocator, but the shared handle.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `std` (default) | [`shared`] |
#![cfg_attr(not(feature = "std"), doc = "\n[`shared`]: index.html")]
#![no_std]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_alloc)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

// Keys of your own.
mod key;

// Typed values, in bytes that sort as the values do.
pub mod value;

// Indices whose values have a type.
mod typed;

// Ready-made index functions.
pub mod by;

// Which objects are meant, by their labels or fields.
pub mod selector;

// Questions to a store, and which index answers them.
mod query;

// What a controller reads.
mod lister;

// Snapshots for other threads.
#[cfg(feature = "std")]
pub mod shared;

pub use key::{KeyFormat, KeyFormatError, Keyed, Namespaced};
pub use lister::{KeyPage, NoKeyIndex, Page, StoreLister};
pub use query::{Plan, Query};
pub use typed::{TypedId, TypedIndex};

// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
