//! Clients of other servers, and of servers that misbehave.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use informer::informer_core::transport::{Command, ExchangeId, Signal};
use informer::{Connect, ConnectError, Content, Failure, Target, Transport};
use informer_transport_mock::transport::MockTransport;
use serde_json::json;

use crate::world::World;

/// Makes transports that note what they are asked.
#[derive(Clone)]
pub(crate) struct Noting {
    pub(crate) world: Arc<World>,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

pub(crate) struct NotingTransport {
    inner: MockTransport,
    target: Target,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Connect for Noting {
    type Transport = NotingTransport;

    fn connect(&self, target: &Target) -> Result<NotingTransport, ConnectError> {
        assert_eq!(target.content, Content::Metadata);
        Ok(NotingTransport {
            inner: self.world.server.transport(target, 1),
            target: target.clone(),
            asked: Arc::clone(&self.asked),
        })
    }
}

impl Transport for NotingTransport {
    fn execute(&mut self, command: Command<'_>) {
        if let Command::Open { request, .. } = command {
            let line = self.target.request(request);
            self.asked.lock().unwrap().push(line);
        }
        self.inner.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        self.inner.poll_signal(cx)
    }

    fn consume(&mut self, n: usize) {
        self.inner.consume(n);
    }
}

/// Answers every request with the same signals.
pub(crate) struct Canned {
    answer: Vec<Signal<'static>>,
    exchange: Option<ExchangeId>,
    next: usize,
}

pub(crate) fn canned(answer: &[Signal<'static>]) -> impl Fn(&Target) -> Canned + use<> {
    let answer = answer.to_vec();
    move |_| Canned {
        answer: answer.clone(),
        exchange: None,
        next: 0,
    }
}

impl Transport for Canned {
    fn execute(&mut self, command: Command<'_>) {
        if let Command::Open { exchange, .. } = command {
            (self.exchange, self.next) = (Some(exchange), 0);
        }
    }

    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        match (self.exchange, self.answer.get(self.next)) {
            (Some(exchange), Some(signal)) => Poll::Ready((exchange, *signal)),
            _ => Poll::Pending,
        }
    }

    fn consume(&mut self, _: usize) {
        self.next += 1;
    }
}

/// Sends pages without objects, and always another one.
pub(crate) struct Endless {
    page: String,
    answer: Option<ExchangeId>,
    /// Whether the pages have different tokens.
    changes: bool,
}

pub(crate) fn endless(changes: bool) -> impl Fn(&Target) -> Endless {
    move |_| Endless {
        page: String::new(),
        answer: None,
        changes,
    }
}

impl Transport for Endless {
    fn execute(&mut self, command: Command<'_>) {
        if let Command::Open { exchange, .. } = command {
            let token = if self.changes { exchange.number() } else { 7 };
            let metadata = json!({"resourceVersion": "2", "continue": token.to_string()});
            self.page = json!({"metadata": metadata, "items": []}).to_string();
            self.answer = Some(exchange);
        }
    }

    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        match self.answer {
            Some(exchange) => Poll::Ready((exchange, Signal::Bytes(self.page.as_bytes()))),
            None => Poll::Pending,
        }
    }

    fn consume(&mut self, _: usize) {
        self.answer = None;
    }
}

/// Has no transport.
pub(crate) struct Nothing;

impl Connect for Nothing {
    type Transport = Canned;

    fn connect(&self, _: &Target) -> Result<Canned, ConnectError> {
        Err(ConnectError::new("no runtime"))
    }
}

/// Delivers some signals of an exchange after the next one has begun, as a transport may.
pub(crate) struct Late {
    inner: MockTransport,
    late: Vec<(ExchangeId, Signal<'static>)>,
}

pub(crate) fn late(world: &World) -> impl Fn(&Target) -> Late {
    let connect = world.connect();
    move |target| Late {
        inner: connect(target),
        late: Vec::new(),
    }
}

impl Transport for Late {
    fn execute(&mut self, command: Command<'_>) {
        if let Command::Open { exchange, .. } = command {
            let before = ExchangeId::new(exchange.number() - 1);
            let failed = Signal::Failed {
                failure: Failure::Broken,
                message: "of the page before",
            };
            self.late = [failed, Signal::Bytes(b"]}"), Signal::Closed]
                .map(|signal| (before, signal))
                .to_vec();
        }
        self.inner.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        match self.late.last() {
            Some(late) => Poll::Ready(*late),
            None => self.inner.poll_signal(cx),
        }
    }

    fn consume(&mut self, n: usize) {
        match self.late.last_mut() {
            Some((_, Signal::Bytes(bytes))) if n < bytes.len() => *bytes = &bytes[n..],
            Some(_) => drop(self.late.pop()),
            None => self.inner.consume(n),
        }
    }
}
