//! A status as JSON: durations in seconds, and times as how long ago they were.

use std::time::Duration;

use informer_core::Instant;
use informer_core::informer::Counts;
use informer_core::reflector::{FullState, History, LastFailure, Phase, Tally};
use serde::{Serialize, Serializer};

use super::{HandlerStatus, SourceStatus, Status};

pub(crate) fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

#[expect(clippy::ref_option, reason = "the form that serde calls")]
pub(crate) fn some_seconds<S: Serializer>(
    time: &Option<Duration>,
    to: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(to)
}

/// A point in time means nothing outside of the program, so `at` is left out, and ages take its place.
impl Serialize for Status {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        StatusData::of(self).serialize(to)
    }
}

#[derive(Serialize)]
struct StatusData<'a> {
    name: &'a str,
    started: bool,
    phase: PhaseData,
    synced: bool,
    following: bool,
    gone: bool,
    version: Option<&'a str>,
    objects: usize,
    bytes: u64,
    queued: usize,
    stalled: bool,
    unswept: bool,
    last_failure: Option<FailureData<'a>>,
    #[serde(serialize_with = "some_seconds")]
    last_byte: Option<Duration>,
    #[serde(serialize_with = "some_seconds")]
    last_event: Option<Duration>,
    #[serde(serialize_with = "some_seconds")]
    last_bookmark: Option<Duration>,
    counts: CountsData,
    requests: RequestsData,
    snapshots: u64,
    sources: Vec<SourceData<'a>>,
    namespaces: &'a [Status],
    handlers: &'a [HandlerStatus],
    panic: Option<&'a str>,
    lost: Option<String>,
    dropped: bool,
}

impl<'a> StatusData<'a> {
    fn of(status: &'a Status) -> Self {
        // Names every field, so that a new one is not forgotten.
        let Status {
            name,
            at,
            started,
            phase,
            phase_for,
            synced,
            following,
            gone,
            version,
            objects,
            bytes,
            queued,
            stalled,
            unswept,
            last_failure,
            last_byte,
            last_event,
            last_bookmark,
            counts,
            requests,
            snapshots,
            sources,
            namespaces,
            handlers,
            panic,
            lost,
            dropped,
        } = status;
        Self {
            name,
            started: *started,
            phase: PhaseData {
                seconds: phase_for.as_secs_f64(),
                ..PhaseData::of(*phase, |until| until.since(*at))
            },
            synced: *synced,
            following: *following,
            gone: *gone,
            version: version.as_deref(),
            objects: *objects,
            bytes: *bytes,
            queued: *queued,
            stalled: *stalled,
            unswept: *unswept,
            last_failure: last_failure.as_ref().map(|last| FailureData::of(last, *at)),
            last_byte: *last_byte,
            last_event: *last_event,
            last_bookmark: *last_bookmark,
            counts: CountsData::of(*counts),
            requests: RequestsData::of(requests),
            snapshots: *snapshots,
            sources: sources.iter().map(|it| SourceData::of(it, *at)).collect(),
            namespaces,
            handlers,
            panic: panic.as_deref(),
            lost: lost.as_ref().map(ToString::to_string),
            dropped: *dropped,
        }
    }
}

#[derive(Serialize)]
struct SourceData<'a> {
    id: u16,
    name: &'a str,
    cluster: &'a str,
    namespace: Option<&'a str>,
    phase: PhaseData,
    synced: bool,
    following: bool,
    gone: bool,
    leaving: bool,
    version: Option<&'a str>,
    unswept: bool,
    last_failure: Option<FailureData<'a>>,
    #[serde(serialize_with = "some_seconds")]
    last_byte: Option<Duration>,
    #[serde(serialize_with = "some_seconds")]
    last_event: Option<Duration>,
    #[serde(serialize_with = "some_seconds")]
    last_bookmark: Option<Duration>,
    counts: CountsData,
    requests: RequestsData,
}

