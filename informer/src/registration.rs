//! A handler that is registered.

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

/// A handler that was added to an informer. Dropping this changes nothing for the handler: it is told
/// of changes until it is removed, or the informer ends. Keeping it keeps nothing of the informer.
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

    /// Whether the handler has been through its initial state: every call for it has returned.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.status().is_some_and(|status| status.synced)
    }

    /// How the handler is doing; `None` after it was removed, or the informer was dropped.
    #[must_use]
    pub fn status(&self) -> Option<HandlerStatus> {
        let engine = self.engine.upgrade()?;
        let now = engine.clock.now();
        engine.lock().handler(self.id, now)
    }

    /// Waits until the handler has been through its initial state. This is what a controller waits for
    /// before it begins to act.
    ///
    /// # Errors
    /// It did not come to that in time, or never will, or the handler or the informer has ended; with the
    /// reason.
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

    /// Removes the handler. It is not called any more once the future is ready; a call under way is
    /// waited for. The removal itself happens at once, whether or not anybody waits: do not wait for
    /// it in the handler itself.
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
