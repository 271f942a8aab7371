//! A fold for handlers, which must not panic.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer_core::{Notification, ObjectKey, Resource};

use crate::{Fold, Strictness, View, stamp};

/// A [`Fold`] for handlers. A handler runs elsewhere and its panics are caught, so faults are recorded
/// instead. Clones share their state.
#[derive(Clone, Debug)]
pub struct Folded(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    fold: Fold<String>,
    told: usize,
    deleted: usize,
    closed: bool,
    faults: Vec<String>,
}

impl Folded {
    /// Creates a fold without notifications.
    #[must_use]
    pub fn new(strictness: Strictness) -> Self {
        Self(Arc::new(Mutex::new(State {
            fold: Fold::new(strictness),
            told: 0,
            deleted: 0,
            closed: false,
            faults: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handler to register.
    pub fn handler<T: Resource<Key = ObjectKey>>(
        &self,
    ) -> impl FnMut(Notification<T>) + Clone + Send + 'static + use<T> {
        let folded = self.clone();
        move |notification| folded.tell(&notification)
    }

    /// Adds a notification.
    pub fn tell<T: Resource<Key = ObjectKey>>(&self, notification: &Notification<T>) {
        let mut state = self.state();
        state.told += 1;
        state.deleted += usize::from(matches!(notification, Notification::Deleted { .. }));
        if state.closed {
            state.faults.push("notified after removal".to_owned());
        }
        let fault = state.fold.tell(notification, stamp).err();
        state.faults.extend(fault);
    }

    /// Any further notification is a fault.
    pub fn close(&self) {
        self.state().closed = true;
    }

    /// The objects that exist according to the notifications.
    #[must_use]
    pub fn view(&self) -> View {
        self.state().fold.view()
    }

    /// The number of notifications.
    #[must_use]
    pub fn told(&self) -> usize {
        self.state().told
    }

    /// The number of deletions.
    #[must_use]
    pub fn deleted(&self) -> usize {
        self.state().deleted
    }

    /// The notifications that were inconsistent.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.state().faults.clone()
    }
}
