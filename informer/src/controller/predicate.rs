//! Which changes of an object matter.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use informer_core::{Cause, Notification, Object};

use crate::handler::Handler;

/// Decides whether a change of an object matters to a controller.
///
/// It is asked about updates. New and deleted objects always matter, and so do resyncs, which you ask for,
/// and the beginning of a deletion.
///
/// ```
/// use informer::Object;
/// use informer::controller::Predicate;
///
/// // Changes of the status alone do not matter; a label may.
/// let matters = Predicate::<()>::generation().or(Predicate::labels());
/// let own = Predicate::new(|old: &Object<()>, new: &Object<()>| old.uid() != new.uid());
/// # let _ = (matters, own);
/// ```
pub struct Predicate<K> {
    matters: Arc<Matters<K>>,
}

type Matters<K> = dyn Fn(&Object<K>, &Object<K>) -> bool + Send + Sync;

impl<K: 'static> Predicate<K> {
    /// Your own rule, given the object before and after the change.
    pub fn new(matters: impl Fn(&Object<K>, &Object<K>) -> bool + Send + Sync + 'static) -> Self {
        Self {
            matters: Arc::new(matters),
        }
    }

    /// The generation has changed: somebody has changed the spec. A kind without generations, such as a
    /// ConfigMap, always passes.
    #[must_use]
    pub fn generation() -> Self {
        Self::new(|old, new| new.generation() == 0 || old.generation() != new.generation())
    }

    /// A label has changed.
    #[must_use]
    pub fn labels() -> Self {
        Self::new(|old, new| {
            let labels = |object: &Object<K>| -> BTreeMap<String, String> {
                let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
                object.labels().iter().map(owned).collect()
            };
            labels(old) != labels(new)
        })
    }

    /// An annotation has changed. The objects must have annotations: see
    /// [`keep_annotations`](crate::InformerBuilder::keep_annotations).
    #[must_use]
    pub fn annotations() -> Self {
        Self::new(|old, new| {
            let annotations = |object: &Object<K>| {
                let mut all = BTreeMap::new();
                object.each_annotation(&mut |key, value| {
                    all.insert(key.to_owned(), value.to_owned());
                });
                all
            };
            annotations(old) != annotations(new)
        })
    }

    /// Either of them.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(move |old, new| (self.matters)(old, new) || (other.matters)(old, new))
    }

    /// Both of them.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(move |old, new| (self.matters)(old, new) && (other.matters)(old, new))
    }

    /// Passes on what matters to a handler.
    pub fn before(self, mut handler: impl Handler<K>) -> impl Handler<K> {
        move |notification: Notification<Object<K>>| {
            if self.passes(&notification) {
                handler.notified(notification);
            }
        }
    }

    fn passes(&self, notification: &Notification<Object<K>>) -> bool {
        match notification {
            Notification::Updated { old, new, cause } => {
                *cause == Cause::Resync
                    || old.deletion_time() != new.deletion_time()
                    || (self.matters)(old, new)
            }
            Notification::Added { .. } | Notification::Deleted { .. } => true,
        }
    }
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Self {
            matters: Arc::clone(&self.matters),
        }
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Predicate").finish_non_exhaustive()
    }
}
