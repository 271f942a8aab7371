//! Checks that each relist has a cause.
//!
//! Relists overload servers, so each must have a cause: the first state, an incomplete state, an
//! expired version, or an answer that cannot be parsed. A watch that ends or breaks is not a cause,
//! unless it brought nothing at all.

use std::time::Duration;

use informer_core::transport::{Request, Signal};
use informer_core::{Encoding, Failure, Instant};
use serde_json::Value;

use crate::protobuf::{self, wire};
use crate::wire::list_body::{items, key_of};

/// A watch that ends sooner than this without an event is suspicious.
const SHORT: Duration = Duration::from_secs(1);

/// Follows the exchanges of one informer from outside.
#[derive(Debug)]
pub(super) struct Relists {
    /// Why the next relist is allowed.
    cause: Option<&'static str>,
    /// Whether the full state is known and changes are followed.
    is_live: bool,
    /// Whether it ever was.
    was_live: bool,
    /// Whether there was no relist after the first state.
    is_first: bool,
    is_list: bool,
    is_open: bool,
    /// When the current watch began.
    since: Instant,
    /// Its events.
    events: u64,
    encoding: Encoding,
    /// The incomplete frame, or what has arrived of a list.
    arrived: Vec<u8>,
}

impl Relists {
    pub(super) const fn new() -> Self {
        Self {
            cause: Some("the start"),
            is_live: false,
            was_live: false,
            is_first: true,
            is_list: false,
            is_open: false,
            since: Instant::from_micros(0),
            events: 0,
            encoding: Encoding::Json,
            arrived: Vec::new(),
        }
    }

    /// Whether there was no relist after the first state.
    pub(super) const fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether a full state can have been read: one was read, or the body so far may be the end of
    /// a list.
    pub(super) fn has_full_state(&self) -> bool {
        let is_end = || {
            let is_whole = protobuf::message_in(&self.arrived).is_some()
                || self.arrived.trim_ascii_end().ends_with(b"}");
            self.is_list && is_whole && !self.announces_page()
        };
        self.was_live || self.is_live || is_end()
    }

    /// How many objects the current list has, readable or not.
    pub(super) fn listed(&self) -> usize {
        if !self.is_list {
            return 0;
        }
        if self.encoding == Encoding::Protobuf {
            return items(&self.arrived).len();
        }
        let uid = br#""uid":""#;
        let body = self.arrived.windows(uid.len());
        body.filter(|window| window == uid).count()
    }

