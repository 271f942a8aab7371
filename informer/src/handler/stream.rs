//! Notifications as a stream.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use informer_core::Notification;

use super::Pulling;
use crate::engine::Shared;
use crate::shared::Handle;
use crate::status::HandlerStatus;

/// The notifications of an informer, to be pulled. It ends with the informer; dropped, it is told
/// nothing more. What waits for it is subject to its backlog policy, as for any handler.
pub struct Notifications<K: Send + Sync + 'static> {
    pulling: Pulling<K>,
    /// As long as somebody pulls, the informer runs.
    _handle: Arc<Handle<K>>,
}

impl<K: Send + Sync + 'static> Notifications<K> {
    pub(crate) const fn new(pulling: Pulling<K>, handle: Arc<Handle<K>>) -> Self {
        Self {
            pulling,
            _handle: handle,
        }
    }

    /// The next notification; `None` when the informer has ended. What was given before counts as dealt
    /// with when there is nothing left of the batch that it came in.
    pub async fn next(&mut self) -> Option<Notification<Shared<K>>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// How it is doing: what waits, and whether it has been through its initial state.
    #[must_use]
    pub fn status(&self) -> Option<HandlerStatus> {
        let engine = &self.pulling.engine;
        let now = engine.clock.now();
        engine.lock().handler(self.pulling.id, now)
    }

    /// What is handed out is dealt with, as far as others can tell.
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Notification<Shared<K>>>> {
        let polled = self.pulling.poll_next(cx.waker());
        if let Poll::Ready(Some(_)) = &polled {
            self.pulling.done();
        }
        polled
    }
}

impl<K: Send + Sync + 'static> Stream for Notifications<K> {
    type Item = Notification<Shared<K>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for Notifications<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifications")
            .field("informer", &self.pulling.engine.name)
            .finish_non_exhaustive()
    }
}
