//! A reflector with its decoder and transport: it lists once and then watches.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use informer::{Clock, Object, Target, Timer, Transport};
use informer_core::decode::{Body, Decode as _, Decoder, Typed};
use informer_core::flow::{Change, Fact};
use informer_core::reflector::{FirstState, InvalidConfig, Reflector, ReflectorConfig};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request, Signal};

use crate::pods::Pod;

/// The next step of a [`ListWatch`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "programs must handle every step")]
pub enum Step {
    /// Sends a request for this path.
    Asks(String),
    /// The server reported this change.
    Says(Change<Object<Pod>>),
    /// The request failed. It will be retried.
    Fails(String),
}

/// Lists pods and watches them. The decoder turns bytes of the transport into facts, and the reflector turns
/// facts into changes and decides the next request. No pods are kept here.
pub struct ListWatch<T> {
    target: Target,
    transport: T,
    decoder: Decoder<Typed<Pod>>,
    /// The kind of the current answer.
    body: Body,
    reflector: Reflector<Heap>,
    clock: Arc<dyn Clock>,
    timer: Box<dyn Timer>,
    steps: VecDeque<Step>,
}

impl<T: Transport> ListWatch<T> {
    /// Lists and watches these pods over a transport for the same target.
    ///
    /// # Errors
    /// The configuration of the reflector is invalid.
    pub fn new(target: Target, transport: T, clock: Arc<dyn Clock>) -> Result<Self, InvalidConfig> {
        let config = ReflectorConfig {
            first_state: FirstState::Listed,
            ..ReflectorConfig::new()
        };
        let mut reflector = Reflector::new(config, 1)?;
        reflector.start(clock.now());
        Ok(Self {
            target,
            transport,
            decoder: Decoder::new(Typed::new()),
            body: Body::List,
            reflector,
            timer: clock.timer(),
            clock,
            steps: VecDeque::new(),
        })
    }

    /// Waits for the next step.
    pub async fn next(&mut self) -> Step {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Waits for the next change.
    ///
    /// # Errors
    /// A request has failed. Call again to wait for the retry.
    pub async fn change(&mut self) -> Result<Change<Object<Pod>>, String> {
        loop {
            match self.next().await {
                Step::Says(change) => return Ok(change),
                Step::Fails(why) => return Err(why),
                Step::Asks(_) => {}
            }
        }
    }

    /// Returns the next step, or registers for a wake-up.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            let due = self.reflector.advance(self.clock.now());
            self.steps.extend(due.map(Step::Says));
            self.ask();
            if let Some(step) = self.steps.pop_front() {
                return Poll::Ready(step);
            }
            if self.poll_answer(cx).is_ready() {
                continue;
            }
            let deadline = self.reflector.next_deadline();
            match deadline.map(|deadline| self.timer.poll_until(deadline, cx)) {
                Some(Poll::Ready(())) => {}
                Some(Poll::Pending) | None => return Poll::Pending,
            }
        }
    }

    /// Passes commands of the reflector to the transport.
    fn ask(&mut self) {
        while let Some(command) = self.reflector.poll_command(self.clock.now()) {
            if let Command::Open { request, .. } = command {
                self.body = match request {
                    Request::List { .. } => Body::List,
                    Request::Watch { .. } => Body::Watch,
                };
                let path = self.target.request(request);
                self.steps.push_back(Step::Asks(path));
            }
            self.transport.execute(command);
        }
    }

    /// Passes signals of the transport to the decoder, and its facts to the reflector.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self {
            transport,
            decoder,
            body,
            reflector,
            steps,
            clock,
            ..
        } = self;
        let now = clock.now();
        let Poll::Ready((exchange, signal)) = transport.poll_signal(cx) else {
            return Poll::Pending;
        };
        reflector.hear(exchange, now);
        let mut tell = |exchange: ExchangeId, fact: Fact<'_, Object<Pod>>| {
            let change = reflector.handle(exchange, fact, now);
            steps.extend(change.map(Step::Says));
        };
        let used = match signal {
            Signal::Opened(encoding) => {
                decoder.begin(*body, encoding);
                tell(exchange, Fact::Opened);
                1
            }
            Signal::Bytes(bytes) => {
                let mut input = bytes;
                while let Some(fact) = decoder.decode(&mut input) {
                    tell(exchange, fact);
                }
                bytes.len()
            }
            Signal::Closed => {
                tell(exchange, decoder.end());
                1
            }
            Signal::Failed { failure, message } => {
                tell(exchange, Fact::Failed { failure, message });
                steps.push_back(Step::Fails(format!("{failure}: {message}")));
                1
            }
        };
        transport.consume(used);
        Poll::Ready(())
    }
}

impl<T> fmt::Debug for ListWatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListWatch")
            .field("target", &self.target)
            .field("phase", &self.reflector.phase())
            .finish_non_exhaustive()
    }
}
