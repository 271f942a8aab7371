//! Waiting for all informers of a factory.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use crate::error::NotSynced;

pub(super) type Waiting<R> = Pin<Box<dyn Future<Output = R> + Send>>;

/// Waits for all futures at once, because each timeout starts with the first poll. The outputs keep their
/// order.
pub(super) async fn all<R>(mut waits: Vec<Waiting<R>>) -> Vec<R> {
    let mut given: Vec<Option<R>> = waits.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (wait, given) in waits.iter_mut().zip(&mut given) {
            if given.is_none()
                && let Poll::Ready(output) = wait.as_mut().poll(cx)
            {
                *given = Some(output);
            }
        }
        if given.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    given.into_iter().flatten().collect()
}

/// Some informers of a factory did not sync.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct NotAllSynced {
    /// The reason for each of them.
    pub late: Vec<NotSynced>,
}

impl fmt::Display for NotAllSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, late) in self.late.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            late.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for NotAllSynced {}
