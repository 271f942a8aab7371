//! Namespaces by label: an informer on `namespaces` decides on the sources of another informer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use informer_core::decode::form::MetadataBody;
use informer_core::transport::Target;
use informer_core::{Notification, Object, SourceId};

use crate::builder::InformerBuilder;
use crate::connect::Connect;
use crate::controller::race::unless;
use crate::engine::Engine;
use crate::error::BuildError;
use crate::shared::{Handle, SharedInformer};
use crate::wait::Wait;

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Follows the objects in all namespaces whose labels match a selector. Sources are added and removed as
    /// namespaces begin to match, cease to match, or are deleted.
    ///
    /// The namespaces are followed by an informer of their own, which keeps only their metadata, begins at once, and
    /// ends with this one. It needs the right to list and watch `namespaces`. Its status is in
    /// [`Status::namespaces`](crate::Status::namespaces). Until it has found the namespaces, this informer is not
    /// [synced](Self::is_synced), and while it does not follow the server, this one is not
    /// [fresh](Self::is_fresh).
    ///
    /// What is followed in each namespace is the [target](Self::target) of the builder. Sources that it was built with
    /// stay, so begin [without](InformerBuilder::without_sources).
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # for (namespace, team) in [("web", "shop"), ("cart", "shop"), ("test", "tools")] {
    /// #     let object = serde_json::json!({"metadata": {"name": namespace, "labels": {"team": team}}});
    /// #     server.with(|server| server.create("namespaces", object))?;
    /// #     let pod = serde_json::json!({"metadata": {"namespace": namespace, "name": "a"}});
    /// #     server.with(|server| server.create("pods", pod))?;
    /// # }
    /// # let client = server.connect();
    ///
    /// // `client` talks to a mock API server with a pod in each of the namespaces web, cart and test. The first two
    /// // have the label team=shop.
    /// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
    ///     .without_sources()
    ///     .start(&client)?;
    /// pods.follow_namespaces(client, "team=shop")?;
    /// pods.synced(Duration::from_secs(30)).await?;
    /// assert_eq!(pods.lister().len(), 2);
    /// assert!(pods.lister().get("test", "a").is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The selector is invalid, the client has no transport for `namespaces`, or the informer has ended.
    pub fn follow_namespaces<C>(
        &self,
        client: C,
        labels: impl fmt::Display,
    ) -> Result<(), BuildError>
    where
        C: Connect + Send + Sync + 'static,
    {
        let engine = Arc::clone(self.engine());
        engine.check()?;
        let namespaces = InformerBuilder::metadata_at(Target::new("", "v1", "namespaces"))
            .labels(labels)
            .build_on(&client, Arc::clone(&engine.runtime))?;
        let mut following = Following {
            informer: Arc::downgrade(self.handle()),
            client,
            sources: HashMap::new(),
        };
        let known = namespaces.on(move |change| following.follow(&change))?;
        engine.follow(Arc::clone(namespaces.engine()));
        namespaces.start()?;
        let following = Arc::clone(&engine);
        engine
            .spawn(async move {
                let known = known.synced(Duration::MAX);
                if let Some(Ok(())) = unless(has_ended(&following), known).await {
                    following.decided();
                }
                has_ended(&following).await;
                namespaces.stop();
                namespaces.join().await;
            })
            .map_err(crate::error::StartError::from)?;
        Ok(())
    }
}

async fn has_ended<K: Send + Sync + 'static>(engine: &Arc<Engine<K>>) {
    Wait::for_status(engine, |state| state.core.is_stopped().then_some(())).await;
}

/// Keeps the sources of an informer in step with the namespaces.
struct Following<K: Send + Sync + 'static, C> {
    informer: Weak<Handle<K>>,
    client: C,
    /// By the name of the namespace.
    sources: HashMap<String, SourceId>,
}

impl<K: Send + Sync + 'static, C: Connect> Following<K, C> {
    fn follow(&mut self, change: &Notification<Object<MetadataBody>>) {
        let Some(informer) = self.informer.upgrade() else {
            return;
        };
        let namespace = change.key().name();
        match change {
            Notification::Deleted { .. } => {
                if let Some(source) = self.sources.remove(namespace) {
                    informer.detach(source);
                }
            }
            Notification::Added { .. } | Notification::Updated { .. } => {
                if !self.sources.contains_key(namespace) {
                    self.add(&informer, namespace);
                }
            }
        }
    }

    /// What fails now is tried again when the namespace changes.
    fn add(&mut self, informer: &Handle<K>, namespace: &str) {
        let engine = &informer.engine;
        let target = engine.target.clone().in_namespace(namespace);
        match informer.add_source(informer.cluster(), &self.client, target) {
            Ok(source) => {
                self.sources.insert(namespace.to_owned(), source);
            }
            // It has ended, and the namespaces are of no use to it any more.
            Err(BuildError::Start(_)) => {}
            Err(error) => {
                let informer = &engine.name;
                tracing::error!(informer, namespace, %error, "a namespace cannot be followed");
            }
        }
    }
}
