//! What a worker does with keys.

use std::error::Error;
use std::future::{pending, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use tracing::Instrument as _;

use super::failure::{Failed, Panicked, Verdict};
use super::queue::Place;
use super::race::unless;
use super::work::Outcome;
use super::{Key, Next, Queue};
use crate::election::{Election, Guard};
use crate::panics::{caught, panic_text};

/// What all workers of a controller go by.
pub(super) struct Rules<Q> {
    pub(super) max_retries: Option<u32>,
    pub(super) on_error: Option<Arc<ErrorHook<Q>>>,
    pub(super) election: Option<Election>,
}

pub(super) type ErrorHook<Q> = dyn Fn(&Failed<'_, Q>) + Send + Sync;

impl<Q> Clone for Rules<Q> {
    fn clone(&self) -> Self {
        Self {
            max_retries: self.max_retries,
            on_error: self.on_error.clone(),
            election: self.election.clone(),
        }
    }
}

/// Works on one key after the other, until there will be no more.
pub(super) async fn run<Q, R, E>(
    place: Place<Q>,
    rules: Rules<Q>,
    reconcile: impl Fn(Q, Option<Guard>) -> R,
) where
    Q: Key,
    R: Future<Output = Result<Next, E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let queue = &place.queue;
    // Once in each term in which this replica leads.
    while let Some(term) = rules.term(queue).await {
        while let Some(next) = unless(term.end(), queue.next()).await {
            let Some(key) = next else { return };
            let work = || {
                let span = tracing::info_span!(
                    "reconcile",
                    controller = queue.name(),
                    ?key,
                    attempt = queue.attempts(&key).saturating_add(1)
                );
                let work = rules.work(queue, &term, &key, &reconcile);
                work.instrument(span)
            };
            // Errors and futures are of the user, too: their `Display` and their `Drop` may panic.
            let outcome = caught(work).await.unwrap_or_else(|panic| {
                tracing::error!(?key, panic, "an error or a dropped reconciliation panicked");
                queue.count_panic();
                Outcome::Retry
            });
            queue.settle(&key, outcome);
            turn_of_others().await;
        }
    }
}

/// A time in which workers may work.
struct Term(Option<Guard>);

impl Term {
    /// Waits for its end. Without an election, there is none.
    async fn end(&self) {
        match &self.0 {
            Some(guard) => guard.lost().await,
            None => pending().await,
        }
    }
}

impl<Q: Key> Rules<Q> {
    /// Reconciles a key.
    async fn work<R, E>(
        &self,
        queue: &Queue<Q>,
        term: &Term,
        key: &Q,
        reconcile: &impl Fn(Q, Option<Guard>) -> R,
    ) -> Outcome
    where
        R: Future<Output = Result<Next, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let work = caught(|| reconcile(key.clone(), term.0.clone()));
        match unless(term.end(), unless(queue.abandoned(), work)).await {
            None => {
                tracing::info!(
                    ?key,
                    "a reconciliation was dropped: this replica no longer leads"
                );
                Outcome::PutBack
            }
            Some(None) => Outcome::PutBack,
            Some(Some(Ok(Ok(Next::Done)))) => Outcome::Done,
            Some(Some(Ok(Ok(Next::After(delay))))) => Outcome::After(delay),
            Some(Some(Ok(Err(error)))) => self.judge(queue, key, &*error.into()),
            Some(Some(Err(panic))) => {
                queue.count_panic();
                self.judge(queue, key, &Panicked(panic))
            }
        }
    }

    /// Waits until this replica leads; `None` if the controller ends before.
    async fn term(&self, queue: &Queue<Q>) -> Option<Term> {
        let Some(election) = &self.election else {
            return Some(Term(None));
        };
        match unless(queue.ending(), election.leading()).await? {
            Ok(guard) => Some(Term(Some(guard))),
            Err(stopped) => {
                tracing::warn!(%stopped, "a worker does nothing more: it waits for an election that has ended");
                queue.ending().await;
                None
            }
        }
    }
}

impl<Q: Key> Rules<Q> {
    fn judge(
        &self,
        queue: &Queue<Q>,
        key: &Q,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> Outcome {
        // `settle` counts this attempt only later.
        let attempts = queue.attempts(key).saturating_add(1);
        let failed = Failed::new(key, error, attempts, self.max_retries);
        let error = failed.to_string();
        let outcome = match failed.verdict {
            Verdict::Retry => {
                tracing::warn!(?key, attempts, error, "a reconciliation failed");
                Outcome::Retry
            }
            Verdict::Permanent | Verdict::GiveUp => {
                let why = match failed.verdict {
                    Verdict::Permanent => "the error is permanent",
                    _ => "it has failed too often",
                };
                tracing::error!(
                    ?key,
                    attempts,
                    error,
                    why,
                    "a reconciliation failed, and its key is given up until it changes"
                );
                Outcome::GiveUp
            }
        };
        if let Some(hook) = &self.on_error
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| hook(&failed)))
        {
            let panic = panic_text(&*panic);
            tracing::error!(?key, panic, "the error hook of a controller panicked");
        }
        outcome
    }
}

/// Yields to other tasks. A worker that never has to wait would otherwise block its thread.
async fn turn_of_others() {
    let mut had_it = false;
    poll_fn(|cx| {
        if mem::replace(&mut had_it, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
