//! A Kubernetes informer as pure state machines.
//!
//! It lists once, then watches, keeps an indexed copy of the objects, and notifies every listener
//! of each change. Every decision is made here, and nothing else: no I/O, no clock, no randomness,
//! no threads, no logging. The output is a function of the state, the input and `now`.
//!
//! # Is this the right crate?
//!
//! If you want an informer that runs by itself, use the `informer` crate, which drives this one.
//! Use this crate to drive an informer in your own runtime, to test a controller without a cluster
//! and without waiting, or to use one part alone: a [queue](queue), an [indexed store](indexer), or
//! the [decoder](decode) of lists and watches.
//!
//! # How data flows
//!
//! ```text
//! bytes ─decode─► Fact ─reflector─► Change ─queue─► Step ─indexer─► Notification ─processor─► listener
//! ```
//!
//! The modules below come in this order, and [`flow`] describes the values on the arrows. No stage
//! holds a reference to its neighbour. The [`Informer`] owns all of them and passes the values on.
//!
//! # How to drive it
//!
//! ```text
//! 1. advance(now)
//! 2. while let Some(command) = poll_command(now)       → transport.execute(command)
//! 3. while let Some(listener) = poll_ready_listener()  → its handler polls its notifications
//! 4. transport.poll_signal(cx) → signal(exchange, signal, now) → transport.consume(n)
//! 5. sleep until next_deadline() or a wake-up from 4; go to 1
//! ```
//!
//! In this example the program also plays the server:
//!
#![cfg_attr(feature = "json", doc = "```")]
#![cfg_attr(not(feature = "json"), doc = "```ignore")]
//! use informer_core::decode::{Decoder, Dynamic};
//! use informer_core::processor::ListenerConfig;
//! use informer_core::storage::Heap;
//! use informer_core::transport::{Command, Request, Signal};
//! use informer_core::{Informer, InformerConfig, Instant, Notification};
//!
//! let now = Instant::from_micros(0);
//! let mut informer: Informer<_, Heap> =
//!     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 42)?;
//! let listener = informer.add_listener(ListenerConfig::new(), now)?;
//! informer.start(now);
//!
//! // The first request is a watch that begins with the whole state.
//! let Some(Command::Open { exchange, request }) = informer.poll_command(now) else { panic!() };
//! assert!(matches!(request, Request::Watch { initial_events: true, .. }));
//!
//! // The answer arrives in pieces of any size.
//! let answer = br#"{"type":"ADDED","object":{"metadata":{"namespace":"default","name":"web","resourceVersion":"7"}}}
//! {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}}
//! "#;
//! for piece in answer.chunks(10) {
//!     assert_eq!(informer.signal(exchange, Signal::Bytes(piece), now), Some(piece.len()));
//! }
//!
//! assert!(informer.is_synced());
//! let Some(Notification::Added { object, initial: true, .. }) = informer.poll_notification(listener)
//! else { panic!() };
//! assert_eq!(object.key().as_str(), "default/web");
//! assert_eq!(informer.store().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # API conventions
//!
//! * **Data structures** ([`DeltaFifo`](queue::DeltaFifo), [`Indexer`](indexer::Indexer),
//!   [`Processor`](processor::Processor)) do not use a clock. **State machines**
//!   ([`Reflector`](reflector::Reflector), [`Informer`], [`Workqueue`](workqueue::Workqueue)) have
//!   `advance(now)` and `next_deadline()`. `now` is always the last argument.
//! * **The order of calls does not matter.** You may call methods in any order, leave calls out or
//!   repeat them. This can cost time, but nothing else. Time never goes back: an earlier `now`
//!   counts as the last one.
//! * **A server cannot make a call fail.** Whatever it sends becomes a [`Failure`], a
//!   [phase](reflector::Phase) or a [rejected object](informer::RejectedObject), never an `Err` and
//!   never a panic. A `Result` reports a mistake of the caller or a full storage.
//! * **Listeners pull.** A notification waits in the core until its listener polls for it. Polling
//!   again acknowledges the previous notifications. So the core knows the backlog, the lag and the
//!   sync state of each listener.
//! * **The seed is an argument** without a default, so you cannot forget to supply entropy. The
//!   same seed and the same calls give the same output, byte for byte.
//! * **`S` selects the memory.** `storage::Heap` allocates. `storage::Fixed` keeps everything
//!   inside the value, with capacities in its type. When it is full, the informer waits; it never
//!   loses a change.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `json` (default) | typed and dynamic objects, and decoding of lean bodies with serde; implies `alloc` |
//! | `prost` | typed objects from protobuf, and decoding of lean bodies with prost; implies `alloc` |
//! | `alloc` | `Heap`, `ObjectKey`, the decoders with their lean forms, the in-order queue, the `client_go` preset |
//! | `heapless` | `Fixed` |
//!
//! Without any feature you have the state machines, and supply your own storage.
#![no_std]
#![warn(clippy::alloc_instead_of_core)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