impl<'a> SourceData<'a> {
    fn of(status: &'a SourceStatus, at: Instant) -> Self {
        let SourceStatus {
            id,
            name,
            cluster,
            target,
            phase,
            phase_for,
            synced,
            following,
            gone,
            leaving,
            version,
            unswept,
            last_failure,
            last_byte,
            last_event,
            last_bookmark,
            counts,
            requests,
        } = status;
        Self {
            id: id.number(),
            name,
            cluster,
            namespace: target.namespace.as_deref(),
            phase: PhaseData {
                seconds: phase_for.as_secs_f64(),
                ..PhaseData::of(*phase, |until| until.since(at))
            },
            synced: *synced,
            following: *following,
            gone: *gone,
            leaving: *leaving,
            version: version.as_deref(),
            unswept: *unswept,
            last_failure: last_failure.as_ref().map(|last| FailureData::of(last, at)),
            last_byte: *last_byte,
            last_event: *last_event,
            last_bookmark: *last_bookmark,
            counts: CountsData::of(*counts),
            requests: RequestsData::of(requests),
        }
    }
}

/// A phase. Only the members that belong to it are there.
#[derive(Serialize, Default)]
struct PhaseData {
    name: &'static str,
    /// For people.
    text: String,
    /// For how long it has been in this phase.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_left: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<String>,
}

impl PhaseData {
    fn of(phase: Phase, left: impl Fn(Instant) -> Duration) -> Self {
        let bare = Self {
            name: phase.name(),
            text: phase.to_string(),
            ..Self::default()
        };
        match phase {
            Phase::Listing { items, remaining } => Self {
                items: Some(items),
                remaining,
                ..bare
            },
            Phase::Streaming { items } => Self {
                items: Some(items),
                ..bare
            },
            Phase::Waiting { until, cause, then } => Self {
                seconds_left: Some(left(until).as_secs_f64()),
                cause: Some(cause.name()),
                then: Some(then.to_string()),
                ..bare
            },
            Phase::Idle | Phase::Watching | Phase::Suspended | Phase::Stopped => bare,
        }
    }
}

#[derive(Serialize)]
struct FailureData<'a> {
    failure: &'static str,
    /// What the failure means.
    text: &'static str,
    /// What the server or the transport said.
    message: &'a str,
    seconds_ago: f64,
}

impl<'a> FailureData<'a> {
    fn of(last: &'a LastFailure<String>, now: Instant) -> Self {
        Self {
            failure: last.failure.name(),
            text: last.failure.describe(),
            message: &last.message,
            seconds_ago: now.since(last.at).as_secs_f64(),
        }
    }
}

#[derive(Serialize)]
struct CountsData {
    bytes: u64,
    objects: u64,
    bookmarks: u64,
    full_states: u64,
    failures: u64,
    rejected: u64,
    reports_lost: u64,
    suppressed: u64,
}

impl CountsData {
    const fn of(counts: Counts) -> Self {
        Self {
            bytes: counts.bytes,
            objects: counts.objects,
            bookmarks: counts.bookmarks,
            full_states: counts.full_states,
            failures: counts.failures,
            rejected: counts.rejected,
            reports_lost: counts.reports_lost,
            suppressed: counts.suppressed,
        }
    }
}

#[derive(Serialize)]
struct RequestsData {
    lists: u64,
    watches: u64,
    #[serde(serialize_with = "by_class")]
    failures: Tally,
    #[serde(serialize_with = "by_class")]
    relists: Tally,
    /// The newest one.
    full_state: Option<FullStateData>,
}

#[derive(Serialize)]
struct FullStateData {
    items: u64,
    seconds: f64,
}

impl RequestsData {
    fn of(history: &History) -> Self {
        let full_state = |state: FullState| FullStateData {
            items: state.items,
            seconds: state.took.as_secs_f64(),
        };
        Self {
            lists: history.lists,
            watches: history.watches,
            failures: history.failures,
            relists: history.relists,
            full_state: history.full_state.map(full_state),
        }
    }
}

fn by_class<S: Serializer>(tally: &Tally, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(tally.iter().map(|(failure, count)| (failure.name(), count)))
}
