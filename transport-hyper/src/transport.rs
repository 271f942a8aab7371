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

use crate::client::Inner;
use crate::exchange::{Body, Failed, Question, open, within_head_timeout};
use crate::net::Class;
use crate::pace::{Pace, watch_over};
use crate::reading::Reading;
use crate::resource::{TargetError, accept, check};

/// The HTTP transport of one informer.
///
/// [`Client::transport`](crate::Client::transport) creates it. A task in the runtime of the client sends
/// each request. The code that polls the transport, which may run anywhere, reads the answer. Dropping
/// the transport ends its exchange.
///
/// ```no_run
/// use informer_core::transport::{Signal, Target, Transport};
/// use informer_transport_hyper::{Client, Config, HyperTransport};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Config::infer()?)?;
/// let pods = Target::new("", "v1", "pods").in_namespace("web");
/// let mut transport: HyperTransport = client.transport(&pods)?;
///
/// // The informer calls `execute` with each command, then polls for what comes back.
/// let used = std::future::poll_fn(|cx| {
///     transport.poll_signal(cx).map(|(_exchange, signal)| match signal {
///         Signal::Bytes(bytes) => bytes.len(),
///         _ => 0,
///     })
/// });
/// let used = used.await;
/// transport.consume(used);
/// # Ok(())
/// # }
/// ```
pub struct HyperTransport {
    client: Arc<Inner>,
    target: Arc<Target>,
    current: Option<Current>,
}

/// The exchange in progress.
struct Current {
    exchange: ExchangeId,
    stage: Stage,
    /// The event returned by `poll_signal` until it is consumed.
    shown: Option<Event>,
    task: AbortHandle,
}

/// How far an exchange has come.
enum Stage {
    /// Its task waits for the answer.
    Opening(oneshot::Receiver<Result<Opened, Failed>>),
    Reading(Box<Reading>),
}

/// The beginning of a successful answer.
struct Opened {
    encoding: Encoding,
    reading: Box<Reading>,
}

impl Drop for Current {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Current {
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

impl HyperTransport {
    pub(crate) fn new(client: Arc<Inner>, target: &Target) -> Result<Self, TargetError> {
        check(target)?;
        Ok(Self {
            client,
            target: Arc::new(target.clone()),
            current: None,
        })
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exchange = self.current.as_ref().map(|current| current.exchange);
        f.debug_struct("HyperTransport")
            .field("target", &self.target)
            .field("exchange", &exchange)
            .finish_non_exhaustive()
    }
}

impl Transport for HyperTransport {
    fn execute(&mut self, command: Command<'_>) {
        match command {
            Command::Open { exchange, request } => {
                let kind = Kind::of(request);
                let job = Job {
                    client: Arc::clone(&self.client),
                    target: Arc::clone(&self.target),
                    path: self.target.request(request),
                    kind,
                };
                let (sender, answer) = oneshot::channel();
                let task = self.client.runtime.spawn(job.run(sender)).abort_handle();
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
struct Job {
    client: Arc<Inner>,
    target: Arc<Target>,
    path: String,
    kind: Kind,
}

impl Job {
    async fn run(self, answer: oneshot::Sender<Result<Opened, Failed>>) {
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

    async fn open(&self) -> Result<Opened, Failed> {
        let settings = &self.client.config.settings;
        let slot = match self.kind {
            Kind::Watch => None,
            Kind::List | Kind::Stream => self.client.budget.slot().await,
        };
        let is_list = self.kind == Kind::List;
        let question = Question {
            class: if is_list { Class::List } else { Class::Watch },
            path: &self.path,
            accept: accept(self.target.content, !is_list),
        };
        let opening = open(&self.client, question);
        let (answer, encoding) = if self.kind == Kind::Watch {
            // No timeout here: the reflector has its own idle deadline for watches.
            opening.await?
        } else {
            within_head_timeout(&self.client, opening).await?
        };
        let body = Body::new(answer, is_list.then_some(settings.max_list_bytes));
        let reading = match self.kind {
            Kind::Watch => Reading::watch(body),
            Kind::Stream => Reading::stream(body, Pace::stream(slot)),
            Kind::List => Reading::list(body, Pace::list(slot, settings.list_timeout)),
        };
        Ok(Opened {
            encoding,
            reading: Box::new(reading),
        })
    }

    /// Names the missing permission, or explains missing credentials.
    fn explain(&self, failed: Failed) -> Failed {
        if failed.failure != Failure::Forbidden {
            return self.client.explain(failed);
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
