//! A transport that follows a script: this request is expected, that is answered.

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

/// A transport for unit tests: requests are checked one by one, and each gets the answer that is
/// written down for it.
///
/// An expectation is a query, `watch=true&resourceVersion=7`: the parameters that it names must have
/// these values, an empty one must not be there, and all others are free. `GET` and a path may stand
/// before it.
///
/// A request that was not expected fails with a message that says what was expected, and so does
/// [`finish`](Self::finish).
///
/// ```
/// use informer_core::transport::{At, Request, Target};
/// use informer_transport_mock::script::{Reply, Script};
///
/// let script = Script::new(Target::new("", "v1", "pods"))
///     .expect("sendInitialEvents=true&resourceVersion=", Reply::status(403, ""))
///     .expect("limit=500&resourceVersion=0", Reply::body(r#"{"items":[]}"#));
/// // Nobody has asked yet.
/// let error = script.finish().unwrap_err();
/// assert!(error.to_string().starts_with("2 requests were expected and never came: GET /api/v1/pods?"));
/// ```
#[derive(Debug)]
pub struct Script {
    target: Target,
    steps: VecDeque<Step>,
    /// What went wrong first.
    mismatch: Option<String>,
    delivery: Option<Delivery>,
    random: Random,
}

#[derive(Debug)]
struct Step {
    expected: String,
    reply: Reply,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    head: Head,
    body: Vec<u8>,
    end: Ending,
}

#[derive(Clone, Debug)]
enum Head {
    Success,
    ApiError,
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

    /// A successful answer with this body, a list as a rule, and its end.
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

    /// An answer that is no success.
    #[must_use]
    pub fn status(code: u16, body: &str) -> Self {
        let head = Head::Status {
            code,
            retry_after: None,
        };
        Self::new(head, body, Ending::Closed)
    }

    /// Nobody listens.
    #[must_use]
    pub fn refused() -> Self {
        Self::new(Head::ApiError, "", Ending::Closed)
    }

    /// The same, with the header `Retry-After`; only for what is no success.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u64) -> Self {
        if let Head::Status { retry_after, .. } = &mut self.head {
            *retry_after = Some(Duration::from_secs(seconds));
        }
        self
    }

    /// The same, but the body ends in good order.
    #[must_use]
    pub const fn then_close(mut self) -> Self {
        self.end = Ending::Closed;
        self
    }

    /// The same, but the connection breaks behind the body.
    #[must_use]
    pub const fn then_break(mut self) -> Self {
        self.end = Ending::Broken;
        self
    }

    /// The same, but nothing comes behind the body.
    #[must_use]
    pub const fn then_silence(mut self) -> Self {
        self.end = Ending::Silent;
        self
    }

    fn deliver(self, id: ExchangeId) -> Delivery {
        match self.head {
            Head::ApiError => {
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
    /// A script that expects nothing yet. Bytes come in pieces of random lengths, always the same.
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

    /// The next request has these parameters, and is answered so.
    #[must_use]
    pub fn expect(mut self, expected: &str, reply: Reply) -> Self {
        self.steps.push_back(Step {
            expected: expected.to_owned(),
            reply,
        });
        self
    }

    /// Whether everything went as it was written.
    ///
    /// # Errors
    ///
    /// A request came that was not expected, or one that was expected did not.
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
            1 => "1 request was".to_owned(),
            n => format!("{n} requests were"),
        };
        Err(ScriptError(format!(
            "{what} expected and never came: {}",
            missing.join(", ")
        )))
    }

    fn answer(&mut self, id: ExchangeId, target: &str) -> Delivery {
        let wrong = match self.steps.front() {
            None => Some("nothing more was expected".to_owned()),
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

    /// An expectation as a whole request.
    fn shown(&self, expected: &str) -> String {
        match split(expected) {
            (Some(path), query) => format!("GET {path}?{query}"),
            (None, query) => format!("GET {}?{query}", self.target.path()),
        }
    }
}

/// Path and query of an expectation.
fn split(expected: &str) -> (Option<&str>, &str) {
    let rest = expected.trim_start_matches("GET ");
    match rest.split_once('?') {
        Some((path, query)) => (Some(path), query),
        None if rest.starts_with('/') => (Some(rest), ""),
        None => (None, rest),
    }
}

/// The first thing in which a request is not what was expected.
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

/// A script was not followed; the text says where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError(String);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}
