//! Definitions of custom kinds, followed on behalf of their informers.

use std::sync::Arc;

use informer_core::{Notification, Object};

use crate::error::StartError;
use crate::registration::Registration;
use crate::shared::SharedInformer;

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Finds a custom kind as soon as it is installed: whenever its definition changes in `definitions`, an
    /// informer on `customresourcedefinitions`, this informer ends its wait for the kind.
    ///
    /// Without this, a kind that was missing for long is found within two minutes.
    ///
    /// If the definition is deleted, so are its objects. If the watch ended before it could report that, the
    /// store is emptied as soon as the server no longer serves the kind, also with
    /// [`WhenGone::Keep`](crate::WhenGone::Keep). So `definitions` must follow all definitions: one that leaves
    /// a selection would count as deleted.
    ///
    /// It needs the right to
    /// list and watch `customresourcedefinitions`, whose names are enough: use
    /// [`metadata_at`](crate::InformerBuilder::metadata_at). One such informer serves any number of others. The
    /// returned registration is that of a handler of `definitions`; it does not keep this informer alive.
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let client = server.connect();
    ///
    /// let crds = Target::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    /// let definitions = InformerBuilder::metadata_at(crds).start(&client)?;
    ///
    /// let widgets = Target::new("example.com", "v1", "widgets");
    /// let widgets = InformerBuilder::lean_at(widgets).start(&client)?;
    /// widgets.follow_definition(&definitions)?;
    /// # let _ = Duration::ZERO;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `definitions` has ended, or its runtime cannot run the handler.
    pub fn follow_definition<D: Send + Sync + 'static>(
        &self,
        definitions: &SharedInformer<D>,
    ) -> Result<Registration<D>, StartError> {
        let target = self.target();
        // A server accepts no other name.
        let name = format!("{}.{}", target.plural, target.group);
        let waiting = Arc::downgrade(self.engine());
        definitions.on(move |change: Notification<Object<D>>| {
            if change.key().name() == name
                && let Some(engine) = waiting.upgrade()
            {
                match change {
                    Notification::Deleted { .. } => engine.definition_deleted(),
                    Notification::Added { .. } | Notification::Updated { .. } => {
                        engine.look_for_kind();
                    }
                }
            }
        })
    }
}
