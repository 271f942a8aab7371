//! Handles of registered handlers.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use informer_core::processor::ListenerId;

use crate::engine::Engine;
use crate::error::NotSynced;
use crate::status::HandlerStatus;
use crate::sync::AtomicBool;
use crate::wait::Wait;

/// A handle of a handler that was added to an informer.
///
/// Dropping it does not remove the handler: the handler stays until you [remove](Self::remove) it or the
/// informer ends. Keeping it does not keep the informer alive.
///
/// ```
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
/// // `pods` follows a mock API server with one pod.
/// let registration = pods.on(|change| println!("{change}"))?;
/// registration.synced(std::time::Duration::from_secs(30)).await?;
///
/// let status = registration.status().ok_or("the handler was removed")?;
/// assert_eq!((status.delivered, status.pending), (1, 0));
///
/// registration.remove().await;
/// assert!(pods.status().handlers.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Registration<K: Send + Sync + 'static> {
    engine: Weak<Engine<K>>,
    name: String,
    id: ListenerId,
    ended: Arc<AtomicBool>,
}

impl<K: Send + Sync + 'static> Registration<K> {
    pub(crate) fn new(engine: &Arc<Engine<K>>, id: ListenerId, ended: Arc<AtomicBool>) -> Self {
        Self {
            engine: Arc::downgrade(engine),
            name: engine.name.clone(),
            id,
            ended,
        }
    }

    /// Whether the handler has processed its initial state: every call for it has returned.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.status().is_some_and(|status| status.synced)
    }

    /// Returns what the handler is doing now, or `None` if it was removed or the informer was dropped.
    #[must_use]
    pub fn status(&self) -> Option<HandlerStatus> {
        let engine = self.engine.upgrade()?;
        let now = engine.clock.now();
        engine.lock().handler(self.id, now)
    }

    /// Waits until the handler has processed its initial state. A controller waits for this before it
    /// starts its workers.
    ///
    /// # Errors
    /// The timeout has passed, the handler was removed, or the informer has ended. The error says why.
    pub async fn synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        let id = self.id;
        let Some(engine) = self.engine.upgrade() else {
            return Err(NotSynced::of_none(self.name.clone(), timeout));
        };
        let wait = Wait::for_status(&engine, move |state| {
            let status = state.core.listener_status(id);
            match status.filter(|_| !state.core.is_stopped()) {
                Some(status) => status.synced.then_some(true),
                None => Some(false),
            }
        });
        match wait.within(timeout).await {
            Some(true) => Ok(()),
            _ => Err(NotSynced::of_handler(
                engine.status(),
                self.status(),
                timeout,
            )),
        }
    }

    /// Pauses the handler: it is not called until you [resume](Self::resume) it. A call in progress goes on.
    ///
    /// Meanwhile its notifications wait, subject to its [`Backlog`](crate::Backlog): by default those of the
    /// same object are merged, `Grow` keeps them all, and with `Stall` the whole informer waits for this
    /// handler, which the [status](crate::Status::explain) says. Nothing else is lost.
    ///
    /// ```
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
    /// # server.with(|server| server.create("pods", pod))?;
    /// # let target = informer::Target::new("", "v1", "pods");
    /// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
    /// // `pods` follows a mock API server with one pod.
    /// let registration = pods.on(|change| println!("{change}"))?;
    /// registration.pause();
    /// pods.synced(std::time::Duration::from_secs(30)).await?;
    /// assert!(!registration.is_synced(), "it has not been called");
    ///
    /// registration.resume();
    /// registration.synced(std::time::Duration::from_secs(30)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn pause(&self) {
        if let Some(engine) = self.engine.upgrade() {
            engine.pause_listener(self.id);
        }
    }

    /// Ends a [pause](Self::pause). The handler gets what has waited for it, and goes on.
    pub fn resume(&self) {
        if let Some(engine) = self.engine.upgrade() {
            engine.resume_listener(self.id);
        }
    }

    /// Whether the handler is [paused](Self::pause).
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.status().is_some_and(|status| status.paused)
    }

    /// Removes the handler. The removal takes effect at once, even if you do not await the future. The
    /// future waits for a call in progress; after it the handler is never called again. Do not await it
    /// inside the handler itself.
    pub fn remove(self) -> impl Future<Output = ()> + Send {
        if let Some(engine) = self.engine.upgrade() {
            engine.remove_listener(self.id);
        }
        async move {
            if let Some(engine) = self.engine.upgrade() {
                Wait::for_status(&engine, |_| {
                    self.ended.load(Ordering::Acquire).then_some(())
                })
                .await;
            }
        }
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for Registration<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("informer", &self.name)
            .field("status", &self.status())
            .finish()
    }
}
