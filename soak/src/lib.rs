//! A leak test: informers and handlers start and stop while a server misbehaves, and nothing may
//! stay behind.
//!
//! A mock API server is reached over HTTP, plain and with TLS. Its pods change all the time, and a
//! fault script refuses, resets, delays, stalls, expires and restarts. Guests come, follow the pods
//! for a while and go, each in another way. Two informers stay for the whole time.
//!
//! This happens twice: a short warm-up, then the requested time. After each, when all guests are
//! gone, live objects, tasks, file descriptors and memory are counted. The second count must equal
//! the first.

// Counts of what is alive.
pub mod census;

// Counted bodies.
mod counted;

// The server and its faults.
mod server;

// Informers that start and stop.
mod guests;

// Warm up, soak, compare.
pub mod run;
