//! A Kubernetes informer as pure state machines.
//!
//! List once, watch for ever, keep an indexed copy of the objects and tell every listener exactly what
//! changed. Every decision is made here, and nothing else happens here: no I/O, no clock, no
//! randomness, no threads, no logging. What comes out is a function of the state, the input and `now`.
//!
//! # Should you be here?
//!
//! If you want an informer that runs by itself, use a crate that drives this one. Come here to
//! drive it in a runtime of your own, to test a controller without a cluster and without waiting, or
//! to use one of the parts alone: a [queue](queue), an [indexed store](indexer), the
//! [decoder](decode) of lists and watches.
//!
//! # The way of the data
//!
//! ```text
//! bytes ─decode─► Fact ─reflector─► Change ─queue─► Step ─indexer─► Notification ─processor─► listener
//! ```
//!
//! The modules below stand in this order, and the nouns on the arrows are on one page: [`flow`]. No
//! stage holds a reference to its neighbour. The [`Informer`] owns them all and passes along what is
//! needed.
//!
//! # Driving it
//!
//! ```text
//! 1. advance(now)
//! 2. while let Some(command) = poll_command(now)       → transport.execute(command)
//! 3. while let Some(listener) = poll_ready_listener()  → its handler polls for its notifications
//! 4. transport.poll_signal(cx) → signal(exchange, signal, now) → transport.consume(n)
//! 5. sleep until next_deadline() or a wake-up from 4; go to 1
//! ```
//!
//! Here the program is the server, too:
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
//! // It asks for the whole state, streamed by a watch.
//! let Some(Command::Open { exchange, request }) = informer.poll_command(now) else { panic!() };
//! assert!(matches!(request, Request::Watch { initial_events: true, .. }));
//!
//! // The answer comes in pieces of any size.
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
//! assert_eq!(object.key.as_str(), "default/web");
//! assert_eq!(informer.store().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # API themes
//!
//! * **Data structures** ([`DeltaFifo`](queue::DeltaFifo), [`Indexer`](indexer::Indexer),
//!   [`Processor`](processor::Processor)) have verbs and no clock of their own. **Machines**
//!   ([`Reflector`](reflector::Reflector), [`Informer`], [`Workqueue`](workqueue::Workqueue)) have
//!   `advance(now)` and `next_deadline()`. `now` is always the last argument.
//! * **There is no drain rule.** Calls may come in any order, be left out or repeated; that can cost
//!   time, and nothing else. Time never goes back: an earlier `now` counts as the last one.
//! * **The world cannot fail a call.** What a server sends becomes a [`Failure`], a
//!   [phase](reflector::Phase), a [rejected object](informer::RejectedObject), but never an `Err` and
//!   never a panic. A `Result` means a mistake of the caller or a bound of the storage.
//! * **Listeners pull.** A notification waits in the core until its listener polls for it, and polling
//!   again says that what was given before has been dealt with. So the backlog, the lag and the sync of
//!   a listener are facts of the core.
//! * **The seed is an argument**, never a default: entropy that was forgotten must be visible. The same
//!   seed and the same calls give the same output, byte for byte.
//! * **`S` says where memory lives.** `storage::Heap` is the allocator; `storage::Fixed` is the value
//!   itself, with bounds that are part of the type. A bound that is hit stalls; it never loses.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `json` (default) | typed and dynamic objects, and the decoding of lean bodies, by serde; implies `alloc` |
//! | `alloc` | `Heap`, `ObjectKey`, the JSON decoder with its lean forms, the in-order queue, the `client_go` preset |
//! | `heapless` | `Fixed` |
//!
//! With none of them the machines are there, and a storage of your own is needed.
#![no_std]
#![warn(clippy::alloc_instead_of_core)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

// What cannot happen, and what to do if it does.
mod invariant;

// Points on the driver's clock.
mod time;

// Where the machines keep things: cells, tables, texts.
pub mod storage;

// The contract with whoever tells the time.
#[cfg(feature = "alloc")]
mod clock;

// Tasks that wait for something to change.
#[cfg(feature = "alloc")]
mod wakers;

// So many at once, and then at a steady rate.
mod bucket;

// Resource versions that can be compared.
mod version;

// What the machines ask of an object.
mod object;

// Namespace and name.
#[cfg(feature = "alloc")]
mod key;

// The object that our decoders make.
#[cfg(feature = "alloc")]
mod decoded;

// What a queue is told about the store.
mod known;

// Bounds on what a store holds.
mod limits;

// What can go wrong in the world.
pub mod failure;

// In which encodings a server answers.
mod encoding;

// The contract with whoever moves the bytes.
pub mod transport;

// The nouns that cross a border between stages.
pub mod flow;

// Bytes to facts.
pub mod decode;

// Facts to changes, and what to ask the server.
pub mod reflector;

// Changes to steps.
pub mod queue;

// Steps to notifications, and the store.
pub mod indexer;

// Notifications to listeners.
pub mod processor;

// The composition.
pub mod informer;

// Keys to be worked on, with delays and retries.
pub mod workqueue;

#[cfg(feature = "alloc")]
pub use clock::{Clock, Timer};
#[cfg(feature = "alloc")]
pub use decoded::{Labels, Object};
pub use encoding::{Encoding, UnknownContentType};
pub use failure::Failure;
pub use flow::{Cause, Certainty, Notification};
pub use informer::{Informer, InformerConfig};
#[cfg(feature = "alloc")]
pub use key::{ObjectKey, ParseKeyError};
pub use object::Resource;
pub use time::Instant;
pub use version::{MAX_VERSION, NotComparable, compare_versions};
#[cfg(feature = "alloc")]
pub use wakers::Wakers;

// The examples of the README are compiled and run.
#[cfg(all(doctest, feature = "json"))]
#[doc = include_str!("../README.md")]
struct Readme;
