//! `Informer`: one watch, one store, one handler.

use std::time::Duration;

use informer_indexers::shared::Snapshot;

use crate::engine::Shared;
use crate::error::{NotSynced, StartError};
use crate::handler::Handler;
use crate::lister::Lister;
use crate::registration::Registration;
use crate::shared::SharedInformer;
use crate::status::Status;

/// An informer with one handler, for whoever needs no more. It is a [`SharedInformer`] of which nobody
/// else can have a part, so "synced" means both the store and the handler. Dropped, it ends.
#[derive(Debug)]
pub struct Informer<K: Send + Sync + 'static> {
    shared: SharedInformer<K>,
    registration: Registration<K>,
}

impl<K: Send + Sync + 'static> Informer<K> {
    /// Gives an informer its handler, and starts it.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run it.
    pub fn new(shared: SharedInformer<K>, handler: impl Handler<K>) -> Result<Self, StartError> {
        let registration = shared.on(handler)?;
        shared.start()?;
        Ok(Self {
            shared,
            registration,
        })
    }

    /// Waits until the handler has been through the initial state.
    ///
    /// # Errors
    /// It did not come to that in time, or never will; with the reason.
    pub async fn synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        self.registration.synced(timeout).await
    }

    /// Whether the handler has been through the initial state.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.registration.is_synced()
    }

    /// The store as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Shared<K>> {
        self.shared.snapshot()
    }

    /// Reads the store.
    #[must_use]
    pub fn lister(&self) -> Lister<K> {
        self.shared.lister()
    }

    /// How it is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Stops it, and waits until the last call of the handler has returned.
    pub async fn stop(self) {
        self.shared.stop();
        self.shared.join().await;
    }
}
