//! The lock of an engine. A thread that has it and asks for it again is told so, instead of waiting for
//! itself for ever.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::sync::{AtomicUsize, Mutex, MutexGuard, thread_local};

thread_local! {
    /// Its address is the name of the thread.
    static HERE: u8 = const { 0 };
}

/// What a thread says that asks its own informer.
const OWN: &str = "a decoder, transform or index function, or the `Drop` of an object, asked its own \
    informer, which waits for it; in there read only the store, by `lister` or `snapshot`";

pub(crate) struct Lock<T> {
    value: Mutex<T>,
    /// The thread that has it; zero for none.
    holder: AtomicUsize,
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            value: Mutex::new(value),
            holder: AtomicUsize::new(0),
        }
    }

    /// Waits until nobody else has it.
    ///
    /// # Panics
    /// If this thread has it.
    pub(crate) fn lock(&self) -> Locked<'_, T> {
        let here = HERE.with(|here| std::ptr::from_ref(here).addr());
        // Nobody else writes the name of this thread, so this needs no order.
        assert!(self.holder.load(Ordering::Relaxed) != here, "{OWN}");
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.holder.store(here, Ordering::Relaxed);
        Locked {
            value,
            holder: &self.holder,
        }
    }
}

/// The lock is held.
pub(crate) struct Locked<'a, T> {
    value: MutexGuard<'a, T>,
    holder: &'a AtomicUsize,
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        self.holder.store(0, Ordering::Relaxed);
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
