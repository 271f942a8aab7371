//! A rest of the informer, or of one of its handlers.

use std::sync::atomic::Ordering;
use std::task::Waker;

use informer_core::processor::ListenerId;

use super::{Engine, State};

impl<K: Send + Sync + 'static> Engine<K> {
    pub(crate) fn suspend(&self) {
        let now = self.clock.now();
        self.update(|state| {
            state.core.suspend(now);
            // It may have moved the queue on, and the request must be aborted.
            state.touch();
            state.publish();
            state.driver_wanted = true;
            state.hold();
        });
    }

    pub(crate) fn resume(&self) {
        let now = self.clock.now();
        self.update(|state| {
            state.core.resume(now);
            state.touch();
            state.driver_wanted = true;
            state.hold();
        });
    }

    /// Ends the wait for the next try, if there is one.
    pub(crate) fn retry_now(&self) {
        let now = self.clock.now();
        self.update(|state| {
            state.core.hurry(now);
            state.driver_wanted = true;
        });
    }

    /// Ends the wait for a kind that is gone, if that is what the informer waits for.
    pub(crate) fn look_for_kind(&self) {
        let gone = self.lock().core.status().gone;
        if gone {
            self.retry_now();
        }
    }

    /// Notes that the definition of the kind was deleted.
    pub(crate) fn definition_deleted(&self) {
        let now = self.clock.now();
        self.update(|state| {
            state.core.definition_deleted(now);
            state.driver_wanted = true;
        });
    }

    pub(crate) fn pause_listener(&self, id: ListenerId) {
        self.update(|state| {
            state.core.pause_listener(id);
            state.hold();
        });
    }

    pub(crate) fn resume_listener(&self, id: ListenerId) {
        self.update(|state| {
            state.core.resume_listener(id);
            state.hold();
        });
    }

    /// Whether a listener is held. If so, its task is woken when that ends.
    pub(crate) fn is_held(&self, id: ListenerId, waker: &Waker) -> bool {
        let mut state = self.lock();
        let Some(listener) = state.listeners.get_mut(&id) else {
            return false;
        };
        let held = listener.held.load(Ordering::Acquire);
        if held {
            listener.waker = Some(waker.clone());
        }
        held
    }
}

impl<K: Send + Sync + 'static> State<K> {
    /// Tells the tasks of the handlers whether they may go on with what they have taken.
    fn hold(&mut self) {
        let suspended = self.core.is_suspended();
        self.listeners_paused = 0;
        for (id, listener) in &self.listeners {
            let paused = self.core.listener_status(*id).is_some_and(|it| it.paused);
            self.listeners_paused += usize::from(paused);
            listener.held.store(suspended || paused, Ordering::Release);
        }
    }
}
