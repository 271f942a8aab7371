//! A scripted transport: expected requests and their replies.

use std::collections::VecDeque;
use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use informer_core::decode::answer::failure_of_answer;
use informer_core::transport::{Command, ExchangeId, Signal, Target, Transport};
use informer_core::{Encoding, Failure};

use crate::query::pairs;
use crate::random::Random;
use crate::wire::delivery::{Delivery, Ending};

/// A transport for unit tests that checks each request and sends the reply written down for it.
///
/// An expectation is a query such as `watch=true&resourceVersion=7`. Each parameter in it must have
/// that value, a parameter with an empty value must be absent, and all others may be anything. It
/// may begin with `GET` and a path.
///
/// An unexpected request fails with a message that names the expectation. [`finish`](Self::finish)
/// returns the same message.
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Target, Transport};
/// use informer_core::{Informer, InformerConfig, Instant};
/// use informer_transport_mock::script::{Reply, Script};
///
/// let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
/// let mut script = Script::new(Target::new("", "v1", "pods"))
///     .expect("watch=true&sendInitialEvents=true&resourceVersion=", Reply::watch([end]));
/// let error = script.finish().unwrap_err();
/// assert!(error.to_string().starts_with("1 expected request never came: GET /api/v1/pods?"));
///
/// let now = Instant::default();
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 1)?;
/// informer.start(now);
/// while let Some(command) = informer.poll_command(now) {
///     script.execute(command);
/// }
/// let mut cx = Context::from_waker(Waker::noop());
/// while let Poll::Ready((exchange, signal)) = script.poll_signal(&mut cx) {
///     let used = informer.signal(exchange, signal, now).unwrap_or(0);
///     script.consume(used);
/// }
/// assert!(informer.is_synced());
/// script.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Script {
    target: Target,
    steps: VecDeque<Step>,
    /// The first mismatch.
    mismatch: Option<String>,
    delivery: Option<Delivery>,
    random: Random,
}

#[derive(Debug)]
struct Step {
    expected: String,
    reply: Reply,
}

/// A scripted reply.
///
/// ```
/// use informer_core::transport::Target;
/// use informer_transport_mock::script::{Reply, Script};
///
/// // The first list is throttled, the second one succeeds, and the watch breaks at once.
/// let script = Script::new(Target::new("", "v1", "pods"))
///     .expect("resourceVersion=0", Reply::status(429, "").retry_after(2))
///     .expect("resourceVersion=0", Reply::body(r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#))
///     .expect("watch=true&resourceVersion=7", Reply::watch([]).then_break());
/// assert!(script.finish().is_err(), "no request has come yet");
/// ```
#[derive(Clone, Debug)]
pub struct Reply {
    head: Head,
    body: Vec<u8>,
    end: Ending,
}

#[derive(Clone, Debug)]
enum Head {
    Success,
    Refused,
    Status {
        code: u16,
        retry_after: Option<Duration>,
    },
}

impl Reply {
    fn new(head: Head, body: &str, end: Ending) -> Self {
        Self {
            head,
            body: body.as_bytes().to_vec(),
            end,
        }
    }

    /// A successful reply with this body, usually a list. The body ends cleanly.
    #[must_use]
    pub fn body(body: &str) -> Self {
        Self::new(Head::Success, body, Ending::Closed)
    }

    /// A watch that sends these lines and stays open.
    #[must_use]
    pub fn watch<const N: usize>(lines: [&str; N]) -> Self {
        let body: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        Self::new(Head::Success, &body, Ending::Silent)
    }

    /// A reply with an error status.
    #[must_use]
    pub fn status(code: u16, body: &str) -> Self {
        let head = Head::Status {
            code,
            retry_after: None,
        };
        Self::new(head, body, Ending::Closed)
    }

    /// A refused connection.
    #[must_use]
    pub fn refused() -> Self {
        Self::new(Head::Refused, "", Ending::Closed)
    }

    /// Adds the header `Retry-After`. Has an effect on error statuses only.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u64) -> Self {
        if let Head::Status { retry_after, .. } = &mut self.head {
            *retry_after = Some(Duration::from_secs(seconds));
        }
        self
    }

    /// Ends the body cleanly.
    #[must_use]
    pub const fn then_close(mut self) -> Self {
        self.end = Ending::Closed;
        self
    }

    /// Breaks the connection after the body.
    #[must_use]
    pub const fn then_break(mut self) -> Self {
        self.end = Ending::Broken;
        self
    }

    /// Keeps the connection open and silent after the body.
    #[must_use]
    pub const fn then_silence(mut self) -> Self {
        self.end = Ending::Silent;
        self
    }

    fn deliver(self, id: ExchangeId) -> Delivery {
        match self.head {
            Head::Refused => {
                Delivery::failed(id, Failure::Unreachable, "connection refused".to_owned())
            }
            Head::Status { code, retry_after } => {
                let (failure, message) = failure_of_answer(code, &self.body, retry_after);
                Delivery::failed(id, failure, message.into_owned())
            }
            Head::Success => {
                let mut delivery = Delivery::new(id, Encoding::Json);
                delivery.arrive(&self.body);
                delivery.end(self.end);
                delivery
            }
        }
    }
}

