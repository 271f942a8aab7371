//! A rest of a whole informer: no watch and no calls, and then the difference.

use crate::shared::SharedInformer;

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Suspends the informer, until you [resume](Self::resume) it: the watch ends, and handlers are not called.
    /// Calls in progress go on. The cache stays readable, and handlers stay registered.
    ///
    /// For example, a replica that is not the leader any more has no use for a watch. To end an informer and
    /// free its handlers, [stop](Self::stop) it instead. Does nothing before the start and after the end.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = |name: &str| serde_json::json!({"metadata": {"namespace": "web", "name": name}});
    /// # let create = |name: &str| server.with(|server| server.create("pods", pod(name)));
    /// # create("shop-1")?;
    /// # let target = informer::Target::new("", "v1", "pods");
    /// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
    ///
    /// // `pods` follows a mock API server with the pod web/shop-1.
    /// let (sender, mut changes) = tokio::sync::mpsc::channel(10);
    /// pods.send_to(sender)?;
    /// let first = changes.recv().await.ok_or("the handler is gone")?;
    /// assert_eq!(first.to_string(), "added web/shop-1 (initial, relist)");
    ///
    /// pods.suspend();
    /// assert!(pods.is_suspended());
    /// create("shop-2")?;
    /// assert!(pods.lister().get("web", "shop-1").is_some(), "the cache stays readable");
    ///
    /// pods.resume();
    /// let second = changes.recv().await.ok_or("the handler is gone")?;
    /// assert_eq!(second.to_string(), "added web/shop-2 (relist)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn suspend(&self) {
        self.engine().suspend();
    }

    /// Ends a [suspension](Self::suspend). The informer reads the full state. Each handler first gets what had
    /// waited for it, and then the difference: what was added and changed, and what is gone.
    pub fn resume(&self) {
        self.engine().resume();
    }

    /// Whether the informer is [suspended](Self::suspend).
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.engine().lock().core.is_suspended()
    }

    /// Reads the full state now, if the informer waits for its next try to do so. For example, you have just
    /// installed the CRD of its kind, or granted a missing right. At most one request in three seconds goes
    /// out, however often you call this.
    pub fn retry_now(&self) {
        self.engine().retry_now();
    }
}
