//! Answers: their bodies, their headers, and refusals.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Response, StatusCode};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::contents::Pieces;
use super::feed::Page;

pub(super) type Reply = Response<Body>;

pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
pub(super) const EVENTS: &str = "text/event-stream";

/// The page may run its own script and ask this port, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The body of an answer.
pub(super) enum Body {
    Whole(Bytes),
    /// Made while it is sent.
    Dump(Dumping),
    /// Sent as long as the page is open.
    Feed(Page),
}

/// How long a dump may take. It holds a snapshot, which keeps old states of objects in memory.
const LONGEST_DUMP: Duration = Duration::from_secs(300);

/// A dump on its way.
pub(super) struct Dumping {
    pieces: Box<dyn Pieces>,
    _scan: OwnedSemaphorePermit,
    until: Instant,
    /// Whether other tasks had a turn since the last piece.
    rested: bool,
}

impl Dumping {
    pub(super) fn new(pieces: Box<dyn Pieces>, scan: OwnedSemaphorePermit) -> Self {
        Self {
            pieces,
            _scan: scan,
            until: Instant::now() + LONGEST_DUMP,
            rested: true,
        }
    }

    fn poll_next(&mut self, waker: &Waker) -> Poll<Option<io::Result<Bytes>>> {
        if Instant::now() > self.until {
            return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
        }
        // Objects may have to be unpacked: one piece for each turn, so that informers have theirs.
        if !std::mem::replace(&mut self.rested, true) {
            waker.wake_by_ref();
            return Poll::Pending;
        }
        self.rested = false;
        Poll::Ready(self.pieces.next().map(|piece| Ok(Bytes::from(piece))))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match self.get_mut() {
            Self::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
            }
            Self::Dump(dump) => dump.poll_next(cx.waker()),
            Self::Feed(page) => page.poll_next(cx.waker()).map(|piece| piece.map(Ok)),
        };
        next.map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Dump(_) | Self::Feed(_) => SizeHint::default(),
        }
    }
}

pub(super) fn reply(status: StatusCode, content_type: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    secure(headers);
    reply
}

fn secure(headers: &mut HeaderMap) {
    let resources = HeaderName::from_static("cross-origin-resource-policy");
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (resources, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

pub(super) fn text(status: StatusCode, text: String) -> Reply {
    reply(status, TEXT, Body::Whole(text.into()))
}

pub(super) fn json(data: &impl Serialize) -> Result<Reply, Refusal> {
    let text = serde_json::to_vec(data).map_err(Refusal::broken)?;
    Ok(reply(StatusCode::OK, JSON, Body::Whole(text.into())))
}

/// Why a request is not answered.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    error: String,
    header: Option<(HeaderName, &'static str)>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
            header: None,
        }
    }

    pub(super) fn bad_request(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// Something that should work did not.
    pub(super) fn broken(error: impl fmt::Display) -> Self {
        let error = format!("The answer could not be made: {error}.");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    pub(super) fn with(self, name: HeaderName, value: &'static str) -> Self {
        Self {
            header: Some((name, value)),
            ..self
        }
    }

    pub(super) fn reply(&self) -> Reply {
        let error = ErrorBody { error: &self.error };
        let text = serde_json::to_vec(&error).unwrap_or_default();
        let mut reply = reply(self.status, JSON, Body::Whole(text.into()));
        if let Some((name, value)) = &self.header {
            let value = HeaderValue::from_static(value);
            reply.headers_mut().insert(name.clone(), value);
        }
        reply
    }
}