impl Script {
    /// Creates a script without expectations. Bytes arrive in pieces of random lengths, the same in
    /// every run.
    #[must_use]
    pub const fn new(target: Target) -> Self {
        Self {
            target,
            steps: VecDeque::new(),
            mismatch: None,
            delivery: None,
            random: Random::new(0),
        }
    }

    /// Expects a request with these parameters next, and answers it with `reply`.
    #[must_use]
    pub fn expect(mut self, expected: &str, reply: Reply) -> Self {
        self.steps.push_back(Step {
            expected: expected.to_owned(),
            reply,
        });
        self
    }

    /// Checks that every request was expected and every expected request came.
    ///
    /// # Errors
    ///
    /// An unexpected request came, or an expected one did not.
    pub fn finish(&self) -> Result<(), ScriptError> {
        if let Some(mismatch) = &self.mismatch {
            return Err(ScriptError(mismatch.clone()));
        }
        if self.steps.is_empty() {
            return Ok(());
        }
        let missing: Vec<String> = self
            .steps
            .iter()
            .map(|step| self.shown(&step.expected))
            .collect();
        let what = match missing.len() {
            1 => "1 expected request".to_owned(),
            n => format!("{n} expected requests"),
        };
        Err(ScriptError(format!(
            "{what} never came: {}",
            missing.join(", ")
        )))
    }

    fn answer(&mut self, id: ExchangeId, target: &str) -> Delivery {
        let wrong = match self.steps.front() {
            None => Some("no further request was expected".to_owned()),
            Some(step) => difference(&step.expected, target)
                .map(|why| format!("{} was expected: {why}", self.shown(&step.expected))),
        };
        if let Some(wrong) = wrong {
            let message = format!("GET {target} came, but {wrong}");
            self.mismatch.get_or_insert_with(|| message.clone());
            return Delivery::failed(id, Failure::Other, message);
        }
        let reply = self.steps.pop_front().map(|step| step.reply);
        reply.unwrap_or_else(Reply::refused).deliver(id)
    }

    /// Formats an expectation as a whole request.
    fn shown(&self, expected: &str) -> String {
        match split(expected) {
            (Some(path), query) => format!("GET {path}?{query}"),
            (None, query) => format!("GET {}?{query}", self.target.path()),
        }
    }
}

/// Splits an expectation into path and query.
fn split(expected: &str) -> (Option<&str>, &str) {
    let rest = expected.trim_start_matches("GET ");
    match rest.split_once('?') {
        Some((path, query)) => (Some(path), query),
        None if rest.starts_with('/') => (Some(rest), ""),
        None => (None, rest),
    }
}

/// The first difference between a request and its expectation.
fn difference(expected: &str, target: &str) -> Option<String> {
    let (path, query) = split(expected);
    let (real_path, real_query) = target.split_once('?').unwrap_or((target, ""));
    if path.is_some_and(|path| path != real_path) {
        return Some(format!("the path is {real_path}"));
    }
    let real: Vec<(String, String)> = pairs(real_query).collect();
    pairs(query).find_map(|(name, value)| {
        let found = real.iter().find(|(key, _)| *key == name);
        match found {
            None if value.is_empty() => None,
            None => Some(format!("{name} is missing")),
            Some((_, found)) if *found == value => None,
            Some((_, found)) => Some(format!("{name} is {found:?}, not {value:?}")),
        }
    })
}

impl Transport for Script {
    fn execute(&mut self, command: Command<'_>) {
        match command {
            Command::Open { exchange, request } => {
                let target = self.target.request(request);
                self.delivery = Some(self.answer(exchange, &target));
            }
            Command::Abort(id) => {
                if self.delivery.as_ref().map(Delivery::id) == Some(id) {
                    self.delivery = None;
                }
            }
        }
    }

    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let shown = self
            .delivery
            .as_mut()
            .and_then(|delivery| delivery.show(&mut self.random));
        shown.map_or(Poll::Pending, Poll::Ready)
    }

    fn consume(&mut self, n: usize) {
        if self
            .delivery
            .as_mut()
            .is_some_and(|delivery| delivery.consume(n))
        {
            self.delivery = None;
        }
    }
}

/// A script that was not followed. The message says where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError(String);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}
