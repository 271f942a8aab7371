//! The task that sends requests for the Lease, and passes answers and time to the machine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;

use informer_core::election::{LeaseAnswer, LeaseRequest, LeaseRequestId};
use informer_core::{Instant, Object, Timer};
use serde_json::Value;

use super::log::{Lead, Log};
use super::record;
use super::shared::{Failed, Shared};
use crate::api::{Api, ApiError, ApiErrorKind};
use crate::panics::panic_text;
use crate::runtime::RuntimeError;
use crate::words::roughly;

/// What to add to the message of a server that forbids a request.
const PERMISSION: &str =
    ": an election needs get, create and update on leases.coordination.k8s.io in that namespace";

/// Drives one replica until it is stopped.
pub(super) struct Driver {
    shared: Arc<Shared>,
    api: Api<Value>,
    timer: Box<dyn Timer>,
    started: bool,
    call: Option<Call>,
    /// The Lease as it was last read or written, with everything in it.
    lease: Option<Value>,
    /// Whether the last request failed.
    failed: bool,
    log: Log,
}

/// A request that is under way.
struct Call {
    id: LeaseRequestId,
    verb: Verb,
    sent: Instant,
    answer: Answer,
}

type Answer = Pin<Box<dyn Future<Output = Result<Object<Value>, ApiError>> + Send>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Get,
    Create,
    Update,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, api: Api<Value>) -> Self {
        Self {
            timer: shared.clock.timer(),
            shared,
            api,
            started: false,
            call: None,
            lease: None,
            failed: false,
            log: Log::default(),
        }
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let current = self.call.as_ref().map(|call| call.id);
            let (request, is_late, lead, stopped, now) = self.shared.update(|state, now| {
                state.driver = Some(cx.waker().clone());
                if !self.started {
                    self.started = true;
                    state.machine.start(now);
                }
                let request = state.machine.poll_request(now);
                let is_dropped = current.is_some_and(|id| !state.machine.awaits(id));
                let is_late = is_dropped && !state.stopping;
                let lead = Lead::of(state);
                (request, is_late, lead, state.has_ended(), now)
            });
            self.log.lead(&self.shared, lead);
            if let Some(call) = self.call.take_if(|_| is_late) {
                let waited = roughly(now.since(call.sent));
                let message = format!("the server has not answered for {waited}");
                self.note(message, now);
            }
            if stopped {
                return Poll::Ready(());
            }
            if let Some((id, request)) = request {
                self.send(id, request, now);
            }
            if let Some(call) = &mut self.call
                && let Poll::Ready(answer) = call.answer.as_mut().poll(cx)
            {
                let (id, verb) = (call.id, call.verb);
                self.call = None;
                let answer = self.read(verb, answer);
                self.answer(id, answer);
                continue;
            }
            match self.deadline() {
                Some(deadline) if self.timer.poll_until(deadline, cx).is_ready() => {}
                _ => return Poll::Pending,
            }
        }
    }

    /// When to go on without an answer. If no request is under way, the attempt is over.
    fn deadline(&self) -> Option<Instant> {
        let mut state = self.shared.lock();
        if self.call.is_none() && !self.failed {
            state.failure = None;
        }
        state.machine.next_deadline()
    }

    fn send(&mut self, id: LeaseRequestId, request: LeaseRequest, now: Instant) {
        let api = self.api.clone();
        let key = self.shared.lease.clone();
        let wall = SystemTime::now();
        let (verb, answer): (_, Answer) = match request {
            LeaseRequest::Get => (Verb::Get, Box::pin(async move { api.get(&key).await })),
            LeaseRequest::Create(claim) => {
                let lease = record::create(&key, &claim, wall);
                (
                    Verb::Create,
                    Box::pin(async move { api.create(&lease).await }),
                )
            }
            LeaseRequest::Update { claim, version } => {
                let known = self.lease.as_ref().filter(|lease| {
                    let known = lease.pointer("/metadata/resourceVersion");
                    known.and_then(Value::as_str) == Some(&version)
                });
                let Some(mut lease) = known.cloned() else {
                    // What others have written there would be lost. The machine reads the Lease again.
                    self.answer(id, LeaseAnswer::Refused);
                    return;
                };
                record::write(&mut lease, &claim, wall);
                (
                    Verb::Update,
                    Box::pin(async move { api.update(&lease).await }),
                )
            }
        };
        self.call = Some(Call {
            id,
            verb,
            sent: now,
            answer,
        });
    }

    fn answer(&self, id: LeaseRequestId, answer: LeaseAnswer) {
        self.shared
            .update(|state, now| state.machine.answer(id, answer, now));
    }

    /// What an answer means for the machine.
    fn read(&mut self, verb: Verb, answer: Result<Object<Value>, ApiError>) -> LeaseAnswer {
        self.failed = false;
        let error = match answer {
            Ok(object) => {
                let lease = record::read(&object);
                self.lease = Some((*object).clone());
                return match verb {
                    Verb::Get => LeaseAnswer::Found(lease),
                    Verb::Create | Verb::Update => LeaseAnswer::Written(lease),
                };
            }
            Err(error) => error,
        };
        match (error.kind, verb) {
            (ApiErrorKind::NotFound, Verb::Get) => LeaseAnswer::Missing,
            // Another replica came first, or somebody has deleted the Lease.
            (ApiErrorKind::NotFound, Verb::Update)
            | (ApiErrorKind::Conflict | ApiErrorKind::AlreadyExists, _) => LeaseAnswer::Refused,
            (kind, _) => {
                let permission = match kind {
                    ApiErrorKind::Forbidden => PERMISSION,
                    _ => "",
                };
                self.note(format!("{error}{permission}"), self.shared.clock.now());
                LeaseAnswer::Failed
            }
        }
    }

    /// Notes a failure, for the status and the log.
    fn note(&mut self, message: String, now: Instant) {
        self.failed = true;
        self.log.failure(&self.shared, &message, now);
        let mut state = self.shared.lock();
        let count = state.failure.as_ref().map_or(0, |failed| failed.count);
        state.failure = Some(Failed {
            message,
            count: count + 1,
            at: now,
        });
    }
}

/// A driver that is dropped before it was stopped renews nothing any more.
impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.break_off(|| RuntimeError::ended().to_string());
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // A client can be user code.
        match catch_unwind(AssertUnwindSafe(|| self.run(cx))) {
            Ok(polled) => polled,
            Err(panic) => {
                let text = panic_text(&*panic);
                self.shared.break_off(|| format!("it panicked: {text}"));
                Poll::Ready(())
            }
        }
    }
}
