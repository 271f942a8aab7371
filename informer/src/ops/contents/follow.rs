//! The changes of an informer, pulled from time to time.
//!
//! A task for each informer would be woken with every change, before or beside the handlers of the program.
//! This only notes that there is news.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Wake, Waker};

use crate::engine::Engine;
use crate::handler::Pulling;
use crate::ops::feed::Change;
use crate::sync::AtomicBool;

/// Follows an informer of any kind. Ends when it is dropped.
pub(crate) trait Follow: Send {
    /// Tells what has changed since the last call, or a part of it if that is much. Returns false at the end
    /// of the informer.
    fn pull(&mut self, tell: &mut dyn FnMut(Change)) -> bool;
}

pub(super) struct Following<K: Send + Sync + 'static> {
    pulling: Pulling<K>,
    news: Arc<News>,
}

/// How many changes are taken in one pull.
const MOST: usize = 4_096;

/// Whether there is something to pull.
struct News(AtomicBool);

impl Wake for News {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl<K: Send + Sync + 'static> Following<K> {
    pub(super) fn of(engine: &Arc<Engine<K>>) -> Option<Self> {
        let listening = engine.add_onlooker("operations port").ok()?;
        Some(Self {
            pulling: Pulling::new(Arc::clone(engine), listening),
            news: Arc::new(News(AtomicBool::new(true))),
        })
    }
}

impl<K: Send + Sync + 'static> Follow for Following<K> {
    fn pull(&mut self, tell: &mut dyn FnMut(Change)) -> bool {
        if !self.news.0.swap(false, Ordering::Acquire) {
            return true;
        }
        let waker = Waker::from(Arc::clone(&self.news));
        for _ in 0..MOST {
            match self.pulling.poll_next(&waker) {
                Poll::Ready(Some(notification)) => {
                    tell(Change::of(&notification));
                    self.pulling.done();
                }
                Poll::Ready(None) => return false,
                // It may only have paused, for tasks that take turns.
                Poll::Pending if self.news.0.swap(false, Ordering::Acquire) => {}
                Poll::Pending => return true,
            }
        }
        self.news.0.store(true, Ordering::Release);
        true
    }
}
