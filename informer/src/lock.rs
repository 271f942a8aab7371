//! A mutex that detects re-entry: a thread that locks it twice panics instead of deadlocking.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::sync::{AtomicUsize, Mutex, MutexGuard, thread_local};

thread_local! {
    /// Its address identifies the thread.
    static HERE: u8 = const { 0 };
}

/// The panic message for user code that calls its own informer.
const OWN: &str = "a decoder, transform or index function, or the `Drop` of an object, called its own \
    informer, which would deadlock; inside them only read the cache, with `lister` or `snapshot`";

pub(crate) struct Lock<T> {
    value: Mutex<T>,
    /// The thread that holds the lock; zero if there is none.
    holder: AtomicUsize,
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            value: Mutex::new(value),
            holder: AtomicUsize::new(0),
        }
    }

    /// Waits until no other thread holds the lock.
    ///
    /// # Panics
    /// If this thread holds it already.
    pub(crate) fn lock(&self) -> Locked<'_, T> {
        let here = HERE.with(|here| std::ptr::from_ref(here).addr());
        // Only this thread stores its own address, so relaxed ordering is enough.
        assert!(self.holder.load(Ordering::Relaxed) != here, "{OWN}");
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.holder.store(here, Ordering::Relaxed);
        Locked {
            value,
            holder: &self.holder,
        }
    }
}

/// A held lock.
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
