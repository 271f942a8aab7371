//! The transport of one informer.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use informer_core::transport::{Command, ExchangeId, Request, Signal, Target, Transport};
use informer_core::{Encoding, Failure};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::body::Body;
use crate::exchange::{open, within};
use crate::failed::Failed;
use crate::pace::{Pace, watch_over};
use crate::reading::Reading;
use crate::resource::{TargetError, check};
use crate::sender::{Answer, Purpose, Question, Sender};

/// The HTTP transport of one informer.
///
/// A task in the runtime of the sender sends each request. The code that polls the transport, which may run
/// anywhere, reads the answer. Dropping the transport ends its exchange.
pub struct HttpTransport<S: Sender> {
    sender: Arc<S>,
    target: Arc<Target>,
    current: Option<Current<S::Answer>>,
}

/// The exchange in progress.
struct Current<A> {
    exchange: ExchangeId,
    stage: Stage<A>,
    /// The event returned by `poll_signal` until it is consumed.
    shown: Option<Event>,
    task: AbortHandle,
}

/// How far an exchange has come.
enum Stage<A> {
    /// Its task waits for the answer.
    Opening(oneshot::Receiver<Result<Opened<A>, Failed>>),
    Reading(Box<Reading<A>>),
}

/// The beginning of a successful answer.
struct Opened<A> {
    encoding: Encoding,
    reading: Box<Reading<A>>,
}

impl<A> Drop for Current<A> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<A: Answer> Current<A> {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        match &mut self.stage {
            Stage::Reading(reading) => reading.poll_event(cx),
            Stage::Opening(answer) => {
                let answer = ready!(Pin::new(answer).poll(cx));
                let opened = answer.unwrap_or_else(|_| Err(Failed::runtime_ended()));
                Poll::Ready(match opened {
                    Ok(Opened { encoding, reading }) => {
                        self.stage = Stage::Reading(reading);
                        Event::Opened(encoding)
                    }
                    Err(failed) => Event::Failed(failed),
                })
            }
        }
    }
}

/// A [`Signal`] that owns its parts.
pub(crate) enum Event {
    Opened(Encoding),
    Bytes(Bytes),
    Closed,
    Failed(Failed),
}

impl Event {
    const fn is_last(&self) -> bool {
        matches!(self, Self::Closed | Self::Failed(_))
    }

    fn signal(&self) -> Signal<'_> {
        match self {
            Self::Opened(encoding) => Signal::Opened(*encoding),
            Self::Bytes(bytes) => Signal::Bytes(bytes),
            Self::Closed => Signal::Closed,
            Self::Failed(Failed { failure, message }) => Signal::Failed {
                failure: *failure,
                message,
            },
        }
    }
}

impl<S: Sender> HttpTransport<S> {
    /// Creates the transport of one informer.
    ///
    /// # Errors
    /// The target is invalid, or sets a parameter that the informer sets itself.
    pub fn new(sender: Arc<S>, target: &Target) -> Result<Self, TargetError> {
        check(target)?;
        Ok(Self {
            sender,
            target: Arc::new(target.clone()),
            current: None,
        })
    }
}

impl<S: Sender> fmt::Debug for HttpTransport<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exchange = self.current.as_ref().map(|current| current.exchange);
        f.debug_struct("HttpTransport")
            .field("target", &self.target)
            .field("exchange", &exchange)
            .finish_non_exhaustive()
    }
}

impl<S: Sender> Transport for HttpTransport<S> {
    fn execute(&mut self, command: Command<'_>) {
        match command {
            Command::Open { exchange, request } => {
                let kind = Kind::of(request);
                let job = Job {
                    sender: Arc::clone(&self.sender),
                    target: Arc::clone(&self.target),
                    path: self.target.request(request),
                    accept: self.target.accept(request),
                    kind,
                };
                let (sender, answer) = oneshot::channel();
                let task = self.sender.runtime().spawn(job.run(sender)).abort_handle();
                self.current = Some(Current {
                    exchange,
                    stage: Stage::Opening(answer),
                    shown: None,
                    task,
                });
            }
            Command::Abort(exchange) => {
                self.current.take_if(|current| current.exchange == exchange);
            }
        }
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        // Nothing to wait for: only a command starts an exchange.
        let Some(current) = &mut self.current else {
            return Poll::Pending;
        };
        if current.shown.is_none() {
            let Poll::Ready(event) = current.poll_event(cx) else {
                return Poll::Pending;
            };
            current.shown = Some(event);
        }
        match &current.shown {
            Some(event) => Poll::Ready((current.exchange, event.signal())),
            None => Poll::Pending,
        }
    }

