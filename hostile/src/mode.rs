//! One way to be hostile, and what must hold all the same.

use std::fmt;
use std::time::Duration;

use crate::server::ask::Ask;
use crate::server::line::{Acted, Line};
use crate::server::reply::Reply;
use crate::server::tls::Shows;

/// A way to be hostile.
pub(crate) struct Mode {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What the server does.
    pub(crate) mechanism: &'static str,
    /// What must stop it.
    pub(crate) limit: Limit,
    pub(crate) over: Over,
    pub(crate) act: Act,
    /// What the message for the user must contain.
    pub(crate) says: &'static str,
    /// Whether it shows what it can do within a second, also in a debug build.
    pub(crate) is_quick: bool,
    pub(crate) program: Program,
    /// How long the informer may take to be right, after the server has turned good.
    pub(crate) recovery: Duration,
    /// The most requests in the beginning.
    pub(crate) burst: usize,
    /// The most memory over that of a program that meets a good server, in bytes.
    pub(crate) memory: u64,
}

/// What no mode may take, unless a limit is the reason.
const MEMORY: u64 = 64 << 20;

/// Objects at the limit of 16 MiB each, up to eight times: the text that one is read from, the object, the
/// one before it in the store and in what readers still hold, and what the allocator keeps of the last.
const LARGE_OBJECTS: u64 = 128 << 20;

/// So often a program may try in the beginning.
const BURST: usize = 40;

/// Back-off waits up to 30 s and up to as much again; the rest is for a machine that is busy.
const BACK_OFF: Duration = Duration::from_secs(65);

/// A server that asks for patience gets up to 5 minutes of it.
const PATIENCE: Duration = Duration::from_secs(305);

/// What the server speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Over {
    /// HTTP/1.1 without TLS.
    Http1,
    /// HTTP/2 without TLS, known in advance.
    Http2,
    /// HTTP/2 over TLS, or whatever the client was promised there.
    Tls(Shows),
}

/// How the server misbehaves.
pub(crate) enum Act {
    /// In its answers; `None` for what is answered well.
    Answers(fn(&Ask) -> Option<Reply>),
    /// In everything, from the first byte of a connection.
    Connections(fn(Line) -> Acted),
    /// Not at all, beside the certificate that it shows.
    Serves,
}

/// The most objects of a store with limits.
pub(crate) const MOST_OBJECTS: usize = 10_000;

/// The most bytes of a store with limits.
pub(crate) const MOST_BYTES: u64 = 16 << 20;

/// What the program does that meets the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Program {
    /// It starts an informer.
    Informs,
    /// The same, with a limit of [`MOST_OBJECTS`] and [`MOST_BYTES`].
    InformsWithinLimits,
    /// It asks what `pods` means, and then starts an informer. If it is not told, it ends, and is started
    /// again when the server is good.
    ResolvesFirst,
}

/// What the server is stopped by, or what is made of it.
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
            Self::Nothing => "none needed: it is read as it is",
            Self::Backoff => "back-off",
            Self::ShortWatches => "bucket for short watches",
            Self::ConnectTimeout => "time to connect",
            Self::HeadTimeout => "time to begin an answer",
            Self::ListTimeout => "time for a list",
            Self::IdleDeadline => "idle deadline",
            Self::EndOfState => "time to end a streamed state",
            Self::HttpParser => "HTTP grammar",
            Self::HeaderBytes => "bytes of a head",
            Self::FrameRules => "HTTP/2 grammar",
            Self::StreamsAllowed => "streams allowed",
            Self::RepeatedRequests => "requests repeated at once",
            Self::ErrorBody => "bytes of an error",
            Self::ContentType => "type of the answer",
            Self::Unpacked => "unpacked bytes",
            Self::Gzip => "gzip format",
            Self::Redirect => "redirects are not followed",
            Self::ObjectBytes => "bytes of an object",
            Self::ListHead => "bytes around the items",
            Self::Json => "JSON grammar",
            Self::Depth => "nesting",
            Self::Pages => "number of pages",
            Self::PageToken => "page tokens",
            Self::VersionBytes => "bytes of a version",
            Self::VersionRefused => "versions that the server refuses",
            Self::RetryAfter => "longest wait that a server can ask for",
            Self::StoreRoom => "objects and bytes of the store",
            Self::Reports => "reports kept",
            Self::RejectedObjects => "rejected one by one",
            Self::WholeBody => "bytes of a whole answer",
            Self::Versions => "versions asked about",
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

    /// The server asks for patience, and gets it.
    pub(crate) const fn patient(mut self) -> Self {
        self.recovery = PATIENCE;
        self
    }

    /// There is a reason for so many requests in the beginning.
    pub(crate) const fn burst(mut self, requests: usize) -> Self {
        self.burst = requests;
        self
    }

    /// The server sends objects as large as an object may be.
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
