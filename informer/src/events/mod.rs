//! Events: what your controller tells the users of an object.
//!
//! `kubectl describe` shows them under the object. A [`Recorder`] writes them (`events.k8s.io/v1`) in the
//! background. Recording never waits and never fails; what is lost is counted and logged.
//!
#![cfg_attr(feature = "mock", doc = "```")]
#![cfg_attr(not(feature = "mock"), doc = "```ignore")]
//! use informer::ObjectKey;
//! use informer::events::{Recorder, Reference};
//! use std::time::Duration;
//! # use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//!
//! // `client` is a client of an API server, or a mock server.
//! let recorder = Recorder::new(&client, "example.com/scaler")?;
//! let shop = Reference::new("apps/v1", "Deployment", &ObjectKey::new("web", "shop"));
//! recorder.normal(&shop, "Scaled", "Scale", "scaled to 3");
//! recorder.warning(&shop, "NoRoom", "Schedule", "no node has room");
//!
//! // Before the program ends.
//! recorder.stop(Duration::from_secs(5)).await?;
//! assert_eq!(recorder.counts().written, 2);
//! # Ok(())
//! # }
//! ```
//!
//! The rules are those of client-go. Equal events are one series: the first one is written, the second one
//! is written into it, and further ones are counted. The count is written every half an hour, and when
//! there has been no such event for six minutes. About one object, 25 events of a type are written at once,
//! and then one every five minutes. A write that fails is tried twelve times, every ten seconds or so.
//!
//! The controller needs the permission to `create` and `patch` the resource `events` of the API group
//! `events.k8s.io`, in the namespaces of its objects, and in `default` for those without one.

// What an event is about.
mod reference;

// What the server gets.
mod record;

// A cache.
mod recent;

// What is written, and when.
mod aggregate;

// The task that writes.
mod writer;

// Settings of a recorder.
mod builder;

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

pub use aggregate::RecorderCounts;
pub use builder::{RecorderBuilder, RecorderError};
pub use record::NewEvent;
pub use reference::Reference;

use crate::words::{counted, roughly};
use aggregate::Observed;
use writer::{End, Shared};

/// Records events: see the [module](self). Clones are cheap and share one queue.
///
/// When the last clone is dropped, what is queued is still written, but nothing is tried again. Call
/// [`stop`](Self::stop) to wait for it.
#[derive(Clone)]
pub struct Recorder {
    handle: Arc<Handle>,
}

/// Ends the task when it is dropped.
struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.end(End::Dropped);
    }
}

impl Recorder {
    /// Starts a recorder on the current tokio runtime. `controller` is the name of your controller; most
    /// have a domain: `example.com/scaler`.
    ///
    /// # Errors
    /// The name cannot be used, the client cannot send requests here, or the caller is not on a tokio
    /// runtime.
    #[cfg(feature = "tokio")]
    pub fn new(
        client: &impl crate::connect::Calls,
        controller: impl Into<String>,
    ) -> Result<Self, RecorderError> {
        RecorderBuilder::new(controller).start(client)
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self {
            handle: Arc::new(Handle { shared }),
        }
    }

    /// Records that something happened: see [`NewEvent::normal`].
    pub fn normal(
        &self,
        regarding: impl Into<Reference>,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) {
        self.publish(NewEvent::normal(regarding, reason, action, note));
    }

    /// Records that something is wrong: see [`NewEvent::normal`].
    pub fn warning(
        &self,
        regarding: impl Into<Reference>,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) {
        self.publish(NewEvent::warning(regarding, reason, action, note));
    }

    /// Records an event.
    pub fn publish(&self, event: NewEvent) {
        let shared = &self.handle.shared;
        let time = shared.wall_time();
        let now = shared.clock.now();
        let mut state = shared.lock();
        let observed = match state.end {
            None => state.machine.observe(event, time, now),
            Some(_) => state.machine.drop_event(),
        };
        let mut woken = Vec::new();
        let mut says_so = false;
        match observed {
            Observed::Queued => woken = state.waiting.take(),
            // What comes after the end is dropped without a word.
            Observed::Dropped if state.end.is_none() => {
                says_so = !std::mem::replace(&mut state.is_full, true);
            }
            Observed::Dropped | Observed::Counted | Observed::Limited => {}
        }
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if says_so {
            let controller = &shared.reporter.controller;
            tracing::warn!(controller, "events are lost: the queue is full");
        }
    }

    /// What the recorder has done so far.
    #[must_use]
    pub fn counts(&self) -> RecorderCounts {
        self.handle.shared.lock().machine.counts()
    }

    /// Waits until everything is written, also the counts of series that would have waited.
    ///
    /// # Errors
    /// Not everything was written in time, or the recorder has ended. It goes on with the rest.
    pub async fn flush(&self, within: Duration) -> Result<(), NotFlushed> {
        let shared = &self.handle.shared;
        shared.change(|state| state.machine.write_all());
        self.idle(within).await
    }

    /// Writes what is left, and ends. Events that are recorded from now on are dropped.
    ///
    /// # Errors
    /// Not everything was written in time. The rest is given up.
    pub async fn stop(&self, within: Duration) -> Result<(), NotFlushed> {
        let shared = &self.handle.shared;
        shared.end(End::Stopped);
        let flushed = self.flush(within).await;
        shared.end(End::Abandoned);
        flushed
    }

    async fn idle(&self, within: Duration) -> Result<(), NotFlushed> {
        let shared = &self.handle.shared;
        let waiting = writer::Waiting::new(shared);
        let deadline = shared.clock.now().after(within);
        let mut timer = shared.clock.timer();
        let not_flushed = |left| NotFlushed {
            left,
            waited: within,
        };
        poll_fn(|cx| {
            let mut state = shared.lock();
            let left = state.machine.waiting();
            if left == 0 {
                return Poll::Ready(Ok(()));
            }
            if state.has_ended {
                return Poll::Ready(Err(not_flushed(left)));
            }
            state.waiting.wait(waiting.ticket, cx.waker());
            drop(state);
            timer
                .poll_until(deadline, cx)
                .map(|()| Err(not_flushed(left)))
        })
        .await
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("reporter", &self.handle.shared.reporter)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// Not all events were written.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NotFlushed {
    /// How many writes are left.
    pub left: usize,
    /// How long was waited for them at most.
    pub waited: Duration,
}

impl fmt::Display for NotFlushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = counted(self.left as u64, "event");
        let waited = roughly(self.waited);
        write!(f, "{left} could not be written within {waited}")
    }
}

impl std::error::Error for NotFlushed {}
