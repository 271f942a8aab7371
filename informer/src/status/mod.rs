//! Health of informers and handlers, for people and probes.

// A status in words.
mod explain;

// A status as JSON.
mod data;

// What one source is doing.
mod source;

use std::time::Duration;

use informer_core::Instant;
use informer_core::informer::Counts;
use informer_core::reflector::{History, LastFailure, Phase};

use crate::engine::State;
use crate::runtime::RuntimeError;

pub(crate) use data::{seconds, some_seconds};
pub(crate) use explain::{DROPPED, GONE, NEW_RUNTIME, PANICKED};
pub use source::SourceStatus;

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
    /// The resource, namespace and selectors that it follows. With several sources, it is the name of the first
    /// one that it was built with, and says how many more there were.
    pub name: String,
    /// When this was so, on the clock of the runtime.
    pub at: Instant,
    /// Whether the informer was started.
    pub started: bool,
    /// The current phase. While the informer waits, it says why and until when. With several sources, it is the
    /// phase of one that does not follow the server, if there is one.
    pub phase: Phase,
    /// How long it has been in this phase.
    pub phase_for: Duration,
    /// Whether the cache holds the first full state, of all sources. Once true, it becomes false again only when
    /// a source is added.
    pub synced: bool,
    /// Whether the server has answered a watch and nothing has failed since, for all sources.
    pub following: bool,
    /// Whether the server does not serve the kind: it answered the last list with 404. The CRD of a custom
    /// kind may not be installed yet, or no longer. See [`WhenGone`](informer_core::reflector::WhenGone) for
    /// what happens then. After a stop, this is true only if that was the reason.
    pub gone: bool,
    /// The version up to which the server has sent all changes; `None` before the first full state, and with
    /// several sources, each of which has a version of its own.
    pub version: Option<String>,
    /// The number of objects in the cache.
    pub objects: usize,
    /// The size of these objects as the server sent them, in bytes. Packed objects take a fraction of it in
    /// memory, and complete Rust types a multiple.
    pub bytes: u64,
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
    /// What was asked of the server since the start, and what came of it: lists, watches, failures by class
    /// and relists by cause.
    pub requests: History,
    /// How many snapshots of the cache were published to readers.
    pub snapshots: u64,
    /// The status of each source: a target with requests of its own.
    pub sources: Vec<SourceStatus>,
    /// The status of the informers on `namespaces` that decide which sources there are: see
    /// [`follow_namespaces`](crate::SharedInformer::follow_namespaces).
    pub namespaces: Vec<Status>,
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

impl Status {
    /// Without `namespaces`, which are other informers.
    pub(crate) fn of<K: Send + Sync + 'static>(name: &str, state: &State<K>, now: Instant) -> Self {
        let status = state.core.status();
        let sources = state.source_statuses(now);
        let behind = sources.iter().find(|it| !it.leaving && !it.following);
        let shown = behind.or(sources.first());
        let age = |at: Option<Instant>| at.map(|at| now.since(at));
        Self {
            name: name.to_owned(),
            at: now,
            started: state.started,
            phase: status.phase,
            phase_for: shown.map_or(Duration::ZERO, |it| it.phase_for),
            synced: status.synced,
            following: status.following,
            gone: status.gone,
            version: status.version.map(str::to_owned),
            objects: status.objects,
            bytes: state.core.store().bytes(),
            queued: status.queued,
            stalled: status.stalled,
            unswept: status.unswept,
            last_failure: status.last_failure.cloned(),
            last_byte: age(status.last_byte),
            last_event: age(status.last_event),
            last_bookmark: age(status.last_bookmark),
            counts: state.counts(&sources),
            requests: state.requests(&sources),
            sources,
            namespaces: Vec::new(),
            snapshots: state.snapshots,
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
            let handlers = (
                count(|it| it.synced),
                count(|it| it.lost),
                count(|it| it.paused),
            );
            let discriminant = |phase| std::mem::discriminant(phase);
            let sources = status.sources.iter();
            let sources = sources.map(|it| (it.id, discriminant(&it.phase)));
            let counts = (status.counts.failures, status.counts.full_states);
            (
                discriminant(&status.phase),
                sources.collect::<Vec<_>>(),
                status.started,
                status.synced,
                counts,
                handlers,
                status.panic.is_some(),
            )
        };
        what(self) != what(other)
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct HandlerStatus {
    /// Tells the handlers of an informer apart. Never used again.
    pub id: u64,
    /// The type of the handler, as the compiler names it; `stream` for a stream.
    pub name: &'static str,
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
    /// Whether the handler is [paused](crate::Registration::pause).
    pub paused: bool,
    /// How long the current call has been running; `None` between calls, and for a stream. A call that
    /// does not return holds up this handler, and with `Backlog::Stall` the whole informer.
    #[serde(serialize_with = "some_seconds")]
    pub in_call: Option<Duration>,
    /// For how long the handler has had something to do without a break; `None` if it has caught up.
    #[serde(serialize_with = "some_seconds")]
    pub waited: Option<Duration>,
    /// Whether the task of the handler was lost because its runtime has ended. The handler gets no more
    /// notifications.
    pub lost: bool,
    /// Whether this is no handler of the program, but the operations port, which takes changes when it has
    /// time.
    pub looks_on: bool,
}
