//! Only some objects.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use informer_core::{Certainty, Notification, ObjectKey};

use super::Handler;
use crate::engine::Shared;

/// Passes on what concerns the objects that a predicate selects: one that begins to be selected is
/// added, one that ceases to be is deleted.
///
/// ```
/// use informer::{Added, Filter, Handler, Shared};
///
/// struct Print;
/// impl<K> Handler<K> for Print {
///     fn added(&mut self, object: &Shared<K>, _: Added) {
///         println!("{} is in production now", object.key);
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean(target).start(&server.connect())?;
/// pods.on(Filter::new(|pod| pod.labels.get("stage") == Some("production"), Print))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Filter<K, P, H> {
    selects: P,
    handler: H,
    /// What the handler knows of. The old state that a notification shows would not do: of a deletion
    /// that was merged with the change before it, it was never shown.
    passed: BTreeSet<ObjectKey>,
    objects: PhantomData<fn(&K)>,
}

impl<K, P, H> Filter<K, P, H>
where
    P: FnMut(&Shared<K>) -> bool + Send + 'static,
{
    /// `handler`, for the objects that `selects` selects.
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
    P: FnMut(&Shared<K>) -> bool + Send + 'static,
    H: Handler<K>,
{
    fn notified(&mut self, notification: Notification<Shared<K>>) {
        let Self {
            selects,
            handler,
            passed,
            ..
        } = self;
        match notification {
            Notification::Added { ref object, .. } => {
                if selects(object) {
                    passed.insert(object.key.clone());
                    handler.notified(notification);
                }
            }
            Notification::Updated { old, new, cause } => {
                match (passed.contains(&new.key), selects(&new)) {
                    (true, true) => handler.notified(Notification::Updated { old, new, cause }),
                    (false, true) => {
                        passed.insert(new.key.clone());
                        handler.notified(Notification::Added {
                            object: new,
                            initial: false,
                            cause,
                        });
                    }
                    (true, false) => {
                        passed.remove(&new.key);
                        handler.notified(Notification::Deleted {
                            key: old.key.clone(),
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
