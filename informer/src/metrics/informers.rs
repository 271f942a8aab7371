//! Metrics of informers, reflectors and handlers.

use std::fmt;
use std::time::Duration;

use informer_core::reflector::Tally;
use prometheus_client::encoding::DescriptorEncoder;

use super::write::{Row, Subject, Value, bytes, seconds, write_all};
use crate::inspect::{InformerPart, Named};
use crate::meters::InformerMeters;
use crate::status::{HandlerStatus, SourceStatus, Status};

/// The phases of an informer, by name.
const PHASES: [&str; 7] = [
    "idle",
    "listing",
    "streaming",
    "watching",
    "waiting",
    "suspended",
    "stopped",
];

/// A server sends bookmarks about once a minute; with twice that, one may be late.
const FRESH: Duration = Duration::from_secs(120);

struct Seen {
    status: Status,
    fresh: bool,
    meters: InformerMeters,
}

pub(super) fn write(
    parts: &[Named<dyn InformerPart>],
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let (mut informers, mut reflectors) = (Vec::new(), Vec::new());
    let (mut handlers, mut sources) = (Vec::new(), Vec::new());
    for Named { name, part } in parts {
        let status = part.status();
        let of_program = status.handlers.iter().filter(|it| !it.looks_on);
        let of_program: Vec<_> = of_program.copied().collect();
        let names = labels(of_program.iter().map(|it| it.name));
        for (handler, label) in of_program.iter().zip(names) {
            handlers.push(Subject {
                labels: vec![("informer", name.clone()), ("handler", label)],
                of: *handler,
            });
        }
        // What is said of the only source is said of the informer.
        if status.sources.len() > 1 {
            let names = labels(status.sources.iter().map(|it| it.name.as_str()));
            for (source, label) in status.sources.iter().zip(names) {
                sources.push(Subject {
                    labels: vec![("informer", name.clone()), ("source", label)],
                    of: source.clone(),
                });
            }
        }
        let meters = part.measure();
        let fresh = part.is_fresh(FRESH);
        let seen = |status, meters| Seen {
            status,
            fresh,
            meters,
        };
        reflectors.push(Subject {
            labels: vec![("name", name.clone())],
            of: seen(status.clone(), meters.clone()),
        });
        informers.push(Subject {
            labels: vec![("informer", name.clone())],
            of: seen(status, meters),
        });
    }
    write_all(INFORMER, &informers, encoder)?;
    write_all(REFLECTOR, &reflectors, encoder)?;
    write_all(SOURCE, &sources, encoder)?;
    write_all(HANDLER, &handlers, encoder)
}

fn by_class(tally: &Tally) -> Vec<(&'static str, Value)> {
    let all = tally.iter();
    all.map(|(failure, count)| (failure.name(), count.into()))
        .collect()
}

const INFORMER: &[Row<Seen>] = &[
    Row::gauge("informer_objects", "Objects in the cache", |it| {
        it.status.objects.into()
    }),
    bytes(Row::gauge(
        "informer_objects_size",
        "Size of the objects in the cache, as the server sent them",
        |it| it.status.bytes.into(),
    )),
    Row::gauges(
        "informer_phase",
        "Whether the informer is in this phase",
        "phase",
        |it| {
            let now = it.status.phase.name();
            PHASES.map(|phase| (phase, (phase == now).into())).into()
        },
    ),
    seconds(Row::gauge(
        "informer_phase_duration",
        "Time in the current phase",
        |it| it.status.phase_for.into(),
    )),
    Row::gauge(
        "informer_synced",
        "Whether the cache holds the first full state",
        |it| it.status.synced.into(),
    ),
    Row::gauge(
        "informer_following",
        "Whether the server has answered a watch and nothing has failed since",
        |it| it.status.following.into(),
    ),
    Row::gauge(
        "informer_fresh",
        "Whether the cache follows the server, which was heard within two minutes",
        |it| it.fresh.into(),
    ),
    Row::gauge(
        "informer_kind_gone",
        "Whether the server does not serve the kind",
        |it| it.status.gone.into(),
    ),
    Row::gauge(
        "informer_stalled",
        "Whether a handler holds up the informer",
        |it| it.status.stalled.into(),
    ),
    seconds(Row::gauge(
        "informer_last_byte_age",
        "Time since the last byte from the server",
        |it| it.status.last_byte.into(),
    )),
    seconds(Row::gauge(
        "informer_last_event_age",
        "Time since the last event or object",
        |it| it.status.last_event.into(),
    )),
    seconds(Row::gauge(
        "informer_last_bookmark_age",
        "Time since the last bookmark",
        |it| it.status.last_bookmark.into(),
    )),
    Row::gauge(
        "informer_queued_items",
        "Received changes that are not in the cache yet",
        |it| it.status.queued.into(),
    ),
    Row::counter(
        "informer_full_states",
        "Full states read, the first and all relists",
        |it| it.status.counts.full_states.into(),
    ),
    Row::counters(
        "informer_relists",
        "Full states read again, by the failure that made it necessary",
        "cause",
        |it| by_class(&it.status.requests.relists),
    ),
    Row::counters(
        "informer_failures",
        "Lists and watches that failed, by class",
        "class",
        |it| by_class(&it.status.requests.failures),
    ),
    Row::counter("informer_bookmarks", "Bookmarks received", |it| {
        it.status.counts.bookmarks.into()
    }),
    bytes(Row::counter("informer_received", "Bytes received", |it| {
        it.status.counts.bytes.into()
    })),
    Row::counter(
        "informer_received_objects",
        "Objects received in lists and events",
        |it| it.status.counts.objects.into(),
    ),
    Row::counter(
        "informer_suppressed_updates",
        "Changes that changed nothing and made no notification",
        |it| it.status.counts.suppressed.into(),
    ),
    Row::counter(
        "informer_rejected_objects",
        "Objects that could not be used",
        |it| it.status.counts.rejected.into(),
    ),
    Row::counter(
        "informer_snapshots",
        "Snapshots of the cache published to readers",
        |it| it.status.snapshots.into(),
    ),
    seconds(Row::histogram(
        "informer_decode_duration",
        "Time to decode a received piece, of up to 256 KiB, and to put it into the cache",
        |it| &it.meters.decode,
    )),
    seconds(Row::histogram(
        "informer_delivery_duration",
        "Time that a batch of notifications waited for its handler",
        |it| &it.meters.delivery,
    )),
];

