//! The configuration of a reflector.

use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

use crate::limits::InvalidLimit;

/// Configuration of a [`Reflector`](super::Reflector).
///
/// [`new`](Self::new) has the defaults; [`client_go`](Self::client_go) behaves like client-go.
///
/// ```
/// use core::time::Duration;
/// use informer_core::reflector::{FirstState, InvalidConfig, Reflector, ReflectorConfig};
/// use informer_core::storage::Heap;
///
/// let config = ReflectorConfig {
///     first_state: FirstState::Listed,
///     idle: Some(Duration::from_secs(120)),
///     ..ReflectorConfig::new()
/// };
/// assert!(Reflector::<Heap>::new(config, 42).is_ok());
///
/// let broken = ReflectorConfig { idle: Some(Duration::ZERO), ..config };
/// let error = Reflector::<Heap>::new(broken, 42).unwrap_err();
/// assert_eq!(error, InvalidConfig::Zero("reflector.idle"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct ReflectorConfig {
    /// How to read the full state. Default: streamed.
    pub first_state: FirstState,
    /// Objects per page of every list. Default `None`: pages of 500 where the server reads from its
    /// database, and no pages where it answers from its cache.
    ///
    /// Small pages make long lists slow, and the continue token may expire. After 10,000 pages, or 100
    /// pages that are less than half full, the reflector requests the list in one piece.
    pub page_size: Option<NonZeroU32>,
    /// The server is asked to end each watch after a random time between this and twice this. Default
    /// and minimum: 5 minutes.
    pub watch_timeout: Duration,
    /// An exchange counts as dead after this time without a byte. A watch then continues at the last
    /// version, and a list starts again. Default 200 s. `None` (client-go) waits for ever.
    ///
    /// The default is below the 240 s after which common load balancers cut silent connections. A server
    /// sends bookmarks about once a minute, so a value below one or two minutes cuts healthy watches.
    pub idle: Option<Duration>,
    /// A streamed state without its end bookmark is given up after this time without an event, or after
    /// ten minutes in any case. From then on the reflector lists instead. Default 30 s. `None`
    /// (client-go) waits for ever.
    pub end_bookmark: Option<Duration>,
    /// Delays after failures.
    pub backoff: BackoffConfig,
    /// For this time after an internal error of the server, the reflector watches again instead of
    /// relisting, the first few times at once. Default `None`: it relists.
    pub internal_retry: Option<Duration>,
    /// Whether to retry a watch once, before a relist, if its connection breaks before an answer.
    /// Default: true, because the server has not rejected the known version, and a shared connection may
    /// have been dead for a while. client-go: false.
    pub retry_unanswered: bool,
    /// Whether to forget a version when the server rejects a watch from it as invalid, and to ask for the
    /// newest state. Default: true, because lists reject a version from a broken bookmark as well.
    /// client-go: false. A version that a list was rejected with is always forgotten.
    pub forget_refused: bool,
    /// What to do while the server does not serve the kind, for example because its CRD is not installed
    /// yet. Default: keep the store, and try again with slow delays. `None` (client-go): a 404 is a failure
    /// like any other.
    pub gone: Option<GoneConfig>,
}

/// What to do while the server does not serve the kind: it answers a list with 404.
///
/// ```
/// use informer_core::reflector::{GoneConfig, ReflectorConfig, WhenGone};
///
/// let gone = GoneConfig { then: WhenGone::Empty, ..GoneConfig::new() };
/// let config = ReflectorConfig { gone: Some(gone), ..ReflectorConfig::new() };
/// assert_eq!(ReflectorConfig::new().gone, Some(GoneConfig::new()));
/// assert_eq!(GoneConfig::new().then, WhenGone::Keep);
/// # assert_ne!(config, ReflectorConfig::new());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct GoneConfig {
    /// What becomes of the store and of the informer.
    pub then: WhenGone,
    /// The first delay before the next try. A random part of up to the same length is added to every
    /// delay. Default 2 s.
    pub base: Duration,
    /// The longest delay, before the random part is added. Default 60 s: a 404 is cheap for a server, and a
    /// kind that is installed late is found within two minutes. The delays start over when the kind is
    /// back.
    pub cap: Duration,
}

/// What becomes of an informer while the server does not serve its kind.
///
/// A single 404 may come from a proxy, or from a server that is still starting. So nothing is emptied or
/// stopped before the second list in a row is answered with 404.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum WhenGone {
    /// Keep the store as it is, and try again. The default: a 404 does not say that the objects are gone.
    /// They may be served in another version only. A server that deletes a CRD reports the deletion of each
    /// object before, but not to an informer whose watch has just ended: see
    /// [`definition_deleted`](super::Reflector::definition_deleted).
    #[default]
    Keep,
    /// Delete all objects that only this source shows, with [`Cause::KindGone`](crate::flow::Cause::KindGone), and
    /// try again.
    Empty,
    /// Stop for good. With several sources, one that finds the kind gone stops the whole informer.
    Stop,
}

