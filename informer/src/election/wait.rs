//! Futures that wait for a change, or for a time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use informer_core::{Instant, Timer};

use super::shared::{Shared, State};

/// What a waiting future finds.
pub(super) enum Check<R> {
    Done(R),
    /// Look again at this time, or after a change.
    Until(Instant),
    /// Look again after a change.
    Wait,
}

/// Waits until `check` is done.
pub(super) struct Wait<F> {
    shared: Arc<Shared>,
    check: F,
    ticket: Option<u64>,
    timer: Box<dyn Timer>,
}

impl<F> Wait<F> {
    pub(super) fn new<R>(shared: &Arc<Shared>, check: F) -> Self
    where
        F: FnMut(&State, Instant) -> Check<R> + Unpin,
    {
        Self {
            shared: Arc::clone(shared),
            check,
            ticket: None,
            timer: shared.clock.timer(),
        }
    }
}

impl Wait<()> {
    /// Waits until a term is over. The clock ends it, too.
    pub(super) fn for_end_of(
        shared: &Arc<Shared>,
        term: u64,
    ) -> Wait<impl FnMut(&State, Instant) -> Check<()> + Send + Unpin + use<>> {
        Wait::new(shared, move |state, now| match state.leads_until(term) {
            Some(until) if now < until => Check::Until(until),
            _ => Check::Done(()),
        })
    }
}

impl<R, F> Future for Wait<F>
where
    F: FnMut(&State, Instant) -> Check<R> + Unpin,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = &mut *self;
        // The timer of a runtime that has ended is ready before its time; take its word for it.
        let mut reached = Instant::default();
        loop {
            let mut state = this.shared.lock();
            let now = this.shared.clock.now().max(reached);
            let until = match (this.check)(&state, now) {
                Check::Done(result) => return Poll::Ready(result),
                Check::Until(until) => Some(until),
                Check::Wait => None,
            };
            let waiting = &mut state.waiting;
            let ticket = *this.ticket.get_or_insert_with(|| waiting.ticket());
            waiting.wait(ticket, cx.waker());
            drop(state);
            match until.map(|until| (until, this.timer.poll_until(until, cx))) {
                Some((until, Poll::Ready(()))) => reached = until,
                Some((_, Poll::Pending)) | None => return Poll::Pending,
            }
        }
    }
}

impl<F> Drop for Wait<F> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.shared.lock().waiting.forget(ticket);
        }
    }
}
