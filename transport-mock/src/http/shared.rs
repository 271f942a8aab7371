//! A server shared by several tasks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer_core::Instant;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::server::Server;

/// A [`Server`] behind a lock, on tokio's clock. Writes wake its open watches.
///
/// Its time 0 is the moment of its creation. It stands still while tokio's clock is paused.
///
/// ```
/// use informer_transport_mock::http::SharedServer;
/// use informer_transport_mock::{Server, ServerConfig};
/// use serde_json::json;
///
/// let shared = SharedServer::new(Server::new(ServerConfig::new(42)));
/// shared.with(|server| server.create("pods", json!({"metadata": {"name": "web"}})))?;
/// assert_eq!(shared.with(|server| server.version()), 2);
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedServer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    server: Mutex<Server>,
    changed: Notify,
    origin: tokio::time::Instant,
}

impl SharedServer {
    /// Shares a server.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self(Arc::new(Shared {
            server: Mutex::new(server),
            changed: Notify::new(),
            origin: tokio::time::Instant::now(),
        }))
    }

    /// Reads from or writes to the server at the current time, then wakes the open watches.
    pub fn with<T>(&self, act: impl FnOnce(&mut Server) -> T) -> T {
        let result = act(&mut self.lock());
        self.wake();
        result
    }

    /// Locks the server at the current time. After a change, call [`wake`](Self::wake).
    pub(super) fn lock(&self) -> MutexGuard<'_, Server> {
        // After a panic elsewhere, some watches may miss a wake-up; the test reports the panic
        // anyway.
        let mut server = self.0.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.advance(self.now());
        server
    }

    /// Wakes the open watches.
    pub(super) fn wake(&self) {
        self.0.changed.notify_waiters();
    }

    /// Completes at the next [`wake`](Self::wake) after this call, even if it is awaited later.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.0.changed.notified()
    }

    pub(super) fn now(&self) -> Instant {
        Instant::default().after(self.0.origin.elapsed())
    }

    /// Converts to tokio's clock.
    pub(super) fn at(&self, instant: Instant) -> tokio::time::Instant {
        self.0.origin + instant.since(Instant::default())
    }
}
