//! Handlers that put keys into a queue.

use informer_core::decode::{FieldPath, Fields};
use informer_core::{Notification, ObjectKey};

use super::{Key, Queue};
use crate::engine::Shared;
use crate::handler::Handler;

/// Queues the key of the object itself.
pub fn this<K: 'static>(queue: Queue<ObjectKey>) -> impl Handler<K> {
    move |notification: Notification<Shared<K>>| queue.add(notification.key().clone())
}

/// Queues what a function gives for the object: for an update that of both states, since an object may
/// have changed hands.
pub fn by<K: 'static, Q: Key, I: IntoIterator<Item = Q>>(
    queue: Queue<Q>,
    keys: impl Fn(&Shared<K>) -> I + Send + 'static,
) -> impl Handler<K> {
    move |notification: Notification<Shared<K>>| {
        let (before, after) = match &notification {
            Notification::Added { object, .. } => (None, Some(object)),
            Notification::Updated { old, new, .. } => (Some(old), Some(new)),
            Notification::Deleted { last, .. } => (last.as_ref(), None),
        };
        for object in before.into_iter().chain(after) {
            keys(object).into_iter().for_each(|key| queue.add(key));
        }
    }
}

/// Queues the owners of a kind: the references in `metadata.ownerReferences` with this `kind`, in the
/// namespace of the object. Owners without a namespace are queued by [`cluster_owner`].
pub fn owner<K: Fields + 'static>(queue: Queue<ObjectKey>, kind: &'static str) -> impl Handler<K> {
    by(queue, move |object: &Shared<K>| {
        let namespace = object.key.namespace();
        let names = owners(object, kind).into_iter();
        names
            .map(|name| ObjectKey::new(namespace, &name))
            .collect::<Vec<_>>()
    })
}

/// The same for owners that are in no namespace.
pub fn cluster_owner<K: Fields + 'static>(
    queue: Queue<ObjectKey>,
    kind: &'static str,
) -> impl Handler<K> {
    by(queue, move |object: &Shared<K>| {
        let names = owners(object, kind).into_iter();
        names
            .map(|name| ObjectKey::new("", &name))
            .collect::<Vec<_>>()
    })
}

/// The names of the owners of a kind.
fn owners<K: Fields>(object: &Shared<K>, kind: &str) -> Vec<String> {
    let references = FieldPath::from_members(["metadata", "ownerReferences"]);
    let texts = |member: &str| {
        let mut texts = Vec::new();
        object.each_field(&references.clone().each(member), &mut |scalar| {
            texts.push(scalar.as_text().unwrap_or_default().to_owned());
        });
        texts
    };
    // A server demands both of every reference, so they are in step.
    let kinds = texts("kind");
    let names = texts("name").into_iter().zip(kinds);
    names
        .filter(|(_, its)| its == kind)
        .map(|(name, _)| name)
        .collect()
}
