//! The task of a handler: takes notifications and calls the handler.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

use informer_core::processor::ListenerId;
use informer_core::{Notification, Object};

use super::{AsyncHandler, Handler, Progress};
use crate::engine::{Engine, Listening, old_state};
use crate::panics::caught;
use crate::sparing::{Say, Sparing};
use crate::sync::AtomicBool;

/// A synchronous handler as an asynchronous one.
pub(crate) struct Inline<H>(pub(crate) H);

impl<K: Send + Sync + 'static, H: Handler<K>> AsyncHandler<K> for Inline<H> {
    async fn notified(&mut self, notification: Notification<Object<K>>) {
        self.0.notified(notification);
    }
}

/// Pulls the notifications of one listener, until it is removed or the informer ends.
pub(crate) struct Pulling<K: Send + Sync + 'static> {
    pub(crate) engine: Arc<Engine<K>>,
    pub(crate) id: ListenerId,
    /// The listener was removed, or the informer has ended.
    over: Arc<AtomicBool>,
    /// The listener is paused, or the informer is suspended.
    held: Arc<AtomicBool>,
    progress: Arc<Progress>,
    taken: VecDeque<Notification<Object<K>>>,
    /// Old states of this batch.
    spent: Vec<Object<K>>,
    /// Batches since the task last yielded.
    batches: usize,
    /// Whether a task pulls that has not finished.
    in_task: bool,
}

/// How many batches a handler takes before it yields to other tasks.
const TURN: usize = 8;

impl<K: Send + Sync + 'static> Pulling<K> {
    pub(crate) fn new(engine: Arc<Engine<K>>, listener: Listening) -> Self {
        Self {
            engine,
            id: listener.id,
            over: listener.over,
            held: listener.held,
            progress: listener.progress,
            taken: VecDeque::new(),
            spent: Vec::new(),
            batches: 0,
            in_task: false,
        }
    }

    /// Marks this as pulled by a task. If the task is dropped before it finishes, even before it starts,
    /// the handler is lost.
    pub(crate) const fn in_task(mut self) -> Self {
        self.in_task = true;
        self
    }

    pub(crate) fn poll_next(&mut self, waker: &Waker) -> Poll<Option<Notification<Object<K>>>> {
        if self.taken.is_empty() {
            let Self {
                engine,
                id,
                taken,
                spent,
                batches,
                ..
            } = self;
            if *batches == TURN {
                *batches = 0;
                waker.wake_by_ref();
                return Poll::Pending;
            }
            // Taking notifications lets the queue move on, so an index function can panic here. That ends
            // the informer.
            let polled = catch_unwind(AssertUnwindSafe(|| {
                engine.poll_batch(*id, waker, taken, spent)
            }));
            spent.clear();
            match polled {
                Ok(Poll::Ready(Some(()))) => *batches += 1,
                Ok(Poll::Pending) => {
                    *batches = 0;
                    return Poll::Pending;
                }
                Ok(Poll::Ready(None)) | Err(_) => return Poll::Ready(None),
            }
        } else if self.over.load(Ordering::Acquire) {
            // The listener was removed while some notifications were left.
            self.taken.clear();
            return Poll::Ready(None);
        } else if self.held.load(Ordering::Acquire) && self.engine.is_held(self.id, waker) {
            self.spent.clear();
            return Poll::Pending;
        }
        Poll::Ready(self.taken.pop_front())
    }

    /// Marks the last notification as finished.
    pub(crate) fn done(&self) {
        self.progress.end();
    }
}

/// Removes the listener, so that notifications that are never taken cannot hold up the informer.
impl<K: Send + Sync + 'static> Drop for Pulling<K> {
    fn drop(&mut self) {
        if self.in_task {
            self.engine.lose_listener(self.id);
        } else if !self.over.load(Ordering::Acquire) {
            self.engine.remove_listener(self.id);
        }
    }
}

/// Calls a handler until its listener is removed or the informer ends.
pub(crate) async fn run<K: Send + Sync + 'static>(
    mut pulling: Pulling<K>,
    mut handler: impl AsyncHandler<K>,
) {
    let mut panics = Sparing::default();
    while let Some(notification) = poll_fn(|cx| pulling.poll_next(cx.waker())).await {
        let old = old_state(&notification);
        // The old state has the key, too. Each clone changes a counter that all handlers share.
        let key = old.is_none().then(|| notification.key().clone());
        pulling.progress.begin(pulling.engine.clock.now());
        let outcome = caught(|| handler.notified(notification)).await;
        pulling.done();
        if let Err(panic) = outcome {
            let key = old.as_ref().map(Object::key).or(key.as_ref());
            if let Some(Say { not_logged }) = panics.say(pulling.engine.clock.now()) {
                tracing::error!(
                    informer = pulling.engine.name,
                    key = key.map(tracing::field::display),
                    panic,
                    not_logged,
                    "a handler panicked"
                );
            }
            pulling.engine.count_panic(pulling.id);
        }
        pulling.spent.extend(old);
    }
    pulling.in_task = false;
}