// `Debug` of types that show a part of themselves. The macro is known below this line.
#[macro_use]
mod debug;

// Broken invariants.
mod invariant;

// Points in time.
mod time;

// Where the state machines keep data: cells, tables, texts.
pub mod storage;

// The interface to a clock.
#[cfg(feature = "alloc")]
mod clock;

// Tasks that wait for a change.
#[cfg(feature = "alloc")]
mod wakers;

// A seeded random generator.
mod rng;

// A token bucket.
mod bucket;

// Comparing resource versions.
mod version;

// What the state machines need from an object.
mod object;

// Which source of an informer something belongs to.
mod source;

// What an object says about its owners and annotations.
#[cfg(feature = "alloc")]
mod metadata;

// The namespace and name of an object.
#[cfg(feature = "alloc")]
mod key;

// Compression of texts that resemble each other.
#[cfg(feature = "alloc")]
mod compress;

// The object that the decoders produce.
#[cfg(feature = "alloc")]
mod decoded;

// A queue's view of the store.
mod known;

// Limits on the size of a store.
mod limits;

// Why an exchange with a server fails.
pub mod failure;

// The encodings of an answer.
mod encoding;

// The interface to the network.
pub mod transport;

// The values that pass from one stage to the next.
pub mod flow;

// From bytes to facts.
pub mod decode;

// Packing the texts of objects.
#[cfg(feature = "alloc")]
pub mod pack;

// From facts to changes, and the next request.
pub mod reflector;

// From changes to steps.
pub mod queue;

// From steps to notifications, and the store.
pub mod indexer;

// From notifications to listeners.
pub mod processor;

// All stages together.
pub mod informer;

// Keys to work on, with delays and retries.
pub mod workqueue;

// Which replica leads.
#[cfg(feature = "alloc")]
pub mod election;

#[cfg(feature = "alloc")]
pub use clock::{Clock, Timer};
#[cfg(feature = "alloc")]
pub use decoded::{LabelIter, Labels, Object, ObjectBuilder, Unshared};
pub use encoding::{ContentTypeError, Encoding, Encodings, UnknownContentType};
pub use failure::Failure;
pub use flow::{Cause, Certainty, Notification};
pub use informer::{Informer, InformerConfig};
#[cfg(feature = "alloc")]
pub use key::{ObjectKey, ParseKeyError};
#[cfg(feature = "alloc")]
pub use metadata::{Metadata, OwnerReference};
pub use object::Resource;
pub use source::SourceId;
pub use time::Instant;
pub use version::{MAX_VERSION, NotComparable, compare_versions};
#[cfg(feature = "alloc")]
pub use wakers::Wakers;

// The examples of the README are compiled and run.
#[cfg(all(doctest, feature = "json"))]
#[doc = include_str!("../README.md")]
struct Readme;