const REFLECTOR: &[Row<Seen>] = &[
    Row::counter(
        "reflector_lists",
        "Lists begun; the pages of a list count once",
        |it| it.status.requests.lists.into(),
    ),
    Row::counter(
        "reflector_watches",
        "Watches begun, including those that begin with a streamed state",
        |it| it.status.requests.watches.into(),
    ),
    Row::counter(
        "reflector_short_watches",
        "Watches that ended within a second without an event",
        |it| {
            let failures = &it.status.requests.failures;
            failures.of(informer_core::Failure::ShortWatch).into()
        },
    ),
    seconds(Row::histogram(
        "reflector_list_duration",
        "Time to read a full state, listed or streamed",
        |it| &it.meters.list,
    )),
    Row::histogram(
        "reflector_items_per_list",
        "Objects of a full state, listed or streamed",
        |it| &it.meters.items,
    ),
    Row::gauge(
        "reflector_last_resource_version",
        "The version up to which the server has sent all changes, if it is a number",
        |it| {
            let version = it.status.version.as_deref();
            version
                .and_then(|version| version.parse::<u64>().ok())
                .into()
        },
    ),
];

const SOURCE: &[Row<SourceStatus>] = &[
    Row::gauge(
        "informer_source_synced",
        "Whether the cache holds the first full state of the source",
        |it| it.synced.into(),
    ),
    Row::gauge(
        "informer_source_following",
        "Whether the server has answered a watch of the source and nothing has failed since",
        |it| it.following.into(),
    ),
    seconds(Row::gauge(
        "informer_source_last_byte_age",
        "Time since the last byte from the server for the source",
        |it| it.last_byte.into(),
    )),
    Row::counters(
        "informer_source_failures",
        "Lists and watches of the source that failed, by class",
        "class",
        |it| by_class(&it.requests.failures),
    ),
];

const HANDLER: &[Row<HandlerStatus>] = &[
    Row::gauge(
        "informer_handler_pending",
        "Notifications that the handler has not finished",
        |it| it.pending.into(),
    ),
    Row::counter(
        "informer_handler_delivered",
        "Notifications that the handler has finished",
        |it| it.delivered.into(),
    ),
    Row::counter(
        "informer_handler_coalesced",
        "Notifications that were merged with later ones",
        |it| it.coalesced.into(),
    ),
    Row::gauge(
        "informer_handler_paused",
        "Whether the handler is paused",
        |it| it.paused.into(),
    ),
    Row::counter("informer_handler_panics", "Panics of the handler", |it| {
        it.panics.into()
    }),
    seconds(Row::gauge(
        "informer_handler_behind",
        "Time for which the handler has had something to do without a break; 0 if it has caught up",
        |it| it.waited.unwrap_or_default().into(),
    )),
    seconds(Row::gauge(
        "informer_handler_in_call",
        "Time for which the current call has been running; 0 between calls",
        |it| it.in_call.unwrap_or_default().into(),
    )),
];

/// Names that differ. The second handler of the same type is called `name #2`: numbers that are never used again
/// would make new series for ever.
fn labels<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let all = names.clone().enumerate();
    let labels =
        all.map(
            |(at, name)| match names.clone().take(at).filter(|it| *it == name).count() {
                0 => name.to_owned(),
                same => format!("{name} #{}", same + 1),
            },
        );
    labels.collect()
}
