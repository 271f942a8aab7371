//! The task that writes events, and what it shares with the recorder.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use informer_core::{Clock, Instant, ObjectKey, Wakers};
use serde_json::Value;

use super::aggregate::{Aggregator, Answer, Settled, Verb};
use super::record::{Record, Reporter};
use crate::api::{Api, ApiError, ApiErrorKind, Patch};
use crate::runtime::RuntimeError;
use crate::sparing::Sparing;
use crate::sync::{Mutex, MutexGuard};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// What the recorder and its task share.
pub(super) struct Shared {
    api: Api<Value>,
    pub(super) reporter: Reporter,
    pub(super) clock: Arc<dyn Clock>,
    wall_clock: WallClock,
    state: Mutex<State>,
}

pub(super) struct State {
    pub(super) machine: Aggregator,
    pub(super) waiting: Wakers,
    /// Whether the queue has been full since it was empty.
    pub(super) is_full: bool,
    pub(super) end: Option<End>,
    /// Whether the task has ended.
    pub(super) has_ended: bool,
}

/// How a recorder ends. A later one takes the place of an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum End {
    /// What is left is written, with retries.
    Stopped,
    /// What is left is tried once, because nobody waits for it.
    Dropped,
    /// What is left is given up.
    Abandoned,
}

impl Shared {
    pub(super) fn new(
        api: Api<Value>,
        reporter: Reporter,
        clock: Arc<dyn Clock>,
        wall_clock: WallClock,
    ) -> Arc<Self> {
        Arc::new(Self {
            api,
            reporter,
            clock,
            wall_clock,
            state: Mutex::new(State {
                machine: Aggregator::new(),
                waiting: Wakers::default(),
                is_full: false,
                end: None,
                has_ended: false,
            }),
        })
    }

    /// The time since the beginning of 1970.
    pub(super) fn wall_time(&self) -> Duration {
        let time = (self.wall_clock)().duration_since(UNIX_EPOCH);
        time.unwrap_or_default()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes those that wait.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let outcome = change(&mut state);
        let woken = state.waiting.take();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        outcome
    }

    pub(super) fn end(&self, end: End) {
        self.change(|state| {
            if state.end.is_none() {
                state.machine.write_all();
            }
            state.end = state.end.max(Some(end));
        });
    }
}

/// A place among those that wait, given up when dropped.
pub(super) struct Waiting<'a> {
    shared: &'a Shared,
    pub(super) ticket: u64,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        let ticket = shared.lock().waiting.ticket();
        Self { shared, ticket }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.lock().waiting.forget(self.ticket);
    }
}

/// Says that the task has ended, also if its runtime drops it.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        let was_asked = self.0.change(|state| {
            state.has_ended = true;
            state.end.replace(End::Abandoned).is_some()
        });
        if !was_asked {
            let controller = &self.0.reporter.controller;
            let reason = RuntimeError::ended();
            tracing::error!(controller, %reason, "a recorder of events was lost");
        }
    }
}

/// Writes events until the recorder ends.
pub(super) async fn write(shared: Arc<Shared>) {
    let ending = Ending(Arc::clone(&shared));
    let mut complaints = Complaints::default();
    while let Some((verb, record)) = next(&shared).await {
        let outcome = shared.write(verb, &record).await;
        let now = shared.clock.now();
        let answer = answer_of(&outcome);
        let settled = shared.change(|state| {
            let settled = state.machine.answered(answer, now);
            state.is_full &= !state.machine.is_idle();
            settled
        });
        match outcome {
            Ok(()) => complaints.permitted(verb),
            Err(error) if settled == Settled::GivenUp => {
                complaints.about(&shared.reporter, verb, &error, now);
            }
            Err(error) => tracing::debug!(%error, ?settled, "an event was not written"),
        }
    }
    drop(ending);
}

