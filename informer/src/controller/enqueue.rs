//! Handlers that enqueue keys. Those of an initial state wait behind changes.

use std::borrow::Cow;

use informer_core::{Notification, Object, ObjectKey, OwnerReference};

use super::{Key, Queue};
use crate::handler::Handler;

/// Enqueues the key of the object itself.
///
/// ```
/// use informer::controller::{Controller, enqueue};
/// use informer::ObjectKey;
/// # use informer::runtime::Tokio;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
///
/// // `pods` follows a mock API server with the pod web/shop-1.
/// let controller = Controller::new(Tokio::current()?);
/// let queue = controller.queue();
/// let registration = pods.on(enqueue::this(queue.clone()))?;
/// registration.synced(std::time::Duration::from_secs(30)).await?;
/// assert_eq!(queue.len(), 1);
///
/// // The pod is queued already.
/// queue.add(ObjectKey::new("web", "shop-1"));
/// assert_eq!(queue.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn this<K: 'static>(queue: Queue<ObjectKey>) -> impl Handler<K> {
    move |notification: Notification<Object<K>>| {
        put(&queue, notification.key().clone(), &notification);
    }
}

/// Adds a key because of a notification. An initial state waits behind changes.
fn put<K, Q: Key>(queue: &Queue<Q>, key: Q, because: &Notification<Object<K>>) {
    match because {
        Notification::Added { initial: true, .. } => queue.add_behind(key),
        _ => queue.add(key),
    }
}

/// Enqueues the keys that a function returns for the object. For an update it is called for the old and
/// the new state, because the object may have moved from one key to another.
///
/// ```
/// use informer::controller::{Controller, enqueue};
/// use informer::{LeanBody, Object};
/// # use informer::runtime::Tokio;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # for name in ["shop-1", "shop-2"] {
/// #     let pod = serde_json::json!({
/// #         "metadata": {"namespace": "web", "name": name, "labels": {"app": "shop"}}
/// #     });
/// #     server.with(|server| server.create("pods", pod))?;
/// # }
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
///
/// // `pods` follows a mock API server with two pods of the app `shop`.
/// let controller = Controller::new(Tokio::current()?);
/// let queue = controller.queue();
/// let app = |pod: &Object<LeanBody>| pod.labels().get("app").map(str::to_owned);
/// let registration = pods.on(enqueue::by(queue.clone(), app))?;
/// registration.synced(std::time::Duration::from_secs(30)).await?;
///
/// // The app is queued once, and adding it again changes nothing.
/// assert_eq!(queue.len(), 1);
/// queue.add("shop".to_owned());
/// assert_eq!(queue.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn by<K: 'static, Q: Key, I: IntoIterator<Item = Q>>(
    queue: Queue<Q>,
    keys: impl Fn(&Object<K>) -> I + Send + 'static,
) -> impl Handler<K> {
    move |notification: Notification<Object<K>>| {
        let (before, after) = match &notification {
            Notification::Added { object, .. } => (None, Some(object)),
            Notification::Updated { old, new, .. } => (Some(old), Some(new)),
            Notification::Deleted { last, .. } => (last.as_ref(), None),
        };
        for object in before.into_iter().chain(after) {
            for key in keys(object) {
                put(&queue, key, &notification);
            }
        }
    }
}

/// Enqueues the controller of the object if it is of this group and kind: the owner reference with
/// `controller: true`. The group comes without a version: `"apps"`, and `""` for core kinds such as
/// `ConfigMap`.
///
/// The controller is in the namespace of the object. For a kind without a namespace use
/// [`cluster_owner`], and for owners that are not the controller [`any_owner`].
///
/// ```
/// use informer::controller::{Controller, enqueue};
/// use informer::ObjectKey;
/// # use informer::runtime::Tokio;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let owner = serde_json::json!({
/// #     "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "shop", "uid": "u-1", "controller": true
/// # });
/// # let pod = serde_json::json!({
/// #     "metadata": {"namespace": "web", "name": "shop-1", "ownerReferences": [owner]}
/// # });
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
///
/// // `pods` follows a mock API server with a pod that the ReplicaSet web/shop controls.
/// let controller = Controller::new(Tokio::current()?);
/// let queue = controller.queue();
/// let registration = pods.on(enqueue::owner(queue.clone(), "apps", "ReplicaSet"))?;
/// registration.synced(std::time::Duration::from_secs(30)).await?;
/// assert_eq!(queue.len(), 1);
///
/// // The owner of the pod is queued already.
/// queue.add(ObjectKey::new("web", "shop"));
/// assert_eq!(queue.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn owner<K: 'static>(
    queue: Queue<ObjectKey>,
    group: impl Into<Cow<'static, str>>,
    kind: impl Into<Cow<'static, str>>,
) -> impl Handler<K> {
    controllers(queue, Scope::Namespaced, group.into(), kind.into())
}

