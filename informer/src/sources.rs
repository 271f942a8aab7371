//! Sources that come and go while an informer runs.

use informer_core::SourceId;
use informer_core::transport::Target;

use crate::builder::{canonical, check_kind, in_same_form};
use crate::connect::Connect;
use crate::error::BuildError;
use crate::shared::{Handle, SharedInformer};
use crate::status::SourceStatus;

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Follows more objects of the same kind: those in another namespace, or with other selectors. They go into the
    /// same cache and to the same handlers.
    ///
    /// What is new is added, as part of the initial state until the new source is synced. Until then, the informer is
    /// not [synced](Self::is_synced), and not [fresh](Self::is_fresh). Handlers that were synced stay so. An object
    /// that another source shows already is one object, and its newest state counts: within a cluster, that with the
    /// larger resource version.
    ///
    /// Pass the client that the informer was started with, or another one for the same cluster, for example with
    /// other rights.
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # for namespace in ["web", "batch"] {
    /// #     let pod = serde_json::json!({"metadata": {"namespace": namespace, "name": "shop-1"}});
    /// #     server.with(|server| server.create("pods", pod))?;
    /// # }
    /// # let client = server.connect();
    ///
    /// // `client` talks to a mock API server with the pods web/shop-1 and batch/shop-1.
    /// let target = Target::new("", "v1", "pods");
    /// let pods = InformerBuilder::lean_at(target.clone()).namespaces(["web"]).start(&client)?;
    /// let batch = pods.add_source(&client, target.in_namespace("batch"))?;
    /// pods.synced(Duration::from_secs(30)).await?;
    /// assert_eq!(pods.lister().len(), 2);
    ///
    /// let mut changes = pods.stream()?;
    /// changes.next().await;
    /// changes.next().await;
    /// pods.remove_source(batch);
    /// let gone = changes.next().await.ok_or("the informer has ended")?;
    /// assert_eq!(gone.to_string(), "deleted batch/shop-1 (inferred, source removed)");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The target is of another kind, or invalid; there is no transport for it; or the informer has ended.
    pub fn add_source(
        &self,
        client: &impl Connect,
        target: Target,
    ) -> Result<SourceId, BuildError> {
        let handle = self.handle();
        handle.add_source(handle.cluster(), client, target)
    }

    /// Follows objects of the same kind in another cluster. Their keys begin with its name, so objects with the
    /// same namespace and name in two clusters are two objects, and nothing is compared across clusters. Look them
    /// up by [`ObjectKey::in_cluster`](crate::ObjectKey::in_cluster).
    ///
    /// Give the cluster of the builder a name as well: see
    /// [`InformerBuilder::in_cluster`](crate::InformerBuilder::in_cluster).
    ///
    /// ```
    /// use informer::{InformerBuilder, ObjectKey, Target};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let servers = [1, 2].map(|seed| MockServer::new(ServerConfig::new(seed), VirtualClock::new()));
    /// # for server in &servers {
    /// #     let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
    /// #     server.with(|server| server.create("pods", pod))?;
    /// # }
    /// # let [east, west] = servers.map(|server| server.connect());
    ///
    /// // `east` and `west` talk to mock API servers, each with a pod web/shop-1.
    /// let target = Target::new("", "v1", "pods");
    /// let pods = InformerBuilder::lean_at(target.clone()).in_cluster("east").start(&east)?;
    /// pods.add_source_in("west", &west, target)?;
    /// pods.synced(Duration::from_secs(30)).await?;
    ///
    /// assert_eq!(pods.lister().len(), 2);
    /// let pod = pods.lister().by_key(&ObjectKey::in_cluster("west", "web", "shop-1"));
    /// assert_eq!(pod.ok_or("no pod")?.key().to_string(), "west:web/shop-1");
    /// assert!(pods.verify_in("west", &west, Duration::from_secs(30)).await?.is_consistent());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Like [`add_source`](Self::add_source).
    pub fn add_source_in(
        &self,
        cluster: &str,
        client: &impl Connect,
        target: Target,
    ) -> Result<SourceId, BuildError> {
        self.handle().add_source(cluster, client, target)
    }

    /// Removes a source and returns whether there was one. Its request ends, and what no other source shows is deleted,
    /// with [`Cause::SourceRemoved`](crate::Cause::SourceRemoved).
    pub fn remove_source(&self, source: SourceId) -> bool {
        self.handle().detach(source)
    }

    /// What each source is doing now, in the order of their additions. A removed one is among them until its objects are
    /// deleted.
    #[must_use]
    pub fn sources(&self) -> Vec<SourceStatus> {
        let now = self.engine().clock.now();
        self.engine().lock().source_statuses(now)
    }
}

impl<K: Send + Sync + 'static> Handle<K> {
    pub(crate) fn add_source(
        &self,
        cluster: &str,
        client: &impl Connect,
        target: Target,
    ) -> Result<SourceId, BuildError> {
        let kind = &self.engine.target;
        let target = canonical(in_same_form(target, kind))?;
        check_kind(kind, &target)?;
        let transport = client.connect(&target)?;
        self.attach(cluster, target, transport)
    }
}
