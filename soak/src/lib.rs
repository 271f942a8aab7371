//! Informers and handlers that come and go, while a server misbehaves: nothing may be left behind.
//!
//! A mock API server is reached over HTTP, plain and with TLS. Its pods change all the time, and a script
//! of faults refuses, resets, delays, stalls, expires and restarts. Guests come, look for a while and go,
//! each in another way. Two informers stay for as long as it takes.
//!
//! That is done twice: for a short while, to warm up, and then for as long as asked. After each, when
//! everybody has gone, live objects, tasks, file descriptors and memory are counted; the second count
//! must be that of the first.

// What is alive.
pub mod census;

// Bodies that are counted.
mod counted;

// The server and what goes wrong with it.
mod server;

// Who comes and goes.
mod guests;

// Warm up, soak, compare.
pub mod run;
