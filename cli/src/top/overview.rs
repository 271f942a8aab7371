//! What is shown, as data.

use std::time::Duration;

use informer::{HandlerStatus, Phase, Status};
use serde::{Serialize, Serializer};

use super::followed::Followed;
use super::history::History;
use crate::screen::printable;
use crate::words::{self, age, counted};

/// The server sends a bookmark about once a minute.
const FRESH_WITHIN: Duration = Duration::from_secs(120);

/// All informers at one moment.
pub(crate) struct Overview {
    /// The server and the selection.
    pub(crate) place: String,
    pub(crate) informers: Vec<InformerRow>,
}

/// One informer. The JSON form has these fields in this order.
#[derive(Serialize)]
pub(crate) struct InformerRow {
    pub(crate) resource: String,
    pub(crate) phase: &'static str,
    pub(crate) fresh: bool,
    /// Why it is not fresh.
    pub(crate) why: Option<String>,
    pub(crate) objects: usize,
    pub(crate) relists: u64,
    pub(crate) failures: u64,
    /// The time since the last event or object.
    #[serde(rename = "last_event_seconds", serialize_with = "seconds")]
    pub(crate) last_event: Option<Duration>,
    pub(crate) handlers: Vec<HandlerRow>,
    /// `None` if the informer is looked at only once.
    #[serde(skip)]
    pub(crate) history: Option<History>,
}

/// One handler of an informer.
#[derive(Serialize)]
pub(crate) struct HandlerRow {
    pub(crate) backlog: usize,
    pub(crate) delivered: u64,
    /// Notifications that were merged with later ones.
    pub(crate) merged: u64,
    pub(crate) panics: u64,
    /// How long the current call has been running.
    #[serde(rename = "in_call_seconds", serialize_with = "seconds")]
    pub(crate) in_call: Option<Duration>,
}

impl Overview {
    pub(crate) fn of(place: String, followed: &[Followed]) -> Self {
        let row = |one: &Followed| {
            let fresh = one.informer.is_fresh(FRESH_WITHIN);
            InformerRow::of(
                &one.name,
                &one.informer.status(),
                fresh,
                one.history.clone(),
            )
        };
        Self {
            place,
            informers: followed.iter().map(row).collect(),
        }
    }
}

impl InformerRow {
    fn of(name: &str, status: &Status, fresh: bool, history: Option<History>) -> Self {
        Self {
            resource: printable(name),
            phase: words::phase(status),
            fresh,
            why: (!fresh).then(|| printable(&why(status))),
            objects: status.objects,
            relists: status.counts.full_states.saturating_sub(1),
            failures: status.counts.failures,
            last_event: status.last_event,
            handlers: status.handlers.iter().map(HandlerRow::of).collect(),
            history,
        }
    }
}

impl HandlerRow {
    fn of(status: &HandlerStatus) -> Self {
        Self {
            backlog: status.pending,
            delivered: status.delivered,
            merged: status.coalesced,
            panics: status.panics,
            in_call: status.in_call,
        }
    }
}

/// Why the cache does not follow the server.
fn why(status: &Status) -> String {
    let so_far = |items: u64| match status.synced {
        true => format!("reads the state again, {} so far", counted(items, "object")),
        false => format!("reads the first state, {} so far", counted(items, "object")),
    };
    match status.phase {
        Phase::Stopped => status
            .panic
            .clone()
            .unwrap_or_else(|| "it has ended".to_owned()),
        Phase::Idle => "it has not started".to_owned(),
        Phase::Suspended => "it is suspended".to_owned(),
        Phase::Waiting { until, .. } => {
            let left = age(until.since(status.at));
            format!("tries again in {left}: {}", words::reason(status))
        }
        Phase::Listing { items, .. } | Phase::Streaming { items } => so_far(items),
        Phase::Watching if !status.following => {
            "the server has not answered the watch yet".to_owned()
        }
        Phase::Watching if status.stalled => "a handler holds it up".to_owned(),
        Phase::Watching if status.queued > 0 => {
            let queued = counted(status.queued as u64, "change");
            format!("{queued} not in the cache yet")
        }
        Phase::Watching => match status.last_byte {
            Some(silence) => format!("the server has been silent for {}", age(silence)),
            None => "the server has sent nothing yet".to_owned(),
        },
    }
}

fn seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_millis() as f64 / 1000.0)
        .serialize(serializer)
}
