//! The server as a transport: no sockets, no threads, virtual time.

use std::fmt;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use informer_core::decode::answer::failure_of_answer;
use informer_core::transport::{Command, ExchangeId, Request, Signal, Target, Transport};
use informer_core::{Failure, Instant};

use crate::answer::{Answer, AnswerBody};
use crate::fault::Fault;
use crate::fault::body::BodyFault;
use crate::fault::forged::forged;
use crate::random::Random;
use crate::request::{Accept, ApiRequest, Headers};
use crate::shared::{MockServer, State};
use crate::status::ApiError;
use crate::watch::{Polled, Watch, WatchEnd};
use crate::wire::delivery::{Delivery, Ending};
use crate::wire::tap::Tap;

/// How many bytes of a watch are fetched ahead of the reader.
const AHEAD: usize = 16 << 10;

/// A [`Transport`] that lists and watches a [`MockServer`].
///
/// Requests, bytes and failures are those of an HTTP transport. A seed decides how the bytes are
/// split into pieces.
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Target, Transport};
/// use informer_core::{Informer, InformerConfig};
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// use serde_json::json;
///
/// let clock = VirtualClock::new();
/// let server = MockServer::new(ServerConfig::new(42), clock.clone());
/// server.with(|server| server.create("pods", json!({"metadata": {"name": "web"}})))?;
///
/// let mut transport = server.transport(&Target::new("", "v1", "pods"), 1);
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 1)?;
/// informer.start(clock.now());
/// while let Some(command) = informer.poll_command(clock.now()) {
///     transport.execute(command);
/// }
/// let mut cx = Context::from_waker(Waker::noop());
/// while let Poll::Ready((exchange, signal)) = transport.poll_signal(&mut cx) {
///     let used = informer.signal(exchange, signal, clock.now()).unwrap_or(0);
///     transport.consume(used);
/// }
/// assert!(informer.is_synced());
/// assert_eq!(informer.store().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MockTransport {
    server: MockServer,
    target: Target,
    random: Random,
    exchange: Option<Exchange>,
    tap: Option<Box<dyn Tap>>,
}

/// A request in flight and the part of its answer that has arrived.
#[derive(Debug)]
struct Exchange {
    delivery: Delivery,
    /// When the answer begins to arrive; `None` once it has begun.
    due: Option<Instant>,
    source: Source,
    fault: Option<Fault>,
    changes: Option<BodyFault>,
    /// How many bytes of the body have been sent.
    sent: usize,
    /// How many events have been sent.
    frames: usize,
}

/// Where the body comes from.
#[derive(Debug)]
enum Source {
    Nothing,
    /// A complete body.
    List(Vec<u8>),
    Watch(Box<Watch>),
}

impl MockTransport {
    pub(crate) const fn new(server: MockServer, target: Target, seed: u64) -> Self {
        Self {
            server,
            target,
            random: Random::new(seed),
            exchange: None,
            tap: None,
        }
    }

    /// Routes everything that is sent through `tap`.
    pub(crate) fn set_tap(&mut self, tap: Box<dyn Tap>) {
        self.tap = Some(tap);
    }

    /// Breaks the connection, if there is one.
    pub fn reset(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.delivery.cut();
        }
    }

    /// Whether the current exchange has stalled under [`Fault::Stall`]. It never produces another
    /// signal.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        let exchange = self.exchange.as_ref();
        exchange.is_some_and(|exchange| exchange.delivery.is_silent())
    }

    fn open(&mut self, id: ExchangeId, request: Request<'_>) -> Exchange {
        let now = self.server.clock().now();
        let (target, accept) = (self.target.request(request), self.target.accept(request));
        if let Some(tap) = &mut self.tap {
            tap.open(&target);
        }
        let mut state = self.server.lock();
        let fault = state.plan.next();
        let preferred = self.target.encodings.in_order();
        let preferred = preferred.first().copied().unwrap_or_default();
        if let Some(fault) = fault
            && let Some(body) = forged(fault, request, id.number(), preferred)
        {
            state.count(fault);
            return Exchange {
                source: Source::List(body),
                ..Exchange::new(Delivery::new(id, preferred), now)
            };
        }
        let answer = match fault {
            Some(Fault::Refuse) => {
                state.count(Fault::Refuse);
                let delivery =
                    Delivery::failed(id, Failure::Unreachable, "connection refused".to_owned());
                return Exchange::new(delivery, now);
            }
            Some(fault) => match refusal(fault) {
                Some(refused) => {
                    state.count(fault);
                    Answer::refused(&refused, Accept::parse(Some(&accept)).for_errors())
                }
                None => ask(&target, &accept, &mut state, now),
            },
            None => ask(&target, &accept, &mut state, now),
        };
        let mut due = now.after(answer.delay);
        if let Some(fault @ Fault::Delay(by)) = fault {
            state.count(fault);
            due = due.after(by);
        }
        if answer.status >= 400 {
            let wait = answer
                .retry_after
                .map(|secs| Duration::from_secs(secs.into()));
            let body = answer.bytes().unwrap_or_default();
            let (failure, message) = failure_of_answer(answer.status, body, wait);
            let delivery = Delivery::failed(id, failure, message.into_owned());
            return Exchange::new(delivery, due);
        }
        let accepted = self.target.encodings;
        let delivery = match accepted.of_answer(Some(answer.content_type)) {
            Ok(encoding) => Delivery::new(id, encoding),
            Err(error) => Delivery::failed(id, Failure::Undecodable, error.to_string()),
        };
        let begins_with_state = matches!(
            request,
            Request::Watch {
                initial_events: true,
                ..
            }
        );
        Exchange {
            source: match answer.body {
                AnswerBody::Complete(bytes) => Source::List(bytes),
                AnswerBody::Watch(watch) => Source::Watch(watch),
            },
            fault,
            changes: fault.map(|fault| BodyFault::new(fault, begins_with_state)),
            ..Exchange::new(delivery, due)
        }
    }
}

