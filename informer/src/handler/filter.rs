//! Only some objects.

use informer_core::{Certainty, Notification};

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
/// let filter = Filter::new(|pod: &Shared<()>| pod.labels.get("stage") == Some("production"), Print);
/// # let _ = filter;
/// ```
#[derive(Debug)]
pub struct Filter<P, H> {
    selects: P,
    handler: H,
}

impl<P, H> Filter<P, H> {
    /// `handler`, for the objects that `selects` selects. It must depend on nothing but the object.
    pub const fn new(selects: P, handler: H) -> Self {
        Self { selects, handler }
    }
}

impl<K, P, H> Handler<K> for Filter<P, H>
where
    P: FnMut(&Shared<K>) -> bool + Send + 'static,
    H: Handler<K>,
{
    fn notified(&mut self, notification: Notification<Shared<K>>) {
        let Self { selects, handler } = self;
        match notification {
            Notification::Added { ref object, .. } => {
                if selects(object) {
                    handler.notified(notification);
                }
            }
            Notification::Updated { old, new, cause } => match (selects(&old), selects(&new)) {
                (true, true) => handler.notified(Notification::Updated { old, new, cause }),
                (false, true) => handler.notified(Notification::Added {
                    object: new,
                    initial: false,
                    cause,
                }),
                (true, false) => handler.notified(Notification::Deleted {
                    key: old.key.clone(),
                    last: Some(old),
                    certainty: Certainty::Observed,
                    cause,
                }),
                (false, false) => {}
            },
            // Without a last state nobody can tell, and a delete too many does less harm than one that
            // is missed.
            Notification::Deleted { ref last, .. } => {
                if last.as_ref().is_none_or(selects) {
                    handler.notified(notification);
                }
            }
        }
    }
}
