//! A reflector with its decoder and its transport: what lists once and watches for ever.

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

/// What happens next.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "programs must see every step")]
pub enum Step {
    /// The server is asked for this path.
    Asks(String),
    /// The answer means this for the set of pods.
    Says(Change<Arc<Object<Pod>>>),
    /// There is no answer, or no good one. It will be tried again.
    Fails(String),
}

/// Lists pods and watches them: bytes of the transport become facts in the decoder, and changes in the
/// reflector, which also says what to ask next. Nobody keeps a pod here.
pub struct ListWatch<T> {
    target: Target,
    transport: T,
    decoder: Decoder<Typed<Pod>>,
    /// What the answer under way consists of.
    body: Body,
    reflector: Reflector<Heap>,
    clock: Arc<dyn Clock>,
    timer: Box<dyn Timer>,
    steps: VecDeque<Step>,
}

impl<T: Transport> ListWatch<T> {
    /// For these pods, over a transport that was made for them.
    ///
    /// # Errors
    /// The configuration of the reflector cannot work.
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
    /// A request has failed. Who asks again waits until it is tried again.
    pub async fn change(&mut self) -> Result<Change<Arc<Object<Pod>>>, String> {
        loop {
            match self.next().await {
                Step::Says(change) => return Ok(change),
                Step::Fails(why) => return Err(why),
                Step::Asks(_) => {}
            }
        }
    }

    /// The next step, or a wake-up when there is one.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
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

    /// Passes the wishes of the reflector to the transport.
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

    /// Passes what the transport has heard to the decoder, and what that reads to the reflector.
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
        let mut tell = |exchange: ExchangeId, fact: Fact<'_, Arc<Object<Pod>>>| {
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
