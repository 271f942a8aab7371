//! `Informer`: one watch, one cache, one handler.

use informer_core::Object;
use std::time::Duration;

use informer_indexers::shared::Snapshot;

use crate::error::{NotSynced, StartError};
use crate::handler::Handler;
use crate::lister::Lister;
use crate::registration::Registration;
use crate::shared::SharedInformer;
use crate::status::Status;

/// One watch and one cache for a single handler.
///
/// It wraps a [`SharedInformer`]. "Synced" means that both the cache and the handler are. The informer
/// ends when you drop it.
///
/// ```
/// use informer::runtime::Tokio;
/// use informer::{Informer, InformerBuilder, Target};
/// use std::time::Duration;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
///
/// // `server` is a mock API server with the pod web/shop-1.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .build(&server.connect(), Tokio::current()?)?;
/// let (sender, changes) = std::sync::mpsc::channel();
/// let pods = Informer::new(pods, move |change| {
///     let _ = sender.send(format!("{change}"));
/// })?;
/// pods.synced(Duration::from_secs(30)).await?;
/// assert_eq!(changes.try_recv()?, "added web/shop-1 (initial, relist)");
/// assert_eq!(pods.lister().len(), 1);
/// pods.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Informer<K: Send + Sync + 'static> {
    shared: SharedInformer<K>,
    registration: Registration<K>,
}

impl<K: Send + Sync + 'static> Informer<K> {
    /// Adds the handler to an informer and starts it.
    ///
    /// # Errors
    /// The informer has ended, or the runtime cannot run it.
    pub fn new(shared: SharedInformer<K>, handler: impl Handler<K>) -> Result<Self, StartError> {
        let registration = shared.on(handler)?;
        shared.start()?;
        Ok(Self {
            shared,
            registration,
        })
    }

    /// Waits until the handler has processed the initial state.
    ///
    /// # Errors
    /// The timeout has passed, or the informer has ended. The error says why.
    pub async fn synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        self.registration.synced(timeout).await
    }

    /// Whether the handler has processed the initial state.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.registration.is_synced()
    }

    /// Returns the cache as it is now. Later changes do not affect the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Object<K>> {
        self.shared.snapshot()
    }

    /// Returns a reader of the cache.
    #[must_use]
    pub fn lister(&self) -> Lister<K> {
        self.shared.lister()
    }

    #[cfg(feature = "metrics")]
    pub(crate) const fn shared(&self) -> &SharedInformer<K> {
        &self.shared
    }

    /// Returns what the informer is doing now.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Stops the informer, and waits until the last call of the handler has returned.
    pub async fn stop(self) {
        self.shared.stop();
        self.shared.join().await;
    }
}
