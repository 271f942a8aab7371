//! What the benchmarks share: pods, objects, an informer driven by hand, and the table of operations.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "not every benchmark uses all of it"
)]

// Pods as a server sends them.
pub mod pods;

// Small objects for queue, store and listeners.
pub mod objects;

// An informer that is fed by hand.
pub mod hand;

// Everything that is measured, one event at a time.
pub mod operations;

// How times are measured.
pub mod timing;
