//! Health of informers and handlers, for people, probes and hooks.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use informer_core::informer::{Counts, RejectedObject};
use informer_core::processor::ListenerStatus;
use informer_core::reflector::{LastFailure, Phase};
use informer_core::{Instant, ObjectKey};

use crate::engine::State;
use crate::handler::Progress;
use crate::panics::panic_text;
use crate::runtime::RuntimeError;
use crate::words::{counted, roughly};

/// What an informer is doing at one moment: phase, progress, failures and handlers.
///
/// ```
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
/// // `pods` follows a mock API server with one pod.
/// pods.synced(std::time::Duration::from_secs(30)).await?;
/// let status = pods.status();
/// assert_eq!(status.name, "pods.v1");
/// assert!(status.synced);
/// assert_eq!(status.objects, 1);
/// assert!(status.last_failure.is_none());
/// assert!(status.handlers.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The resource, namespace and selectors that it follows.
    pub name: String,
    /// When this was so, on the clock of the runtime.
    pub at: Instant,
    /// Whether the informer was started.
    pub started: bool,
    /// The current phase. While the informer waits, it says why and until when.
    pub phase: Phase,
    /// Whether the cache holds the first full state. Never becomes false again.
    pub synced: bool,
    /// Whether the server has answered a watch and nothing has failed since.
    pub following: bool,
    /// The version up to which the server has sent all changes; `None` before the first full state.
    pub version: Option<String>,
    /// The number of objects in the cache.
    pub objects: usize,
    /// The number of received changes that are not in the cache yet.
    pub queued: usize,
    /// Whether a handler with `Backlog::Stall` holds up the informer.
    pub stalled: bool,
    /// Whether the last relist contained an object without a readable key. It then deletes nothing,
    /// because any missing object could be that one.
    pub unswept: bool,
    /// The last failure, with the message of the server or the transport.
    pub last_failure: Option<LastFailure<String>>,
    /// The time since the last byte from the server.
    pub last_byte: Option<Duration>,
    /// The time since the last event or object.
    pub last_event: Option<Duration>,
    /// The time since the last bookmark.
    pub last_bookmark: Option<Duration>,
    /// Counters since the start.
    pub counts: Counts,
    /// The status of each handler and stream.
    pub handlers: Vec<HandlerStatus>,
    /// The message of a panic in a decoder, transform, index function or transport, which ended the
    /// informer.
    pub panic: Option<String>,
    /// Why the informer lost its task, which ended it.
    pub lost: Option<RuntimeError>,
    /// Whether the informer has ended because its last handle was dropped, while it still had handlers or
    /// somebody waited for it.
    pub dropped: bool,
}

/// Says which user code can end an informer with a panic.
pub(crate) const PANICKED: &str = "a decoder, transform, index function or transport panicked";

/// Why an informer has ended that nobody stopped.
pub(crate) const DROPPED: &str = "its last handle was dropped; keep a handle or a lister of it";

/// What to do after a runtime has ended.
pub(crate) const NEW_RUNTIME: &str = "build a new informer on a runtime that outlives it";

