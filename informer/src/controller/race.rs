//! Work that may end before it is done.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Awaits `work`, and drops it if `end` comes first. `end` is asked first: after it, the work must not go on.
pub(crate) async fn unless<W: Future>(end: impl Future<Output = ()>, work: W) -> Option<W::Output> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|cx| match end.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(cx).map(Some),
    })
    .await
}
