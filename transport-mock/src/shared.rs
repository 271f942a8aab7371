//! A server shared by tests, transports and a clock.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use informer_core::transport::Target;

use crate::clock::VirtualClock;
use crate::config::ServerConfig;
use crate::fault::{Fault, FaultPlan};
use crate::server::Server;
use crate::transport::MockTransport;

/// A [`Server`] in virtual time. Clones share it, and a write wakes the transports that wait for
/// one.
///
/// To put informers on it, pass [`connect`](Self::connect) where they take a client.
///
/// ```
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// use serde_json::json;
///
/// let server = MockServer::new(ServerConfig::new(42), VirtualClock::new());
/// server.with(|server| server.create("pods", json!({"metadata": {"name": "web"}})))?;
/// assert_eq!(server.with(|server| server.objects("pods").count()), 1);
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Clone)]
pub struct MockServer {
    clock: VirtualClock,
    state: Arc<Mutex<State>>,
}

pub(crate) struct State {
    pub(crate) server: Server,
    pub(crate) plan: FaultPlan,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// Keys of the objects that faults made unreadable.
    pub(crate) corrupted: Vec<String>,
    wakers: Vec<Waker>,
}

impl State {
    pub(crate) fn count(&mut self, fault: Fault) {
        *self.counts.entry(fault.name()).or_default() += 1;
    }

    /// Wakes `waker` after the next write.
    pub(crate) fn wake_later(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }
}

impl MockServer {
    /// Creates a server with the built-in kinds and no objects.
    #[must_use]
    pub fn new(config: ServerConfig, clock: VirtualClock) -> Self {
        Self {
            clock,
            state: Arc::new(Mutex::new(State {
                server: Server::new(config),
                plan: FaultPlan::none(),
                counts: BTreeMap::new(),
                corrupted: Vec::new(),
                wakers: Vec::new(),
            })),
        }
    }

    /// The clock that the server runs on.
    #[must_use]
    pub const fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// Reads from or writes to the server at the current time, then wakes the waiting transports.
    pub fn with<R>(&self, act: impl FnOnce(&mut Server) -> R) -> R {
        let now = self.clock.now();
        let mut state = self.lock();
        state.server.advance(now);
        let result = act(&mut state.server);
        let wakers = std::mem::take(&mut state.wakers);
        // A waker may call back into this server.
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        result
    }

    /// Creates a transport for `target`. `seed` decides how the bytes are split into pieces.
    #[must_use]
    pub fn transport(&self, target: &Target, seed: u64) -> MockTransport {
        MockTransport::new(self.clone(), target.clone(), seed)
    }

    /// A function that creates a transport for any target, each with its own seed. Pass it to an
    /// informer in place of a client.
    pub fn connect(&self) -> impl Fn(&Target) -> MockTransport + Clone + Send + Sync + use<> {
        let server = self.clone();
        let made = Arc::new(AtomicU64::new(0));
        move |target| server.transport(target, made.fetch_add(1, Ordering::Relaxed))
    }

    /// Sets the faults of future requests. Requests in flight keep the fault they have.
    pub fn set_faults(&self, plan: FaultPlan) {
        self.lock().plan = plan;
    }

    /// Queues a fault for the next request that has no fault of its own.
    pub fn inject(&self, fault: Fault) {
        self.lock().plan.push(fault);
    }

    /// How often each fault has had an effect, by its [name](Fault::name).
    #[must_use]
    pub fn fault_counts(&self) -> BTreeMap<&'static str, u64> {
        self.lock().counts.clone()
    }

    /// Takes the keys of the objects that faults made unreadable since the last call.
    #[must_use]
    pub fn take_corrupted(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().corrupted)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in a caller's closure leaves the server consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MockServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("MockServer")
            .field("now", &self.clock.now())
            .field("version", &state.server.version())
            .field("faults", &state.counts)
            .finish_non_exhaustive()
    }
}