impl Status {
    pub(crate) fn of<K: Send + Sync + 'static>(name: &str, state: &State<K>, now: Instant) -> Self {
        let status = state.core.status();
        let age = |at: Option<Instant>| at.map(|at| now.since(at));
        Self {
            name: name.to_owned(),
            at: now,
            started: state.started,
            phase: status.phase,
            synced: status.synced,
            following: status.following,
            version: status.version.map(str::to_owned),
            objects: status.objects,
            queued: status.queued,
            stalled: status.stalled,
            unswept: status.unswept,
            last_failure: status.last_failure.cloned(),
            last_byte: age(status.last_byte),
            last_event: age(status.last_event),
            last_bookmark: age(status.last_bookmark),
            counts: status.counts,
            handlers: state.handlers(now),
            panic: state.broken.clone(),
            lost: state.lost.clone(),
            dropped: state.dropped,
        }
    }

    /// Whether a user may want to react to the difference. Counters and times do not count.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        let what = |status: &Self| {
            let count = |which: fn(&HandlerStatus) -> bool| {
                status.handlers.iter().filter(|it| which(it)).count()
            };
            let handlers = (count(|it| it.synced), count(|it| it.lost));
            let phase = std::mem::discriminant(&status.phase);
            let counts = (status.counts.failures, status.counts.full_states);
            (
                phase,
                status.started,
                status.synced,
                counts,
                handlers,
                status.panic.is_some(),
            )
        };
        what(self) != what(other)
    }

    /// Why the informer has not got further, for error messages.
    pub(crate) fn reason(&self) -> String {
        let failure = self.last_failure.as_ref().map(|last| {
            let Self { counts, .. } = self;
            let message = if last.message.is_empty() {
                String::new()
            } else {
                format!(" ({})", last.message)
            };
            let failures = counted(counts.failures, "failure");
            format!("; {failures}, the last: {}{message}", last.failure)
        });
        let failure = failure.unwrap_or_default();
        let held_up = self.held_up().unwrap_or_default();
        if let Some(panic) = &self.panic {
            return format!("{PANICKED}: {panic}");
        }
        if let Some(lost) = &self.lost {
            return format!("{lost}; {NEW_RUNTIME}");
        }
        match self.phase {
            _ if !self.started => "it was not started; call `start`".to_owned(),
            Phase::Stopped if self.dropped => format!("{DROPPED}{failure}"),
            Phase::Stopped => format!("it was stopped{failure}"),
            Phase::Waiting { cause, .. } => {
                let message = self.last_failure.as_ref().map_or("", |last| &last.message);
                let message = if message.is_empty() {
                    String::new()
                } else {
                    format!(" ({message})")
                };
                let times = counted(self.counts.failures, "time");
                format!("{cause}{message}; tried {times} so far")
            }
            Phase::Listing { items: 0, .. } | Phase::Streaming { items: 0 } | Phase::Idle => {
                format!("the server has not answered yet{failure}")
            }
            Phase::Listing { items, remaining } => {
                let left = remaining.map_or(String::new(), |left| format!(", {left} to come"));
                let listed = counted(items, "object");
                format!("{listed} listed so far{left}{held_up}{failure}")
            }
            Phase::Streaming { items } => {
                let received = counted(items, "object");
                format!("{received} received so far{held_up}{failure}")
            }
            Phase::Watching if !self.following => {
                format!("the server has not answered the watch yet{failure}")
            }
            Phase::Watching if self.synced && !self.stalled => {
                format!("it is watching, and the server has sent nothing newer{failure}")
            }
            Phase::Watching => {
                format!("received changes are not in the cache yet{held_up}{failure}")
            }
        }
    }

    /// Says that a handler holds up the informer, and why.
    fn held_up(&self) -> Option<String> {
        let stalls = self.handlers.iter().filter(|handler| handler.stalls);
        let in_call = stalls.map(|handler| handler.in_call).max()?;
        let why = in_call.map_or_else(
            || "it has not taken its notifications".to_owned(),
            |time| format!("its current call has not returned for {}", roughly(time)),
        );
        let held_up = || format!("; a handler with `Backlog::Stall` holds it up: {why}");
        self.stalled.then(held_up)
    }
}

/// One line for people: what it follows, what it is doing, how much it holds, and what is wrong.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.phase {
            Phase::Waiting { until, cause, then } => {
                let left = roughly(until.since(self.at));
                write!(f, "waiting {left} to {then}: {cause}")?;
            }
            Phase::Watching if !self.following => f.write_str("opening a watch")?,
            phase => phase.fmt(f)?,
        }
        write!(f, "; {}", counted(self.objects as u64, "object"))?;
        if let Some(version) = &self.version {
            write!(f, " at version {version}")?;
        }
        if !self.synced {
            f.write_str("; not synced")?;
        }
        if let Some(silence) = self.last_byte {
            write!(f, "; the server was last heard {} ago", roughly(silence))?;
        }
        if let Some(LastFailure {
            failure, message, ..
        }) = &self.last_failure
            && !self.following
        {
            write!(f, "; the last failure: {failure}")?;
            if !message.is_empty() {
                write!(f, " ({message})")?;
            }
        }
        if let Some(held_up) = self.held_up() {
            f.write_str(&held_up)?;
        }
        if self.unswept {
            f.write_str("; objects that are gone may still be there")?;
        }
        if let Some(panic) = &self.panic {
            write!(f, "; {PANICKED}: {panic}")?;
        }
        if self.dropped {
            write!(f, "; {DROPPED}")?;
        }
        match &self.lost {
            Some(lost) => write!(f, "; {lost}; {NEW_RUNTIME}"),
            None => Ok(()),
        }
    }
}

