//! Handlers for some of the objects.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use informer_core::{Certainty, Notification, Object, ObjectKey};

use super::Handler;

/// A handler for the objects that a predicate selects.
///
/// An object that starts to match is added for the inner handler. An object that no longer matches is
/// deleted.
///
/// ```
/// use informer::{Filter, InformerBuilder, LeanBody, Notification, Object, Target};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({
/// #     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"stage": "production"}}
/// # });
/// # server.with(|server| server.create("pods", pod))?;
///
/// // `server` is a mock API server with the pod web/shop-1 in production.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
/// let (sender, mut changes) = tokio::sync::mpsc::unbounded_channel();
/// let handler = move |change: Notification<Object<LeanBody>>| {
///     let _ = sender.send(change.to_string());
/// };
/// pods.on(Filter::new(|pod| pod.labels().get("stage") == Some("production"), handler))?;
/// assert_eq!(changes.recv().await.unwrap(), "added web/shop-1 (initial, relist)");
///
/// let label = serde_json::json!({"metadata": {"labels": {"stage": "test"}}});
/// server.with(|server| server.patch("pods", "web/shop-1", label))?;
/// assert_eq!(changes.recv().await.unwrap(), "deleted web/shop-1 (observed, watch)");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Filter<K, P, H> {
    selects: P,
    handler: H,
    /// The objects that the inner handler knows. The old state in a notification is not enough to decide
    /// this: when a deletion was merged with an earlier change, the handler never saw that state.
    passed: BTreeSet<ObjectKey>,
    objects: PhantomData<fn(&K)>,
}

impl<K, P, H> Filter<K, P, H>
where
    P: FnMut(&Object<K>) -> bool + Send + 'static,
    // It says what `K` is while the predicate is checked.
    H: Handler<K>,
{
    /// Wraps `handler` so that it only sees objects for which `selects` returns true.
    pub const fn new(selects: P, handler: H) -> Self {
        Self {
            selects,
            handler,
            passed: BTreeSet::new(),
            objects: PhantomData,
        }
    }
}

impl<K: 'static, P, H> Handler<K> for Filter<K, P, H>
where
    P: FnMut(&Object<K>) -> bool + Send + 'static,
    H: Handler<K>,
{
    fn notified(&mut self, notification: Notification<Object<K>>) {
        let Self {
            selects,
            handler,
            passed,
            ..
        } = self;
        match notification {
            Notification::Added { ref object, .. } => {
                if selects(object) {
                    passed.insert(object.key().clone());
                    handler.notified(notification);
                }
            }
            Notification::Updated { old, new, cause } => {
                match (passed.contains(new.key()), selects(&new)) {
                    (true, true) => handler.notified(Notification::Updated { old, new, cause }),
                    (false, true) => {
                        passed.insert(new.key().clone());
                        handler.notified(Notification::Added {
                            object: new,
                            initial: false,
                            cause,
                        });
                    }
                    (true, false) => {
                        passed.remove(new.key());
                        handler.notified(Notification::Deleted {
                            key: old.key().clone(),
                            last: Some(old),
                            certainty: Certainty::Observed,
                            cause,
                        });
                    }
                    (false, false) => {}
                }
            }
            Notification::Deleted { ref key, .. } => {
                if passed.remove(key) {
                    handler.notified(notification);
                }
            }
        }
    }
}
