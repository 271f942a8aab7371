//! Futures that wait for a condition, with a timeout.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use informer_core::{Instant, Timer, Wakers};

use crate::engine::{Engine, State};

/// Waits until `check` returns something. The output is `None` if the timeout passes first.
pub(crate) struct Wait<K: Send + Sync + 'static, F> {
    engine: Arc<Engine<K>>,
    check: F,
    waiting: fn(&mut State<K>) -> &mut Wakers,
    ticket: Option<u64>,
    deadline: Option<(Instant, Box<dyn Timer>)>,
}

impl<K: Send + Sync + 'static, F> Wait<K, F> {
    /// Runs `check` after every change of the status.
    pub(crate) fn for_status<R>(engine: &Arc<Engine<K>>, check: F) -> Self
    where
        F: FnMut(&mut State<K>) -> Option<R> + Unpin,
    {
        Self::new(engine, check, |state| &mut state.status_waiting)
    }

    /// Runs `check` after every change of the cache.
    pub(crate) fn for_version<R>(engine: &Arc<Engine<K>>, check: F) -> Self
    where
        F: FnMut(&mut State<K>) -> Option<R> + Unpin,
    {
        Self::new(engine, check, |state| &mut state.version_waiting)
    }

    fn new(engine: &Arc<Engine<K>>, check: F, waiting: fn(&mut State<K>) -> &mut Wakers) -> Self {
        Self {
            engine: Arc::clone(engine),
            check,
            waiting,
            ticket: None,
            deadline: None,
        }
    }

    /// Limits how long to wait.
    pub(crate) fn within(mut self, timeout: Duration) -> Self {
        let clock = &self.engine.clock;
        self.deadline = Some((clock.now().after(timeout), clock.timer()));
        self
    }
}

impl<K: Send + Sync + 'static, R, F> Future for Wait<K, F>
where
    F: FnMut(&mut State<K>) -> Option<R> + Unpin,
{
    type Output = Option<R>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<R>> {
        let this = &mut *self;
        let mut state = this.engine.lock();
        if let Some(found) = (this.check)(&mut state) {
            return Poll::Ready(Some(found));
        }
        let waiting = (this.waiting)(&mut state);
        let ticket = *this.ticket.get_or_insert_with(|| waiting.ticket());
        waiting.wait(ticket, cx.waker());
        drop(state);
        match &mut this.deadline {
            Some((deadline, timer)) => timer.poll_until(*deadline, cx).map(|()| None),
            None => Poll::Pending,
        }
    }
}

impl<K: Send + Sync + 'static, F> Drop for Wait<K, F> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            (self.waiting)(&mut self.engine.lock()).forget(ticket);
        }
    }
}
