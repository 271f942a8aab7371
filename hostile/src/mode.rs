//! A way to be hostile, and the bounds that must hold.

use std::fmt;
use std::time::Duration;

use crate::server::ask::Ask;
use crate::server::line::{Acted, Line};
use crate::server::reply::Reply;
use crate::server::tls::Shows;

/// A way to be hostile.
pub(crate) struct Mode {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// What the server does.
    pub(crate) mechanism: &'static str,
    /// What must stop it.
    pub(crate) limit: Limit,
    pub(crate) over: Over,
    pub(crate) act: Act,
    /// What the user's message must contain.
    pub(crate) says: &'static str,
    /// Whether its effect shows within a second, even in a debug build.
    pub(crate) is_quick: bool,
    pub(crate) program: Program,
    /// How long the recovery may take after the server has turned good.
    pub(crate) recovery: Duration,
    /// The most requests in the beginning.
    pub(crate) burst: usize,
    /// The most memory beyond that of a program with a good server, in bytes.
    pub(crate) memory: u64,
}

/// The default memory bound.
const MEMORY: u64 = 64 << 20;

/// Up to eight objects at the limit of 16 MiB: the text being read, the object, its predecessor in
/// the store and in readers' hands, and what the allocator keeps.
const LARGE_OBJECTS: u64 = 128 << 20;

/// The default bound of requests in the beginning.
const BURST: usize = 40;

/// The longest back-off is 30 s plus as much jitter; the rest is for a busy machine.
const BACK_OFF: Duration = Duration::from_secs(65);

/// A server may ask for a wait of up to 5 minutes.
const PATIENCE: Duration = Duration::from_secs(305);

/// The protocol of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Over {
    /// HTTP/1.1 without TLS.
    Http1,
    /// HTTP/2 without TLS, with prior knowledge.
    Http2,
    /// TLS with this certificate, and HTTP/2 or what ALPN announced.
    Tls(Shows),
}

/// How the server misbehaves.
pub(crate) enum Act {
    /// In its answers; `None` for a good answer.
    Answers(fn(&Ask) -> Option<Reply>),
    /// In everything, from the first byte of a connection.
    Connections(fn(Line) -> Acted),
    /// Not at all, except for its certificate.
    Serves,
}

/// The object limit of a store with limits.
pub(crate) const MOST_OBJECTS: usize = 10_000;

/// The byte limit of a store with limits.
pub(crate) const MOST_BYTES: u64 = 16 << 20;

/// What the program under test does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Program {
    /// It starts an informer.
    Informs,
    /// It starts an informer that asks for protobuf.
    ReadsProtobuf,
    /// It starts an informer with a limit of [`MOST_OBJECTS`] and [`MOST_BYTES`].
    InformsWithinLimits,
    /// It looks up `pods` by discovery, then starts an informer. If discovery fails, it ends, and
    /// is restarted when the server is good.
    ResolvesFirst,
}

/// What stops the server, or how its answer is treated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Limit {
    Nothing,
    Backoff,
    ShortWatches,
    ConnectTimeout,
    HeadTimeout,
    ListTimeout,
    IdleDeadline,
    EndOfState,
    HttpParser,
    HeaderBytes,
    FrameRules,
    StreamsAllowed,
    RepeatedRequests,
    ErrorBody,
    ContentType,
    Unpacked,
    Gzip,
    Redirect,
    ObjectBytes,
    ListHead,
    Json,
    Protobuf,
    Depth,
    Pages,
    PageToken,
    VersionBytes,
    VersionRefused,
    RetryAfter,
    StoreRoom,
    Reports,
    RejectedObjects,
    WholeBody,
    Versions,
    Trust,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "none needed",
            Self::Backoff => "back-off",
            Self::ShortWatches => "token bucket for short watches",
            Self::ConnectTimeout => "connect timeout",
            Self::HeadTimeout => "response timeout",
            Self::ListTimeout => "list timeout",
            Self::IdleDeadline => "idle deadline",
            Self::EndOfState => "streamed list timeout",
            Self::HttpParser => "HTTP grammar",
            Self::HeaderBytes => "header size",
            Self::FrameRules => "HTTP/2 grammar",
            Self::StreamsAllowed => "streams allowed",
            Self::RepeatedRequests => "immediate retries",
            Self::ErrorBody => "error body size",
            Self::ContentType => "content type",
            Self::Unpacked => "unpacked bytes",
            Self::Gzip => "gzip format",
            Self::Redirect => "redirects are not followed",
            Self::ObjectBytes => "object size",
            Self::ListHead => "size of a list without its items",
            Self::Json => "JSON grammar",
            Self::Protobuf => "protobuf grammar",
            Self::Depth => "nesting depth",
            Self::Pages => "number of pages",
            Self::PageToken => "page tokens",
            Self::VersionBytes => "version size",
            Self::VersionRefused => "refused versions are forgotten",
            Self::RetryAfter => "longest Retry-After",
            Self::StoreRoom => "store limits",
            Self::Reports => "reports kept",
            Self::RejectedObjects => "rejected object by object",
            Self::WholeBody => "body size",
            Self::Versions => "number of versions",
            Self::Trust => "trust",
        })
    }
}

impl Mode {
    pub(crate) const fn answers(
        name: &'static str,
        mechanism: &'static str,
        limit: Limit,
        answer: fn(&Ask) -> Option<Reply>,
    ) -> Self {
        Self {
            name,
            mechanism,
            limit,
            over: Over::Http1,
            act: Act::Answers(answer),
            says: "",
            is_quick: false,
            program: Program::Informs,
            recovery: BACK_OFF,
            burst: BURST,
            memory: MEMORY,
        }
    }

    pub(crate) const fn connections(
        name: &'static str,
        mechanism: &'static str,
        limit: Limit,
        act: fn(Line) -> Acted,
    ) -> Self {
        Self {
            act: Act::Connections(act),
            ..Self::answers(name, mechanism, limit, |_| None)
        }
    }

    pub(crate) const fn over(mut self, over: Over) -> Self {
        self.over = over;
        self
    }

    pub(crate) const fn says(mut self, text: &'static str) -> Self {
        self.says = text;
        self
    }

    pub(crate) const fn quick(mut self) -> Self {
        self.is_quick = true;
        self
    }

    pub(crate) const fn program(mut self, program: Program) -> Self {
        self.program = program;
        self
    }

    /// The server asks for a long wait, and gets it.
    pub(crate) const fn patient(mut self) -> Self {
        self.recovery = PATIENCE;
        self
    }

    /// This many requests in the beginning are justified.
    pub(crate) const fn burst(mut self, requests: usize) -> Self {
        self.burst = requests;
        self
    }

    /// The server sends objects of the largest allowed size.
    pub(crate) const fn large_objects(mut self) -> Self {
        self.memory = LARGE_OBJECTS;
        self
    }

    pub(crate) const fn serves(mut self) -> Self {
        self.act = Act::Serves;
        self
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::Tls(_) => "TLS",
        })
    }
}
