//! A handler that is registered.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use informer_core::processor::ListenerId;

use crate::engine::Engine;
use crate::error::NotSynced;
use crate::status::HandlerStatus;
use crate::sync::AtomicBool;
use crate::wait::Wait;

/// A handler that was added to an informer. Dropping this changes nothing for the handler: it is told
/// of changes until it is removed, or the informer ends.
pub struct Registration<K: Send + Sync + 'static> {
    engine: Arc<Engine<K>>,
    id: ListenerId,
    ended: Arc<AtomicBool>,
}

impl<K: Send + Sync + 'static> Registration<K> {
    pub(crate) const fn new(
        engine: Arc<Engine<K>>,
        id: ListenerId,
        ended: Arc<AtomicBool>,
    ) -> Self {
        Self { engine, id, ended }
    }

    /// Whether the handler has been through its initial state: every call for it has returned.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.status().is_some_and(|status| status.synced)
    }

    /// How the handler is doing; `None` after it was removed.
    #[must_use]
    pub fn status(&self) -> Option<HandlerStatus> {
        let now = self.engine.clock.now();
        self.engine.lock().handler(self.id, now)
    }

    /// Waits until the handler has been through its initial state. This is what a controller waits for
    /// before it begins to act.
    ///
    /// # Errors
    /// It did not come to that in time, or never will; with the reason.
    pub async fn synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        let id = self.id;
        let wait = Wait::for_status(&self.engine, move |state| {
            let synced = state.core.listener_status(id).map(|status| status.synced);
            let over = synced.is_none() || state.core.is_stopped();
            let synced = synced.unwrap_or(false);
            (synced || over).then_some(synced)
        });
        match wait.within(timeout).await {
            Some(true) => Ok(()),
            _ => Err(NotSynced::of_handler(
                &self.engine.status(),
                self.status(),
                timeout,
            )),
        }
    }

    /// Removes the handler. It is not called any more once the future is ready; a call under way is
    /// waited for. The removal itself happens at once, whether or not anybody waits: do not wait for
    /// it in the handler itself.
    pub fn remove(self) -> impl Future<Output = ()> + Send {
        self.engine.remove_listener(self.id);
        let ended = self.ended;
        let wait = Wait::for_status(&self.engine, move |_| {
            ended.load(Ordering::Acquire).then_some(())
        });
        async move {
            wait.await;
        }
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for Registration<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("informer", &self.engine.name)
            .field("status", &self.status())
            .finish()
    }
}