/// What a handler is doing at one moment: lag, progress and panics.
///
/// ```
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
/// // `pods` follows a mock API server with one pod.
/// let mut changes = pods.stream()?;
/// pods.synced(std::time::Duration::from_secs(30)).await?;
///
/// // The stream lags until you read it.
/// let status = changes.status().ok_or("the stream has ended")?;
/// assert_eq!((status.pending, status.delivered), (1, 0));
/// changes.next().await;
/// let status = changes.status().ok_or("the stream has ended")?;
/// assert_eq!((status.pending, status.delivered), (0, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HandlerStatus {
    /// The lag: notifications that the handler has not finished, including the one of the current call.
    pub pending: usize,
    /// Notifications that the handler has finished, or that a stream has returned.
    pub delivered: u64,
    /// Notifications that were merged with later ones because the handler did not keep up.
    pub coalesced: u64,
    /// Whether the handler has processed its initial state.
    pub synced: bool,
    /// How often the handler has panicked.
    pub panics: u64,
    /// Whether the handler holds up the informer with `Backlog::Stall`.
    pub stalls: bool,
    /// How long the current call has been running; `None` between calls, and for a stream. A call that
    /// does not return holds up this handler, and with `Backlog::Stall` the whole informer.
    pub in_call: Option<Duration>,
    /// Whether the task of the handler was lost because its runtime has ended. The handler gets no more
    /// notifications.
    pub lost: bool,
}

impl HandlerStatus {
    /// The core counts notifications as delivered when the task takes them, before the handler is called.
    pub(crate) fn of(core: ListenerStatus, progress: &Progress, now: Instant) -> Self {
        let taken = progress.taken();
        Self {
            pending: core.pending + taken,
            delivered: core.delivered.saturating_sub(taken as u64),
            coalesced: core.coalesced,
            synced: core.synced,
            panics: 0,
            stalls: core.stalls,
            in_call: progress.in_call(now),
            lost: false,
        }
    }
}

/// An event for the hooks.
pub(crate) enum Report {
    Failed(LastFailure<String>),
    Rejected(RejectedObject<ObjectKey, String>),
}

type FailureHook = dyn Fn(&LastFailure<String>) + Send + Sync;
type RejectedHook = dyn Fn(&RejectedObject<ObjectKey, String>) + Send + Sync;

/// Hooks of the user for failures and rejected objects.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) on_failure: Option<Arc<FailureHook>>,
    pub(crate) on_rejected: Option<Arc<RejectedHook>>,
}

impl Hooks {
    /// Calls the hooks. Catches panics and passes their messages to `panicked`.
    pub(crate) fn call(&self, reports: Vec<Report>, mut panicked: impl FnMut(String)) {
        for report in reports {
            let called = catch_unwind(AssertUnwindSafe(|| match (report, self) {
                (
                    Report::Failed(failure),
                    Self {
                        on_failure: Some(hook),
                        ..
                    },
                ) => hook(&failure),
                (
                    Report::Rejected(object),
                    Self {
                        on_rejected: Some(hook),
                        ..
                    },
                ) => hook(&object),
                _ => {}
            }));
            if let Err(panic) = called {
                panicked(panic_text(&*panic));
            }
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("on_failure", &self.on_failure.is_some())
            .field("on_rejected", &self.on_rejected.is_some())
            .finish()
    }
}
