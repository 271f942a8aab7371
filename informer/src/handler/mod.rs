//! Callbacks and streams for notifications.

// Handlers for some of the objects.
mod filter;

// Lag of a handler.
mod progress;

// The task of a handler.
mod task;

// Notifications as a stream.
mod stream;

use informer_core::{Cause, Certainty, Notification, Object, ObjectKey};

pub use filter::Filter;
pub(crate) use progress::Progress;
pub use stream::Notifications;
pub(crate) use task::{Inline, Pulling, run};

/// A callback for notifications. Implement the methods you need, or use a closure that takes a
/// [`Notification`].
///
/// The calls come one after the other, in order. If a call panics, the panic is logged and counted, and
/// the handler goes on with the next notification. Other handlers are not affected.
///
/// ```
/// use informer::{Added, Handler, InformerBuilder, Object, Target};
/// use std::sync::mpsc::{Sender, channel};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// /// Reports the key of every object that is added.
/// struct Keys(Sender<String>);
///
/// impl<K> Handler<K> for Keys {
///     fn added(&mut self, object: &Object<K>, _: Added) {
///         let _ = self.0.send(object.key().to_string());
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
///
/// // `server` is a mock API server with the pod web/shop-1.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
/// let (sender, keys) = channel();
/// let registration = pods.on(Keys(sender))?;
/// registration.synced(std::time::Duration::from_secs(30)).await?;
/// assert_eq!(keys.try_recv()?, "web/shop-1");
/// # Ok(())
/// # }
/// ```
pub trait Handler<K>: Send + 'static {
    /// Gets every notification. The default implementation calls one of the other methods.
    fn notified(&mut self, notification: Notification<Object<K>>) {
        match notification {
            Notification::Added {
                object,
                initial,
                cause,
            } => self.added(&object, Added { initial, cause }),
            Notification::Updated { old, new, cause } => self.updated(&old, &new, cause),
            Notification::Deleted {
                key,
                last,
                certainty,
                cause,
            } => self.deleted(&key, last.as_ref(), Deleted { certainty, cause }),
        }
    }

    /// Called for a new object.
    fn added(&mut self, object: &Object<K>, how: Added) {
        let _ = (object, how);
    }

    /// Called for a changed object. With [`Cause::Resync`] the object has not changed.
    fn updated(&mut self, old: &Object<K>, new: &Object<K>, cause: Cause) {
        let _ = (old, new, cause);
    }

    /// Called for a deleted object. Its last state is not always known.
    fn deleted(&mut self, key: &ObjectKey, last: Option<&Object<K>>, how: Deleted) {
        let _ = (key, last, how);
    }
}

impl<K, F: FnMut(Notification<Object<K>>) + Send + 'static> Handler<K> for F {
    fn notified(&mut self, notification: Notification<Object<K>>) {
        self(notification);
    }
}

/// How an object was added: see [`Handler::added`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Added {
    /// Whether the object belongs to the initial state of this handler.
    pub initial: bool,
    /// What caused the notification.
    pub cause: Cause,
}

/// How an object was deleted: see [`Handler::deleted`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Deleted {
    /// Whether the deletion was observed, or inferred because a full state does not contain the object.
    pub certainty: Certainty,
    /// What caused the notification.
    pub cause: Cause,
}

/// A callback that can await. It gets the next notification when the future of the last one is ready.
///
/// A closure that takes a [`Notification`] and returns a future is an `AsyncHandler`, too.
///
/// ```
/// use informer::{AsyncHandler, InformerBuilder, Notification, ObjectKey, Object, Target};
/// use tokio::sync::mpsc::{Sender, channel};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// /// Sends keys to a channel, and waits while it is full.
/// struct Keys(Sender<ObjectKey>);
///
/// impl<K: Send + Sync + 'static> AsyncHandler<K> for Keys {
///     async fn notified(&mut self, notification: Notification<Object<K>>) {
///         let _ = self.0.send(notification.key().clone()).await;
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
///
/// // `server` is a mock API server with the pod web/shop-1.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
/// let (sender, mut keys) = channel(1);
/// pods.on_async(Keys(sender))?;
/// assert_eq!(keys.recv().await, Some(ObjectKey::new("web", "shop-1")));
/// # Ok(())
/// # }
/// ```
pub trait AsyncHandler<K>: Send + 'static {
    /// Processes a notification.
    fn notified(
        &mut self,
        notification: Notification<Object<K>>,
    ) -> impl Future<Output = ()> + Send;
}

impl<K, F, R> AsyncHandler<K> for F
where
    F: FnMut(Notification<Object<K>>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    fn notified(
        &mut self,
        notification: Notification<Object<K>>,
    ) -> impl Future<Output = ()> + Send {
        self(notification)
    }
}