/// Enqueues the controller of the object as [`owner`] does, for a kind without a namespace.
///
/// ```
/// use informer::controller::{Controller, enqueue};
/// use informer::ObjectKey;
/// # use informer::runtime::Tokio;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let owner = serde_json::json!({
/// #     "apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": "u-1", "controller": true
/// # });
/// # let pod = serde_json::json!({
/// #     "metadata": {"namespace": "kube-system", "name": "proxy", "ownerReferences": [owner]}
/// # });
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
///
/// // `pods` follows a mock API server with a pod that node-1 controls.
/// let controller = Controller::new(Tokio::current()?);
/// let queue = controller.queue();
/// let registration = pods.on(enqueue::cluster_owner(queue.clone(), "", "Node"))?;
/// registration.synced(std::time::Duration::from_secs(30)).await?;
/// assert_eq!(queue.len(), 1);
///
/// // The node is queued already.
/// queue.add(ObjectKey::new("", "node-1"));
/// assert_eq!(queue.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn cluster_owner<K: 'static>(
    queue: Queue<ObjectKey>,
    group: impl Into<Cow<'static, str>>,
    kind: impl Into<Cow<'static, str>>,
) -> impl Handler<K> {
    controllers(queue, Scope::Cluster, group.into(), kind.into())
}

/// Enqueues every owner of this kind, of any group, whether it is the controller or not. It is taken to be
/// in the namespace of the object.
///
/// For other rules write your own, with [`by`] and [`Object::owners`].
pub fn any_owner<K: 'static>(
    queue: Queue<ObjectKey>,
    kind: impl Into<Cow<'static, str>>,
) -> impl Handler<K> {
    let kind = kind.into();
    owners(queue, Scope::Namespaced, move |owner| owner.kind == kind)
}

/// Enqueues the controller of the object, whether its kind has namespaces or not: both keys, of which one is
/// that of no object.
pub(super) fn controller_of<K: 'static>(
    queue: Queue<ObjectKey>,
    group: String,
    kind: String,
) -> impl Handler<K> {
    controllers(queue, Scope::Either, group.into(), kind.into())
}

/// Where owners are.
#[derive(Clone, Copy)]
enum Scope {
    /// In the namespace of the object.
    Namespaced,
    Cluster,
    /// Nobody knows.
    Either,
}

fn controllers<K: 'static>(
    queue: Queue<ObjectKey>,
    scope: Scope,
    group: Cow<'static, str>,
    kind: Cow<'static, str>,
) -> impl Handler<K> {
    owners(queue, scope, move |owner| {
        owner.controller && owner.group() == group && owner.kind == kind
    })
}

fn owners<K: 'static>(
    queue: Queue<ObjectKey>,
    scope: Scope,
    wanted: impl Fn(&OwnerReference<'_>) -> bool + Send + 'static,
) -> impl Handler<K> {
    by(queue, move |object: &Object<K>| {
        let namespace = object.key().namespace();
        let namespaces: &[&str] = match scope {
            Scope::Namespaced => &[namespace],
            Scope::Cluster => &[""],
            Scope::Either if namespace.is_empty() => &[""],
            Scope::Either => &[namespace, ""],
        };
        let mut keys = Vec::new();
        object.each_owner(&mut |owner| {
            if wanted(&owner) {
                let places = namespaces.iter();
                keys.extend(places.map(|place| ObjectKey::new(place, &owner.name)));
            }
        });
        keys
    })
}
