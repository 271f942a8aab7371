//! Notifications as a stream.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use informer_core::{Notification, Object};

use super::Pulling;
use crate::shared::Handle;
use crate::status::HandlerStatus;

/// The notifications of an informer, as a stream.
///
/// The stream ends with the informer, and keeps it running until then. Notifications that you do not take
/// are subject to the backlog policy, as for any handler.
///
/// ```
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
/// // `pods` follows a mock API server with the pod web/shop-1.
/// let mut changes = pods.stream()?;
/// let first = changes.next().await.ok_or("the informer has ended")?;
/// assert_eq!(first.to_string(), "added web/shop-1 (initial, relist)");
///
/// pods.stop();
/// assert!(changes.next().await.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Notifications<K: Send + Sync + 'static> {
    pulling: Pulling<K>,
    /// Keeps the informer running.
    _handle: Arc<Handle<K>>,
}

impl<K: Send + Sync + 'static> Notifications<K> {
    pub(crate) const fn new(pulling: Pulling<K>, handle: Arc<Handle<K>>) -> Self {
        Self {
            pulling,
            _handle: handle,
        }
    }

    /// Returns the next notification, or `None` when the informer has ended.
    ///
    /// The stream takes notifications in batches. [`HandlerStatus::synced`] becomes true when you ask for
    /// more after the batch with the end of the initial state.
    pub async fn next(&mut self) -> Option<Notification<Object<K>>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns the lag of the stream, and whether it has processed its initial state.
    #[must_use]
    pub fn status(&self) -> Option<HandlerStatus> {
        let engine = &self.pulling.engine;
        let now = engine.clock.now();
        engine.lock().handler(self.pulling.id, now)
    }

    /// For the status, a notification is finished as soon as the stream returns it.
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Notification<Object<K>>>> {
        let polled = self.pulling.poll_next(cx.waker());
        if let Poll::Ready(Some(_)) = &polled {
            self.pulling.done();
        }
        polled
    }
}

impl<K: Send + Sync + 'static> Stream for Notifications<K> {
    type Item = Notification<Object<K>>;

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