fn ask(target: &str, accept: &str, state: &mut State, now: Instant) -> Answer {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = Headers {
        accept: Some(accept),
        content_type: None,
    };
    match ApiRequest::parse("GET", path, query, headers) {
        Ok(request) => state.server.handle(&request, &[], now),
        Err(refused) => Answer::refused(&refused, Accept::parse(Some(accept)).for_errors()),
    }
}

/// The refusal that a fault sends instead of an answer.
pub(crate) fn refusal(fault: Fault) -> Option<ApiError> {
    Some(match fault {
        Fault::Throttle { retry_after } => {
            ApiError::too_many_requests("Too many requests, please try again later.", retry_after)
        }
        Fault::Expire => ApiError::expired("The provided resource version is too old."),
        Fault::Fail => ApiError::internal_error("as planned"),
        _ => return None,
    })
}

impl Transport for MockTransport {
    fn execute(&mut self, command: Command<'_>) {
        match command {
            Command::Open { exchange, request } => {
                self.exchange = Some(self.open(exchange, request));
            }
            Command::Abort(id) => {
                let current = self.exchange.as_ref().map(|current| current.delivery.id());
                if current == Some(id) {
                    self.exchange = None;
                }
            }
        }
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let Some(exchange) = &mut self.exchange else {
            return Poll::Pending;
        };
        if let Some(due) = exchange.due {
            ready!(self.server.clock().poll_until(due, cx));
            exchange.due = None;
        }
        if exchange.delivery.is_hungry() {
            exchange.fetch(&self.server, self.tap.as_deref_mut(), cx);
        }
        match exchange.delivery.show(&mut self.random) {
            Some(shown) => Poll::Ready(shown),
            None => Poll::Pending,
        }
    }

    fn consume(&mut self, n: usize) {
        if let Some(exchange) = &mut self.exchange
            && exchange.delivery.consume(n)
        {
            self.exchange = None;
        }
    }
}

impl Exchange {
    const fn new(delivery: Delivery, due: Instant) -> Self {
        Self {
            delivery,
            due: Some(due),
            source: Source::Nothing,
            fault: None,
            changes: None,
            sent: 0,
            frames: 0,
        }
    }

    /// Fetches more of the body, or registers a wake-up.
    fn fetch(
        &mut self,
        server: &MockServer,
        mut tap: Option<&mut (dyn Tap + 'static)>,
        cx: &mut Context<'_>,
    ) {
        let now = server.clock().now();
        let mut state = server.lock();
        let mut fetched = Vec::new();
        match &mut self.source {
            Source::Nothing => {}
            Source::List(body) => {
                let mut body = std::mem::take(body);
                if let Some(changes) = &mut self.changes {
                    changes.list(&mut body);
                }
                if let Some(tap) = tap {
                    tap.list(&mut body);
                }
                fetched = body;
                self.delivery.end(Ending::Closed);
            }
            Source::Watch(watch) => {
                let (mut changed, mut frames) = (Vec::new(), Vec::new());
                while fetched.len() < AHEAD {
                    if let Some(fault @ Fault::Close { after }) = self.fault
                        && self.frames >= after
                    {
                        state.count(fault);
                        self.delivery.end(Ending::Closed);
                        break;
                    }
                    let frame = match watch.poll(&state.server, now) {
                        Polled::Frame(frame) => frame,
                        Polled::Idle(until) => {
                            if fetched.is_empty() {
                                state.wake_later(cx.waker());
                                // Always pending: an idle watch has nothing due before `until`.
                                let _ = server.clock().poll_until(until, cx);
                            }
                            break;
                        }
                        Polled::Ended(WatchEnd::Cut) => {
                            self.delivery.end(Ending::Broken);
                            break;
                        }
                        Polled::Ended(_) => {
                            self.delivery.end(Ending::Closed);
                            break;
                        }
                    };
                    self.frames += 1;
                    match &mut self.changes {
                        Some(changes) => changes.frame(frame, &mut changed),
                        None => changed.push(frame),
                    }
                    for frame in changed.drain(..) {
                        match &mut tap {
                            Some(tap) => tap.frame(frame, &mut frames),
                            None => frames.push(frame),
                        }
                    }
                    for frame in frames.drain(..) {
                        frame.write_to(&mut fetched);
                    }
                }
            }
        }
        if let (Some(fault), Some(changes)) = (self.fault, &mut self.changes) {
            if changes.take_struck() {
                state.count(fault);
            }
            state.corrupted.extend(changes.take_corrupted());
        }
        self.cut_short(&mut fetched, &mut state);
        self.sent += fetched.len();
        self.delivery.arrive(&fetched);
    }

    /// Cuts the body where its fault says so.
    fn cut_short(&mut self, fetched: &mut Vec<u8>, state: &mut State) {
        let (after, end) = match self.fault {
            Some(Fault::Reset { after }) => (after, Ending::Broken),
            Some(Fault::Stall { after }) => (after, Ending::Silent),
            _ => return,
        };
        if self.sent + fetched.len() >= after
            && let Some(fault) = self.fault.take()
        {
            state.count(fault);
            fetched.truncate(after.saturating_sub(self.sent));
            self.delivery.end(end);
        }
    }
}

impl fmt::Debug for MockTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockTransport")
            .field("target", &self.target)
            .field("exchange", &self.exchange)
            .finish_non_exhaustive()
    }
}
