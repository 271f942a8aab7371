//! The transport of one informer.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use informer_core::transport::{Command, ExchangeId, Request, Signal, Target, Transport};
use informer_core::{Encoding, Failure};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::budget::Permit;
use crate::client::Inner;
use crate::exchange::{Body, Failed, Limits, Question, open, within_head_timeout};
use crate::net::Class;
use crate::resource::{TargetError, accept, check};

/// So many pieces of a body wait for the informer; then the task waits, and then the server does.
const WAITING: usize = 1;

/// After so long without a byte, a stream counts as a watch.
const SILENCE: Duration = Duration::from_secs(1);

/// Executes the commands of one informer over HTTP and reports what comes back.
///
/// It is made by [`Client::transport`](crate::Client::transport). Each exchange is a task in the
/// runtime of the client; whoever polls need not be in a runtime.
pub struct HyperTransport {
    client: Arc<Inner>,
    target: Arc<Target>,
    current: Option<Current>,
}

/// The exchange that is under way.
struct Current {
    exchange: ExchangeId,
    events: mpsc::Receiver<Event>,
    /// The event that is shown until it is consumed.
    shown: Option<Event>,
    task: AbortHandle,
}

impl Drop for Current {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A [`Signal`] that owns its parts.
enum Event {
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
                let (sender, events) = mpsc::channel(WAITING);
                let task = self.client.runtime.spawn(job.run(sender)).abort_handle();
                self.current = Some(Current {
                    exchange,
                    events,
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
        // Without an exchange there is nothing to wait for: the next one begins with a command.
        let Some(current) = &mut self.current else {
            return Poll::Pending;
        };
        if current.shown.is_none() {
            let Poll::Ready(event) = current.events.poll_recv(cx) else {
                return Poll::Pending;
            };
            let ended = || Event::Failed(Failed::runtime_ended());
            current.shown = Some(event.unwrap_or_else(ended));
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

/// How an exchange is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    /// A watch that begins with the whole state.
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

/// All that the task of an exchange needs.
struct Job {
    client: Arc<Inner>,
    target: Arc<Target>,
    path: String,
    kind: Kind,
}

impl Job {
    async fn run(self, events: mpsc::Sender<Event>) {
        let last = match self.exchange(&events).await {
            Ok(()) => Event::Closed,
            Err(failed) => Event::Failed(self.explain(failed)),
        };
        // Nobody listens after an abort.
        let _ = events.send(last).await;
    }

    async fn exchange(&self, events: &mpsc::Sender<Event>) -> Result<(), Failed> {
        let budget = &self.client.budget;
        let mut permit = match self.kind {
            Kind::List => budget.for_list().await,
            Kind::Stream => budget.for_stream().await,
            Kind::Watch => Permit::none(),
        };
        let is_list = self.kind == Kind::List;
        let question = Question {
            class: if is_list { Class::List } else { Class::Watch },
            path: &self.path,
            accept: accept(self.target.content, !is_list),
        };
        let opening = open(&self.client, question);
        let (answer, encoding) = if self.kind == Kind::Watch {
            // The idle deadline of the reflector watches over it.
            opening.await?
        } else {
            within_head_timeout(&self.client, opening).await?
        };
        let limits = is_list.then(|| Limits::of(&self.client.config.settings));
        let mut body = Body::new(answer, limits);
        let opened = permit.wait_for(events.send(Event::Opened(encoding))).await;
        if opened.is_err() {
            return Ok(());
        }
        while let Some(piece) = self.next_piece(&mut body, &mut permit).await? {
            permit.see(&piece);
            let taken = permit.wait_for(events.send(Event::Bytes(piece))).await;
            if taken.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// The next piece of the body. A stream that falls silent does not deliver a state, whatever it
    /// was asked for: it gives its room to others.
    async fn next_piece(
        &self,
        body: &mut Body,
        permit: &mut Permit,
    ) -> Result<Option<Bytes>, Failed> {
        if self.kind == Kind::Stream && permit.takes_room() {
            match timeout(SILENCE, body.next()).await {
                Ok(piece) => return piece,
                Err(_) => permit.give_back(),
            }
        }
        body.next().await
    }

    /// Names the right that is missing, or the credentials.
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
            let about = format_args!("the right to impersonate is missing: {said}");
            return Failed::new(failed.failure, about);
        }
        let dot = if group.is_empty() { "" } else { "." };
        let place = match namespace {
            Some(namespace) => format!("in the namespace `{namespace}`"),
            None => "in the whole cluster".to_owned(),
        };
        let nobody = if said.contains("system:anonymous") {
            " (no credentials were shown, or they were not accepted)"
        } else {
            ""
        };
        let verb = self.kind.verb();
        let about = format_args!(
            "the right to {verb} {plural}{dot}{group} {place} is missing{nobody}: {said}"
        );
        Failed::new(failed.failure, about)
    }
}