impl GoneConfig {
    /// Returns the defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            then: WhenGone::Keep,
            base: Duration::from_secs(2),
            cap: Duration::from_secs(60),
        }
    }
}

impl Default for GoneConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// How a reflector reads the full state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum FirstState {
    /// With a list, in pages where the server pages.
    Listed,
    /// With a watch that begins with the whole state. Falls back to a list.
    Streamed,
}

/// Delays after failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct BackoffConfig {
    /// The first delay. A random part of up to the same length is added to every delay. Default 0.8 s.
    pub base: Duration,
    /// The longest delay, before the random part is added. Default 30 s.
    ///
    /// It also bounds the pace of requests to a server that ends its answers at once: after five requests
    /// there is one every 3 s, or one every `cap` if that is shorter.
    pub cap: Duration,
    /// When the delays start over at `base`.
    pub reset: BackoffReset,
}

/// When the delays of a back-off start over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum BackoffReset {
    /// When this time has passed since the last failure. Default, with 2 minutes.
    AfterHealth(Duration),
    /// When this time has passed since they last started over, even if failures continue. client-go's
    /// rule, with 2 minutes.
    Periodic(Duration),
}

const TWO_MINUTES: Duration = Duration::from_secs(120);

impl BackoffConfig {
    /// Returns the defaults.
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
    /// Returns the defaults.
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
            gone: Some(GoneConfig::new()),
        }
    }

    /// Returns a configuration that behaves like client-go.
    #[must_use]
    pub const fn client_go() -> Self {
        Self {
            idle: None,
            end_bookmark: None,
            retry_unanswered: false,
            forget_refused: false,
            gone: None,
            backoff: BackoffConfig {
                reset: BackoffReset::Periodic(TWO_MINUTES),
                ..BackoffConfig::new()
            },
            ..Self::new()
        }
    }

    pub(crate) fn check(&self) -> Result<(), InvalidConfig> {
        let BackoffConfig { base, cap, reset } = self.backoff;
        let (BackoffReset::AfterHealth(quiet) | BackoffReset::Periodic(quiet)) = reset;
        for (name, duration) in [
            ("reflector.backoff.base", Some(base)),
            ("reflector.backoff.reset", Some(quiet)),
            ("reflector.idle", self.idle),
            ("reflector.end_bookmark", self.end_bookmark),
            ("reflector.internal_retry", self.internal_retry),
            ("reflector.gone.base", self.gone.map(|gone| gone.base)),
        ] {
            if duration.is_some_and(|duration| duration.as_micros() == 0) {
                return Err(InvalidConfig::Zero(name));
            }
        }
        let gone = self
            .gone
            .map(|gone| ("reflector.gone", gone.base, gone.cap));
        for (name, base, cap) in [("reflector.backoff", base, cap)].into_iter().chain(gone) {
            if cap < base {
                return Err(InvalidConfig::BackoffInverted { name, base, cap });
            }
        }
        let too_large = |size: NonZeroU32| size.get() > i32::MAX as u32;
        if self.page_size.is_some_and(too_large) {
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

/// A configuration with an invalid value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidConfig {
    /// The named duration is shorter than a microsecond.
    Zero(&'static str),
    /// The cap of a back-off is below its base.
    BackoffInverted {
        /// The name of the setting.
        name: &'static str,
        /// The configured base.
        base: Duration,
        /// The configured cap.
        cap: Duration,
    },
    /// The resync period is shorter than a second.
    ResyncTooShort(Duration),
    /// The page size is larger than a server accepts.
    PageTooLarge,
    /// A limit is zero or too large.
    Limit(InvalidLimit),
    /// The storage cannot hold the notifications of a single change.
    StorageTooSmall,
    /// The configuration delivers full states in one piece, which needs storage without bounds.
    NeedsUnboundedStorage,
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(name) => write!(f, "`{name}` is too short: set at least one microsecond"),
            Self::BackoffInverted { name, base, cap } => write!(
                f,
                "`{name}.cap` ({cap:?}) must not be below `{name}.base` ({base:?}): raise the cap or lower the base"
            ),
            Self::ResyncTooShort(period) => write!(
                f,
                "`resync` ({period:?}) is too short: set at least a second, or leave it out for no resyncs"
            ),
            Self::StorageTooSmall => {
                f.write_str("the storage is too small: its capacity must be at least 2")
            }
            Self::NeedsUnboundedStorage => f.write_str(
                "an in-order queue and a staged relist need storage without bounds: use `Heap`, or `QueueKind::DeltaFifo` with `Relist::Streamed`",
            ),
            Self::Limit(limit) => limit.fmt(f),
            Self::PageTooLarge => {
                write!(f, "`reflector.page_size` is too large: set at most {}", i32::MAX)
            }
        }
    }
}

impl core::error::Error for InvalidConfig {}