    fn consume(&mut self, n: usize) {
        let Some(current) = &mut self.current else {
            return;
        };
        match &mut current.shown {
            Some(Event::Bytes(bytes)) if n < bytes.len() => bytes.advance(n),
            Some(event) if event.is_last() => self.current = None,
            _ => current.shown = None,
        }
    }
}

/// What kind of request an exchange makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    /// A watch that starts with the full state (`sendInitialEvents`).
    Stream,
    Watch,
}

impl Kind {
    const fn of(request: Request<'_>) -> Self {
        match request {
            Request::List { .. } => Self::List,
            Request::Watch {
                initial_events: true,
                ..
            } => Self::Stream,
            Request::Watch { .. } => Self::Watch,
        }
    }

    const fn verb(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Stream | Self::Watch => "watch",
        }
    }
}

/// Everything that the task of an exchange needs.
struct Job<S> {
    sender: Arc<S>,
    target: Arc<Target>,
    path: String,
    accept: String,
    kind: Kind,
}

impl<S: Sender> Job<S> {
    async fn run(self, answer: oneshot::Sender<Result<Opened<S::Answer>, Failed>>) {
        let opened = self.open().await.map_err(|failed| self.explain(failed));
        let pace = opened
            .as_ref()
            .ok()
            .and_then(|opened| opened.reading.pace());
        // The receiver is gone after an abort.
        let _ = answer.send(opened);
        if let Some(pace) = pace {
            watch_over(pace).await;
        }
    }

    async fn open(&self) -> Result<Opened<S::Answer>, Failed> {
        let limits = self.sender.limits();
        let slot = match self.kind {
            Kind::Watch => None,
            Kind::List | Kind::Stream => self.sender.budget().slot().await,
        };
        let is_list = self.kind == Kind::List;
        let purpose = if is_list {
            Purpose::List
        } else {
            Purpose::Watch
        };
        let question = Question::get(&self.path, &self.accept, purpose);
        let opening = open(&*self.sender, question, self.target.encodings);
        let (answer, encoding) = if self.kind == Kind::Watch {
            // No timeout here: the reflector has its own idle deadline for watches.
            opening.await?
        } else {
            within(limits.head_timeout, opening).await?
        };
        let body = Body::new(answer, is_list.then_some(limits.max_list_bytes));
        let reading = match self.kind {
            Kind::Watch => Reading::watch(body),
            Kind::Stream => Reading::stream(body, Pace::stream(slot)),
            Kind::List => Reading::list(body, Pace::list(slot, limits.list_timeout)),
        };
        Ok(Opened {
            encoding,
            reading: Box::new(reading),
        })
    }

    /// Names the missing permission, or explains missing credentials.
    fn explain(&self, failed: Failed) -> Failed {
        if failed.failure != Failure::Forbidden {
            return self.sender.explain(failed);
        }
        let Target {
            plural,
            group,
            namespace,
            ..
        } = &*self.target;
        let said = &failed.message;
        if said.contains("cannot impersonate") {
            let about =
                format_args!("missing permission to impersonate (grant it with RBAC): {said}");
            return Failed::new(failed.failure, about);
        }
        let dot = if group.is_empty() { "" } else { "." };
        let place = match namespace {
            Some(namespace) => format!("in namespace `{namespace}`"),
            None => "in the whole cluster".to_owned(),
        };
        let remedy = if said.contains("system:anonymous") {
            "no credentials were sent, or the server did not accept them"
        } else {
            "grant it with RBAC"
        };
        let verb = self.kind.verb();
        let about = format_args!(
            "missing permission to {verb} {plural}{dot}{group} {place} ({remedy}): {said}"
        );
        Failed::new(failed.failure, about)
    }
}