    /// Whether an empty page announces another page, which no real server does.
    fn is_empty_page(&self) -> bool {
        let is_empty = match protobuf::message_in(&self.arrived) {
            Some(_) => items(&self.arrived).is_empty(),
            None => self.arrived.ends_with(br#""items":[]}"#),
        };
        is_empty && self.announces_page()
    }

    fn announces_page(&self) -> bool {
        if let Some(list) = protobuf::message_in(&self.arrived) {
            let metadata = wire::field(list, 1).unwrap_or_default();
            return !wire::field(metadata, 3).unwrap_or_default().is_empty();
        }
        let token = br#""continue":"#;
        let mut windows = self.arrived.windows(token.len());
        windows.any(|window| window == token)
    }

    /// Checks a request. The error says that it has no cause.
    pub(super) fn request(&mut self, request: Request<'_>, now: Instant) -> Result<(), String> {
        self.was_live |= self.is_live;
        self.is_open = false;
        self.since = now;
        self.events = 0;
        self.arrived.clear();
        self.is_list = matches!(request, Request::List { .. });
        match request {
            Request::List { page: Some(_), .. } => {}
            Request::Watch {
                initial_events: false,
                ..
            } => self.is_live = true,
            Request::List { page: None, .. } | Request::Watch { .. } => {
                self.is_first &= !self.is_live;
                self.is_live = false;
                if self.cause.take().is_none() {
                    return Err("the full state is read again without a cause".to_owned());
                }
            }
        }
        Ok(())
    }

    /// The informer aborted the exchange; `is_full` if its storage is full.
    pub(super) fn abort(&mut self, is_full: bool) {
        if is_full {
            self.justify("a full storage");
        } else if !self.is_live {
            self.justify("a full state that was given up");
        }
    }

    /// The informer has taken a signal, the first `used` of its bytes.
    pub(super) fn signal(&mut self, signal: &Signal<'_>, used: usize, now: Instant) {
        match signal {
            Signal::Opened(encoding) => {
                self.is_open = true;
                self.encoding = *encoding;
            }
            Signal::Bytes(bytes) => {
                for byte in bytes.get(..used).unwrap_or_default() {
                    self.arrived.push(*byte);
                    if !self.is_list && self.is_frame() {
                        let frame = std::mem::take(&mut self.arrived);
                        match self.encoding {
                            Encoding::Protobuf => self.message(&frame, now),
                            _ => self.line(&frame, now),
                        }
                    }
                }
                if self.is_list && self.is_empty_page() {
                    self.justify("an empty page");
                }
            }
            Signal::Closed if self.is_live => self.end_watch(now),
            // A complete list is followed by a watch.
            Signal::Closed if self.is_list => {}
            Signal::Closed => self.justify("a stream that ended"),
            Signal::Failed { .. } if !self.is_live => self.justify("a failure"),
            Signal::Failed { failure, .. } => match failure {
                Failure::Throttled { .. } | Failure::Unreachable | Failure::Credentials => {}
                Failure::Broken | Failure::TimedOut if self.is_open => self.end_watch(now),
                _ => self.justify("a failed watch"),
            },
        }
    }

    /// Whether a whole frame of a watch has arrived.
    fn is_frame(&self) -> bool {
        match self.encoding {
            Encoding::Protobuf => {
                let len = self.arrived.split_first_chunk();
                len.is_some_and(|(len, rest)| u32::from_be_bytes(*len) as usize == rest.len())
            }
            _ => self.arrived.ends_with(b"\n"),
        }
    }

    /// An event in protobuf.
    fn message(&mut self, frame: &[u8], now: Instant) {
        let event = frame.get(4..).unwrap_or_default();
        let object = wire::field(event, 2).and_then(|object| wire::field(object, 1));
        let object = object.unwrap_or_default();
        self.events += 1;
        match wire::field(event, 1) {
            Some(b"BOOKMARK") => self.bookmark(object, now),
            Some(b"ERROR") => {
                let mut throttled = Vec::new();
                wire::integer(&mut throttled, 6, 429);
                let status = protobuf::message_in(object).unwrap_or_default();
                if wire::fields(status).all(|field| field.whole != throttled) {
                    self.justify("an ERROR event");
                }
            }
            Some(b"DELETED") if key_of(object).is_none() => {
                self.justify("a deletion without a readable key");
            }
            _ => {}
        }
    }

    fn bookmark(&mut self, object: &[u8], now: Instant) {
        let mark = b"k8s.io/initial-events-end";
        let is_end = object.windows(mark.len()).any(|window| window == mark);
        if is_end && !self.is_live {
            self.is_live = true;
            self.since = now;
            self.events = 0;
        }
    }

    /// An event in JSON.
    fn line(&mut self, line: &[u8], now: Instant) {
        self.events += 1;
        if line.starts_with(br#"{"type":"BOOKMARK""#) {
            self.bookmark(line, now);
        }
        let is_error = line.starts_with(br#"{"type":"ERROR""#);
        if !is_error && !line.starts_with(br#"{"type":"DELETED""#) {
            return;
        }
        let Ok(event) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let field = |path| event.pointer(path);
        if is_error {
            if field("/object/code") != Some(&Value::from(429)) {
                self.justify("an ERROR event");
            }
        } else if field("/object/metadata/name").is_none() {
            self.justify("a deletion without a readable key");
        }
    }

    fn end_watch(&mut self, now: Instant) {
        if self.events == 0 && now.since(self.since) < SHORT {
            self.justify("a watch that brought nothing");
        }
    }

    const fn justify(&mut self, cause: &'static str) {
        self.cause = Some(cause);
    }
}