/// The next write. `None` when there will be no more.
async fn next(shared: &Shared) -> Option<(Verb, Record)> {
    let waiting = Waiting::new(shared);
    let mut timer = shared.clock.timer();
    let mut lost = 0;
    let next = poll_fn(|cx| {
        loop {
            let now = shared.clock.now();
            let mut state = shared.lock();
            let gives_up = match state.end {
                None | Some(End::Stopped) => false,
                Some(End::Dropped) => state.machine.rests(now),
                Some(End::Abandoned) => true,
            };
            if gives_up {
                lost = state.machine.abandon();
            }
            if let Some(write) = state.machine.poll_write(now) {
                return Poll::Ready(Some(write));
            }
            if state.end.is_some() && state.machine.is_idle() {
                return Poll::Ready(None);
            }
            state.waiting.wait(waiting.ticket, cx.waker());
            let deadline = state.machine.next_deadline();
            drop(state);
            match deadline.map(|deadline| timer.poll_until(deadline, cx)) {
                Some(Poll::Ready(())) => {}
                Some(Poll::Pending) | None => return Poll::Pending,
            }
        }
    })
    .await;
    if lost > 0 {
        let controller = &shared.reporter.controller;
        tracing::warn!(controller, lost, "events are lost: the recorder has ended");
    }
    next
}

impl Shared {
    /// Sends a write. It has no answer if that takes too long, or if the recorder is told to give up.
    async fn write(&self, verb: Verb, record: &Record) -> Result<(), ApiError> {
        let key = ObjectKey::new(record.event.namespace(), &record.name);
        let mut writing = pin!(async {
            match verb {
                Verb::Create => self.api.create(&record.whole(&self.reporter)).await,
                Verb::Patch => self.api.patch(&key, &Patch::merge(record.change())).await,
            }
        });
        let waiting = Waiting::new(self);
        let mut timer = self.clock.timer();
        let deadline = self.clock.now().after(PATIENCE);
        poll_fn(|cx| {
            if let Poll::Ready(written) = writing.as_mut().poll(cx) {
                return Poll::Ready(written.map(drop));
            }
            let mut state = self.lock();
            let is_given_up = state.end >= Some(End::Abandoned);
            state.waiting.wait(waiting.ticket, cx.waker());
            drop(state);
            if is_given_up || timer.poll_until(deadline, cx).is_ready() {
                return Poll::Ready(Err(late(&key)));
            }
            Poll::Pending
        })
        .await
    }
}

/// Nobody waits for the answer any longer.
fn late(key: &ObjectKey) -> ApiError {
    ApiError {
        what: format!("write event {key}"),
        kind: ApiErrorKind::Unanswered,
        message: "there was no answer in time".to_owned(),
        causes: Vec::new(),
    }
}

/// What a write means for the machine.
fn answer_of(outcome: &Result<(), ApiError>) -> Answer {
    let Err(error) = outcome else {
        return Answer::Written;
    };
    match error.kind {
        ApiErrorKind::Unreadable => Answer::Written,
        ApiErrorKind::AlreadyExists => Answer::Exists,
        ApiErrorKind::NotFound => Answer::Missing,
        ApiErrorKind::Throttled { retry_after } => Answer::Later(retry_after),
        ApiErrorKind::Conflict
        | ApiErrorKind::Unauthorized
        | ApiErrorKind::Unreachable
        | ApiErrorKind::Unanswered
        | ApiErrorKind::ServerFailed => Answer::Later(None),
        ApiErrorKind::Forbidden
        | ApiErrorKind::Invalid
        | ApiErrorKind::Unusable
        | ApiErrorKind::Refused => Answer::Refused,
    }
}

/// What is logged about events that were given up.
#[derive(Default)]
struct Complaints {
    others: Sparing,
    /// Whether it was said that the permission is missing, to create and to patch.
    is_forbidden: [bool; 2],
}

impl Complaints {
    fn permitted(&mut self, verb: Verb) {
        *self.forbidden(verb) = false;
    }

    const fn forbidden(&mut self, verb: Verb) -> &mut bool {
        let [create, patch] = &mut self.is_forbidden;
        match verb {
            Verb::Create => create,
            Verb::Patch => patch,
        }
    }

    fn about(&mut self, reporter: &Reporter, verb: Verb, error: &ApiError, now: Instant) {
        let controller = &reporter.controller;
        let ends = |cause: &crate::api::FieldCause| cause.reason == "NamespaceTerminating";
        if error.causes.iter().any(ends) {
            tracing::debug!(controller, %error, "an event is lost: its namespace ends");
            return;
        }
        if error.kind == ApiErrorKind::Forbidden {
            if !std::mem::replace(self.forbidden(verb), true) {
                tracing::warn!(
                    controller,
                    %error,
                    "events are lost: allow the controller to `create` and `patch` the resource `events` \
                     of the API group `events.k8s.io`"
                );
            }
            return;
        }
        if let Some(say) = self.others.say(now) {
            let not_logged = say.not_logged;
            tracing::warn!(controller, %error, not_logged, "an event is lost");
        }
    }
}
