//! A server that several tasks use.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer_core::Instant;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::server::Server;

/// A server behind a lock, on the clock of tokio, with open watches that a write wakes.
///
/// Its time 0 is when it is made. Under tokio's paused clock it stands still with it.
///
/// ```
/// use informer_transport_mock::http::SharedServer;
/// use informer_transport_mock::{Server, ServerConfig};
/// use serde_json::json;
///
/// let shared = SharedServer::new(Server::new(ServerConfig::new(42)));
/// shared.with(|server| server.create("pods", json!({"metadata": {"name": "web"}})))?;
/// assert_eq!(shared.with(|server| server.revision()), 2);
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

    /// Does something with the server, at the present time. Open watches tell what it changed.
    pub fn with<T>(&self, act: impl FnOnce(&mut Server) -> T) -> T {
        let result = act(&mut self.lock());
        self.wake();
        result
    }

    /// The server at the present time. Whoever changes it has to [`wake`](Self::wake) the watches.
    pub(super) fn lock(&self) -> MutexGuard<'_, Server> {
        // A panic of somebody else leaves at worst a write half told; a test will see the panic.
        let mut server = self.0.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.advance(self.now());
        server
    }

    /// Lets open watches look for news.
    pub(super) fn wake(&self) {
        self.0.changed.notify_waiters();
    }

    /// The next [`wake`](Self::wake) after this call, be it awaited yet or not.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.0.changed.notified()
    }

    pub(super) fn now(&self) -> Instant {
        Instant::default().after(self.0.origin.elapsed())
    }

    /// The same point on the clock of tokio.
    pub(super) fn at(&self, instant: Instant) -> tokio::time::Instant {
        self.0.origin + instant.since(Instant::default())
    }
}
