//! Answers, as bytes and pauses.

use std::iter::{empty, once, repeat_n, repeat_with};
use std::time::Duration;

use bytes::Bytes;

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) framing: Framing,
    pub(crate) steps: Steps,
}

/// The steps of a body, in order. The body ends with the last one.
pub(crate) type Steps = Box<dyn Iterator<Item = Step> + Send>;

/// A step of a body.
pub(crate) enum Step {
    Say(Bytes),
    Pause(Duration),
}

/// How HTTP/1.1 marks the end of a body. HTTP/2 has its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    Chunked,
    /// This length, whatever is sent.
    Length(u64),
    /// The end of the connection.
    Close,
}

impl Reply {
    pub(crate) fn new(status: u16, steps: Steps) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            framing: Framing::Chunked,
            steps,
        }
    }

    /// A successful answer with this body.
    pub(crate) fn ok(body: impl Into<Bytes>) -> Self {
        Self::new(200, say(body))
    }

    pub(crate) fn steps(steps: impl Iterator<Item = Step> + Send + 'static) -> Self {
        Self::new(200, Box::new(steps))
    }

    /// A Status of failure.
    pub(crate) fn failure(code: u16, reason: &str, message: &str) -> Self {
        Self::new(code, say(status(code, reason, message)))
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn without_type(mut self) -> Self {
        self.headers.clear();
        self
    }

    pub(crate) fn framed(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }
}

/// The body of a Status.
pub(crate) fn status(code: u16, reason: &str, message: &str) -> String {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    status.to_string()
}

pub(crate) fn say(text: impl Into<Bytes>) -> Steps {
    Box::new(once(Step::Say(text.into())))
}

pub(crate) fn nothing() -> Steps {
    Box::new(empty())
}

/// The same text forever.
pub(crate) fn for_ever(text: impl Into<Bytes>) -> Steps {
    let text = text.into();
    Box::new(repeat_with(move || Step::Say(text.clone())))
}

/// The same text, `count` times.
pub(crate) fn times(count: usize, text: impl Into<Bytes>) -> Steps {
    let text: Bytes = text.into();
    Box::new(repeat_n((), count).map(move |()| Step::Say(text.clone())))
}

/// The same text forever, with a pause before each.
pub(crate) fn every(pause: Duration, text: impl Into<Bytes>) -> Steps {
    let text = text.into();
    Box::new(repeat_with(move || [Step::Pause(pause), Step::Say(text.clone())]).flatten())
}

/// A text for each number, forever.
pub(crate) fn counting(make: impl Fn(u64) -> String + Send + 'static) -> Steps {
    Box::new((1..).map(move |n| Step::Say(make(n).into())))
}

pub(crate) fn pause(seconds: f64) -> Steps {
    Box::new(once(Step::Pause(Duration::from_secs_f64(seconds))))
}

/// Silence, with the connection open.
pub(crate) fn hang() -> Steps {
    Box::new(repeat_with(|| Step::Pause(Duration::from_secs(60))))
}
