//! Handlers: who is told of changes.

// Only some objects.
mod filter;

// How far a handler is with what it has taken.
mod progress;

// The task in which a handler runs.
mod task;

// Notifications as a stream.
mod stream;

use informer_core::{Cause, Certainty, Notification, ObjectKey};

pub use filter::Filter;
pub(crate) use progress::Progress;
pub use stream::Notifications;
pub(crate) use task::{Inline, Pulling, run};

use crate::engine::Shared;

/// Who is told of changes, one after the other. Implement what you need; a closure over
/// [`Notification`] is a handler, too.
///
/// A handler that panics is not told that notification again; the panic is counted and logged, and
/// nobody else notices.
///
/// ```
/// use informer::{Added, Handler, Shared};
///
/// struct CountNew(usize);
///
/// impl<K> Handler<K> for CountNew {
///     fn added(&mut self, _: &Shared<K>, how: Added) {
///         if !how.initial {
///             self.0 += 1;
///         }
///     }
/// }
/// ```
pub trait Handler<K>: Send + 'static {
    /// Everything comes here first, and by default goes to one of the others.
    fn notified(&mut self, notification: Notification<Shared<K>>) {
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

    /// There is a new object.
    fn added(&mut self, object: &Shared<K>, how: Added) {
        let _ = (object, how);
    }

    /// An object has changed. With [`Cause::Resync`] it has not: it is shown again.
    fn updated(&mut self, old: &Shared<K>, new: &Shared<K>, cause: Cause) {
        let _ = (old, new, cause);
    }

    /// An object is gone. Its last state is not always known.
    fn deleted(&mut self, key: &ObjectKey, last: Option<&Shared<K>>, how: Deleted) {
        let _ = (key, last, how);
    }
}

impl<K, F: FnMut(Notification<Shared<K>>) + Send + 'static> Handler<K> for F {
    fn notified(&mut self, notification: Notification<Shared<K>>) {
        self(notification);
    }
}

/// How an object came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Added {
    /// Whether it belongs to the state that this handler began with.
    pub initial: bool,
    /// What brought it.
    pub cause: Cause,
}

/// How an object went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Deleted {
    /// Whether the server said so, or its absence from a full state did.
    pub certainty: Certainty,
    /// What brought it.
    pub cause: Cause,
}

/// A handler that may wait. The next notification comes when it is done with the one before.
pub trait AsyncHandler<K>: Send + 'static {
    /// Deals with a notification.
    fn notified(
        &mut self,
        notification: Notification<Shared<K>>,
    ) -> impl Future<Output = ()> + Send;
}

impl<K, F, R> AsyncHandler<K> for F
where
    F: FnMut(Notification<Shared<K>>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    fn notified(
        &mut self,
        notification: Notification<Shared<K>>,
    ) -> impl Future<Output = ()> + Send {
        self(notification)
    }
}
