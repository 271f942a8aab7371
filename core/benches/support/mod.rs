//! Shared by the benchmarks: pods, objects, an informer driven by hand, and the operations.
#![allow(dead_code, unreachable_pub, reason = "no benchmark uses everything")]

// Pods as a server sends them.
pub mod pods;

// Small objects for queue, store and listeners.
pub mod objects;

// An informer driven by hand.
pub mod hand;

// All measured operations.
pub mod operations;

// Settings for timing.
pub mod timing;
