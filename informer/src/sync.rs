//! Mutexes, atomics and threads under one name. With `--cfg shuttle` they come from the model checker,
//! which tries different interleavings. See `tests/wakes.rs`.

#[cfg(not(shuttle))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
#[cfg(feature = "threads")]
pub(crate) use std::thread;
#[cfg(not(shuttle))]
pub(crate) use std::thread_local;

#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicUsize};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(shuttle)]
#[cfg(feature = "threads")]
pub(crate) use shuttle::thread;
#[cfg(shuttle)]
pub(crate) use shuttle::thread_local;
