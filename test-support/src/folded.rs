//! What a handler knows by what it was told, and whether that made sense.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer_core::{Notification, ObjectKey, Resource};

use crate::{Fold, Strictness, View, stamp};

/// A [`Fold`] for handlers. They run elsewhere, and a panic of theirs would be caught, so what is wrong is
/// written down. Clones are the same.
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
    /// Nothing was told yet.
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

    /// A handler to be registered.
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
            state.faults.push("told after its removal".to_owned());
        }
        let fault = state.fold.tell(notification, stamp).err();
        state.faults.extend(fault);
    }

    /// From now on it must not be told anything.
    pub fn close(&self) {
        self.state().closed = true;
    }

    /// What is there by what it was told.
    #[must_use]
    pub fn view(&self) -> View {
        self.state().fold.view()
    }

    /// How many notifications there were.
    #[must_use]
    pub fn told(&self) -> usize {
        self.state().told
    }

    /// How many of them were deletions.
    #[must_use]
    pub fn deleted(&self) -> usize {
        self.state().deleted
    }

    /// What was told and cannot be true.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.state().faults.clone()
    }
}
