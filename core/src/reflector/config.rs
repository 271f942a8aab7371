//! The knobs of a reflector.

use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

/// How a reflector behaves. [`new`](Self::new) is our default, [`client_go`](Self::client_go) what
/// client-go does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct ReflectorConfig {
    /// How the full state is read. Default: streamed.
    pub first_state: FirstState,
    /// Objects per page of every list. Default `None`: 500 where the server reads through to its
    /// database, and one unpaged answer where it has the state at hand. Small pages make long lists
    /// slow, and their token may expire. A list of more than 10,000 pages, or of 100 that are not half
    /// full, is asked for in one piece.
    pub page_size: Option<NonZeroU32>,
    /// The server is asked to end each watch after a random time between this and twice this. Default
    /// 5 minutes, which is also the least.
    pub watch_timeout: Duration,
    /// After so long without a byte an exchange counts as dead: a watch is opened again from where it
    /// was, a list is begun again. Default 200 s, below the 240 s after which common load balancers
    /// cut silent connections; a server sends bookmarks about once a minute. `None` (client-go) waits
    /// for ever. Below a minute or two, quiet watches are cut for nothing.
    pub idle: Option<Duration>,
    /// After so long without an event a streamed state that has not announced its end is given up, and
    /// pages are read instead from then on; so is one that still brings events after ten minutes.
    /// Default 30 s. `None` (client-go) waits for ever.
    pub end_bookmark: Option<Duration>,
    /// How long to wait after failures.
    pub backoff: BackoffConfig,
    /// For so long after an internal error of the server, a watch is opened again, the first few times at
    /// once, instead of reading the full state again. Default `None`: never.
    pub internal_retry: Option<Duration>,
    /// Whether a watch whose connection breaks before there is an answer is asked for once more, before
    /// the full state is read again. Default: yes, since the server has said nothing against the version
    /// that we know; a connection that was shared may have been dead for a while. client-go: no.
    pub retry_unanswered: bool,
    /// Whether a version is forgotten as soon as a watch from it is refused as invalid, and the newest
    /// state is asked for. Default: yes, since a version from a broken bookmark is refused by lists as
    /// well. client-go: no. A version that a list is refused with is always forgotten.
    pub forget_refused: bool,
}

/// How the full state is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol knows these two")]
pub enum FirstState {
    /// By a list, in pages where the server pages.
    Listed,
    /// By a watch that begins with the whole state, falling back to a list.
    Streamed,
}

/// How long to wait after failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct BackoffConfig {
    /// The first delay, to which up to the same again is added at random. Default 0.8 s.
    pub base: Duration,
    /// The longest delay before the random part is added. Default 30 s. Below 3 s it is also how often a
    /// server is asked that ends its answers at once: five requests may follow one another, and then
    /// there is one every 3 s, or one every `cap`.
    pub cap: Duration,
    /// When the delays start over.
    pub reset: BackoffReset,
}

/// When the delays of a backoff start over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum BackoffReset {
    /// When so much time has passed since the last failure. Our default, with 2 minutes.
    AfterHealth(Duration),
    /// When so much time has passed since they last started over, whatever happened. client-go's rule,
    /// with 2 minutes: a reflector that keeps failing goes round in circles.
    Periodic(Duration),
}

const TWO_MINUTES: Duration = Duration::from_secs(120);

impl BackoffConfig {
    /// Our default.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            base: Duration::from_millis(800),
            cap: Duration::from_secs(30),
            reset: BackoffReset::AfterHealth(TWO_MINUTES),
        }
    }
}

impl Default for BackoffConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl ReflectorConfig {
    /// Our default.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            first_state: FirstState::Streamed,
            page_size: None,
            watch_timeout: Duration::from_secs(300),
            idle: Some(Duration::from_secs(200)),
            end_bookmark: Some(Duration::from_secs(30)),
            backoff: BackoffConfig::new(),
            internal_retry: None,
            retry_unanswered: true,
            forget_refused: true,
        }
    }

    /// What client-go does.
    #[must_use]
    pub const fn client_go() -> Self {
        Self {
            idle: None,
            end_bookmark: None,
            retry_unanswered: false,
            forget_refused: false,
            backoff: BackoffConfig {
                reset: BackoffReset::Periodic(TWO_MINUTES),
                ..BackoffConfig::new()
            },
            ..Self::new()
        }
    }

    pub(super) fn check(&self) -> Result<(), InvalidConfig> {
        let BackoffConfig { base, cap, reset } = self.backoff;
        let (BackoffReset::AfterHealth(quiet) | BackoffReset::Periodic(quiet)) = reset;
        let zero = |name, duration: Duration| {
            if duration.as_micros() == 0 {
                Err(InvalidConfig::Zero(name))
            } else {
                Ok(())
            }
        };
        zero("reflector.backoff.base", base)?;
        zero("reflector.backoff.reset", quiet)?;
        for (name, duration) in [
            ("reflector.idle", self.idle),
            ("reflector.end_bookmark", self.end_bookmark),
            ("reflector.internal_retry", self.internal_retry),
        ] {
            zero(name, duration.unwrap_or(base))?;
        }
        if cap < base {
            return Err(InvalidConfig::BackoffInverted { base, cap });
        }
        if self
            .page_size
            .is_some_and(|size| size.get() > i32::MAX as u32)
        {
            return Err(InvalidConfig::PageTooLarge);
        }
        Ok(())
    }
}

impl Default for ReflectorConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// A configuration that cannot work.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidConfig {
    /// This duration is zero, or too short to be told from it.
    Zero(&'static str),
    /// The cap of the backoff is below its base.
    BackoffInverted {
        /// The base.
        base: Duration,
        /// The cap.
        cap: Duration,
    },
    /// The resync period is below a second: the whole store would be shown all the time.
    ResyncTooShort(Duration),
    /// The page size does not fit what a server reads.
    PageTooLarge,
    /// This limit is zero or too large.
    Limit(&'static str),
    /// The storage has no room for the notifications of a single change.
    StorageTooSmall,
    /// A full state is to be delivered in one piece, but the storage is bounded.
    NeedsUnboundedStorage,
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(name) => write!(f, "`{name}` must be at least a microsecond"),
            Self::BackoffInverted { base, cap } => write!(
                f,
                "`reflector.backoff.cap` ({cap:?}) must not be below `reflector.backoff.base` ({base:?})"
            ),
            Self::ResyncTooShort(period) => write!(
                f,
                "`resync` ({period:?}) must be at least a second; leave it out for no resyncs"
            ),
            Self::StorageTooSmall => f.write_str("the storage must hold at least two of each"),
            Self::NeedsUnboundedStorage => f.write_str(
                "an in-order queue and a staged relist need a storage without bounds, such as `Heap`",
            ),
            Self::Limit(name) => write!(f, "the limit `{name}` is zero or too large"),
            Self::PageTooLarge => write!(f, "`reflector.page_size` must be at most {}", i32::MAX),
        }
    }
}

impl core::error::Error for InvalidConfig {}
