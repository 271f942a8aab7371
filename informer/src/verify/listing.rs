//! Reads the server's state at one version, page by page, through a transport of its own.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use informer_core::decode::form::{BodyError, Form, ProtobufUse};
use informer_core::decode::json::form::JsonObject;
use informer_core::decode::protobuf::form::ProtobufObject;
use informer_core::decode::{Body, Decode as _, Decoder};
use informer_core::failure::message;
use informer_core::flow::{Fact, Rejected};
use informer_core::transport::{At, Command, ExchangeId, Request, Signal, Transport};
use informer_core::{Clock, Encoding, Failure, Instant, Object, ObjectKey, Timer};

/// Objects per page.
const PAGE: u32 = 500;

/// How many pages without objects may lead to another page. A proxy that hides objects may send some.
const MOST_EMPTY: u32 = 100;

const REPEATS: &str = "the list does not end: a page leads to itself";
const ENDLESS: &str = "the list does not end: too many of its pages have no objects";
const CUT_SHORT: &str = "the list ended before it was complete";

/// A list, and everything that it takes to read it.
pub(super) struct Listing<T> {
    transport: T,
    decoder: Decoder<KeyAndVersion>,
    /// How many requests were sent.
    requests: u64,
    deadline: Instant,
    timer: Box<dyn Timer>,
}

/// Why a list was not read to its end.
pub(super) enum Unlisted {
    Failed { failure: Failure, message: String },
    OtherVersion { answered: String },
    TimedOut,
}

impl Unlisted {
    fn failed(failure: Failure, about: impl fmt::Display) -> Self {
        Self::Failed {
            failure,
            message: message(about),
        }
    }

    fn undecodable(about: impl fmt::Display) -> Self {
        Self::failed(Failure::Undecodable, about)
    }
}

/// The end of a page.
struct Page {
    version: String,
    next: Option<String>,
}

/// The form of objects of which nothing else is kept.
pub(super) struct KeyAndVersion;

impl Form for KeyAndVersion {
    type Body = ();

    const PROTOBUF: ProtobufUse = ProtobufUse::Message;

    fn read_json(&mut self, _: JsonObject<'_>) -> Result<(), BodyError> {
        Ok(())
    }

    fn read_protobuf(&mut self, _: ProtobufObject<'_>) -> Result<(), BodyError> {
        Ok(())
    }
}

impl<T: Transport> Listing<T> {
    /// A list that must be complete within `timeout` from now.
    pub(super) fn new(transport: T, clock: &dyn Clock, timeout: Duration) -> Self {
        Self {
            transport,
            decoder: Decoder::new(KeyAndVersion),
            requests: 0,
            deadline: clock.now().after(timeout),
            timer: clock.timer(),
        }
    }

    pub(super) fn time_left(&self, clock: &dyn Clock) -> Duration {
        self.deadline.since(clock.now())
    }

    /// Reads the state at exactly `version`, and shows the key and the version of every object.
    pub(super) async fn read(
        &mut self,
        version: &str,
        mut see: impl FnMut(&ObjectKey, &str),
    ) -> Result<(), Unlisted> {
        let mut asked = None;
        let mut empty = 0;
        loop {
            self.ask(version, asked.as_deref());
            let mut is_empty = true;
            let mut see = |key: &ObjectKey, version: &str| {
                is_empty = false;
                see(key, version);
            };
            let page = poll_fn(|cx| self.poll_page(&mut see, cx)).await?;
            if page.version != version {
                return Err(Unlisted::OtherVersion {
                    answered: message(page.version),
                });
            }
            empty += u32::from(is_empty);
            match page.next {
                None => return Ok(()),
                next if next == asked => return Err(Unlisted::undecodable(REPEATS)),
                Some(_) if empty > MOST_EMPTY => return Err(Unlisted::undecodable(ENDLESS)),
                next => asked = next,
            }
        }
    }

    /// Requests the first page, or the one of a token. The token has the version in it.
    fn ask(&mut self, version: &str, page: Option<&str>) {
        self.requests += 1;
        // Unless the transport says otherwise.
        self.decoder.begin(Body::List, Encoding::default());
        self.transport.execute(Command::Open {
            exchange: ExchangeId::new(self.requests),
            request: Request::List {
                version: page.map_or(At::Exact(version), |_| At::Latest),
                limit: Some(PAGE),
                page,
            },
        });
    }

    /// Reads to the end of a page.
    fn poll_page(
        &mut self,
        see: &mut impl FnMut(&ObjectKey, &str),
        cx: &mut Context<'_>,
    ) -> Poll<Result<Page, Unlisted>> {
        loop {
            if self.timer.poll_until(self.deadline, cx).is_ready() {
                return Poll::Ready(Err(Unlisted::TimedOut));
            }
            let (exchange, signal) = ready!(self.transport.poll_signal(cx));
            let is_current = exchange.number() == self.requests;
            let mut used = 0;
            let mut end = None;
            match signal {
                Signal::Bytes(bytes) => {
                    used = bytes.len();
                    let mut rest = bytes;
                    while is_current
                        && end.is_none()
                        && let Some(fact) = self.decoder.decode(&mut rest)
                    {
                        end = take(fact, see);
                    }
                }
                // What is left of an earlier page.
                _ if !is_current => {}
                Signal::Opened(encoding) => self.decoder.begin(Body::List, encoding),
                Signal::Closed => end = take(self.decoder.end(), see),
                Signal::Failed { failure, message } => {
                    end = Some(Err(Unlisted::failed(failure, message)));
                }
            }
            self.transport.consume(used);
            if let Some(end) = end {
                return Poll::Ready(end);
            }
        }
    }
}

/// Shows an object, or ends the page.
fn take(
    fact: Fact<'_, Object<()>>,
    see: &mut impl FnMut(&ObjectKey, &str),
) -> Option<Result<Page, Unlisted>> {
    match fact {
        Fact::Item(object) => see(object.key(), object.version()),
        // It does not matter here what else is wrong with it.
        Fact::Rejected(Rejected {
            key: Some(key),
            version,
            ..
        }) => see(&key, version),
        Fact::Rejected(Rejected { reason, .. }) => {
            let about = format_args!("the list has an object without a readable key: {reason}");
            return Some(Err(Unlisted::undecodable(about)));
        }
        Fact::PageEnd { version, next, .. } => {
            return Some(Ok(Page {
                version: version.to_owned(),
                next: next.map(str::to_owned),
            }));
        }
        Fact::Failed { failure, message } => {
            return Some(Err(Unlisted::failed(failure, message)));
        }
        Fact::Closed => return Some(Err(Unlisted::failed(Failure::Broken, CUT_SHORT))),
        // The decoder does not produce these from a list.
        Fact::Opened
        | Fact::Added(_)
        | Fact::Modified(_)
        | Fact::Deleted(_)
        | Fact::Bookmark { .. }
        | Fact::InitialEnd { .. } => {}
    }
    None
}
