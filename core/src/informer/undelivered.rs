//! Notifications of a change that was applied in one step, until listeners have room for them.

#[cfg(feature = "alloc")]
use alloc::collections::VecDeque;

use crate::flow::Notification;
use crate::object::Resource;
use crate::processor::Moment;

/// What a full state or a resync of an in-order queue told, in order. The store shows it at once; the
/// listeners hear of it as fast as they take it. Without an allocator there is no such queue, and this
/// is always empty.
pub(super) struct Undelivered<T: Resource> {
    #[cfg(feature = "alloc")]
    waiting: VecDeque<(Notification<T>, Moment)>,
    #[cfg(not(feature = "alloc"))]
    nothing: core::marker::PhantomData<T>,
}

#[cfg(feature = "alloc")]
impl<T: Resource> Undelivered<T> {
    pub(super) const fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
        }
    }

    /// What the store has shown since `moment`.
    pub(super) fn extend(
        &mut self,
        told: impl IntoIterator<Item = Notification<T>>,
        moment: Moment,
    ) {
        let told = told.into_iter().map(|notification| (notification, moment));
        self.waiting.extend(told);
    }

    pub(super) fn pop(&mut self) -> Option<(Notification<T>, Moment)> {
        self.waiting.pop_front()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(not(feature = "alloc"))]
impl<T: Resource> Undelivered<T> {
    pub(super) const fn new() -> Self {
        Self {
            nothing: core::marker::PhantomData,
        }
    }

    #[expect(clippy::needless_pass_by_ref_mut, reason = "as with an allocator")]
    pub(super) const fn pop(&mut self) -> Option<(Notification<T>, Moment)> {
        None
    }

    pub(super) const fn len(&self) -> usize {
        0
    }
}
