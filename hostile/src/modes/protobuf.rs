//! Lists and watches whose protobuf is wrong or endless, for informers that ask for it.

use bytes::Bytes;

use crate::mode::{Limit, Mode, Over, Program};
use crate::server::ask::Ask;
use crate::server::good::{self, end_bookmark, event as json_event};
use crate::server::protobuf::{
    MAGIC, PROTOBUF, begin, bookmark, event, event_with, field, frame, list, metadata_of_list, pod,
    wrapped,
};
use crate::server::reply::{Reply, Steps, for_ever, hang, say};

use super::{on_list, on_stream, on_watch};

/// An item that states this length is longer than any object may be, but not so long that the list is given up.
const TOO_LARGE: u64 = 20 << 20;

/// The type of a list, and the beginning of its contents, which claim to have no end.
fn endless_list() -> Vec<u8> {
    let kind = [field(1, "v1"), field(2, "PodList")].concat();
    let contents = begin(2, u64::MAX >> 1);
    [MAGIC, &field(1, kind), &contents, &metadata_of_list("900")].concat()
}

fn body(bytes: impl Into<Bytes>) -> Reply {
    steps(say(bytes))
}

fn steps(steps: Steps) -> Reply {
    Reply::steps(steps).with("content-type", PROTOBUF)
}

/// A list that begins like this and continues with `more`.
fn lists(begin: Vec<u8>, more: Steps) -> Reply {
    steps(Box::new(say(begin).chain(more)))
}

/// A list with two good pods and this item between them.
fn list_with(item: &[u8]) -> Reply {
    let items = [pod("a", "1001"), item.to_vec(), pod("b", "1002")];
    body(list("900", items.into_iter()))
}

/// A watch that sends this and stays open.
fn tells(bytes: impl Into<Bytes>) -> Reply {
    steps(Box::new(say(bytes).chain(hang())))
}

/// A mode for an informer that asks for protobuf.
const fn mode(
    name: &'static str,
    mechanism: &'static str,
    limit: Limit,
    answer: fn(&Ask) -> Option<Reply>,
) -> Mode {
    Mode::answers(name, mechanism, limit, answer).program(Program::ReadsProtobuf)
}

/// 64 KiB of zeros.
fn block() -> Vec<u8> {
    vec![0; 64 << 10]
}

pub(super) const MODES: &[Mode] = &[
    mode(
        "pb-other-magic",
        "list in protobuf of something else",
        Limit::Protobuf,
        |ask| on_list(ask, || body(b"k9s\0\x0a\x00".as_slice())),
    )
    .says("not protobuf of Kubernetes")
    .quick(),
    mode(
        "pb-is-json",
        "list in JSON, as protobuf",
        Limit::Protobuf,
        |ask| on_list(ask, || body(good::list("900", "", &good::pod("a", "1")))),
    )
    .says("it starts with: {\"kind\"")
    .quick(),
    mode(
        "pb-as-json",
        "list in protobuf, as JSON",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(list("900", [pod("a", "1")].into_iter()))),
    )
    .says("not a JSON object")
    .quick(),
    mode(
        "pb-cut-list",
        "list in protobuf that ends in an object",
        Limit::Protobuf,
        |ask| {
            on_list(ask, || {
                let mut bytes = list("900", [pod("a", "1"), pod("b", "2")].into_iter());
                bytes.truncate(bytes.len() - 12);
                body(bytes)
            })
        },
    )
    .over(Over::Http2)
    .says("the list ended at byte")
    .quick(),
    mode(
        "pb-huge-length",
        "object of a list that claims 2^60 bytes",
        Limit::ObjectBytes,
        |ask| {
            on_list(ask, || {
                lists(
                    [endless_list(), begin(2, 1 << 60)].concat(),
                    for_ever(block()),
                )
            })
        },
    )
    .says("longer than")
    .quick(),
    mode(
        "pb-large-objects",
        "objects of 20 MiB in a list without end",
        Limit::Unpacked,
        |ask| {
            on_list(ask, || {
                let item = [begin(2, TOO_LARGE), pod("large", "1"), begin(2, 0)].concat();
                let rest =
                    usize::try_from(TOO_LARGE).unwrap_or_default() + begin(2, TOO_LARGE).len();
                let padding = vec![0; rest.saturating_sub(item.len())];
                lists(endless_list(), for_ever([item, padding].concat()))
            })
        },
    )
    .says("max_list_bytes")
    .large_objects(),
    mode(
        "pb-endless-number",
        "number without end in a list",
        Limit::Protobuf,
        |ask| {
            on_list(ask, || {
                lists(
                    [endless_list(), vec![0x18]].concat(),
                    for_ever(vec![0xff; 1 << 10]),
                )
            })
        },
    )
    .says("more than 64 bits")
    .quick(),
    mode(
        "pb-endless-number-item",
        "object of a list with a number of 2 kB",
        Limit::RejectedObjects,
        |ask| {
            on_list(ask, || {
                list_with(&[pod("x", "1"), vec![0x18], vec![0xff; 2 << 10]].concat())
            })
        },
    )
    .says("; 1 left out")
    .quick(),
    mode(
        "pb-endless-groups",
        "groups in groups of a list, without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                lists(endless_list(), for_ever(vec![0x1b; 64 << 10]))
            })
        },
    )
    .says("between two elements"),
    mode(
        "pb-deep-groups",
        "object of a list with a million groups, not closed",
        Limit::RejectedObjects,
        |ask| {
            on_list(ask, || {
                list_with(&[pod("x", "1"), vec![0x1b; 1 << 20]].concat())
            })
        },
    )
    .says("; 1 left out")
    .quick(),
    mode(
        "pb-group-ends",
        "list with the end of a group that did not begin",
        Limit::Protobuf,
        |ask| on_list(ask, || body([endless_list(), vec![0x1c]].concat())),
    )
    .says("no valid number or type")
    .quick(),
    mode(
        "pb-not-an-object",
        "objects of a list that are text, empty, without metadata or without a name",
        Limit::RejectedObjects,
        |ask| {
            on_list(ask, || {
                let items = [
                    b"hello".to_vec(),
                    Vec::new(),
                    vec![0x08, 0x01],
                    field(1, field(6, "7")),
                ];
                body(list("900", items.into_iter()))
            })
        },
    )
    .says("; 4 left out")
    .quick(),
    mode(
        "pb-other-kind",
        "a pod in place of a list",
        Limit::Protobuf,
        |ask| on_list(ask, || body(wrapped("Pod", &pod("a", "1")))),
    )
    .says("has kind `Pod`")
    .quick(),
    mode(
        "pb-no-kind",
        "list in protobuf without its kind",
        Limit::Protobuf,
        |ask| {
            on_list(ask, || {
                body([MAGIC, &field(2, metadata_of_list("900"))].concat())
            })
        },
    )
    .says("does not state its kind")
    .quick(),
    mode(
        "pb-json-inside",
        "list in protobuf that wraps JSON",
        Limit::Protobuf,
        |ask| {
            on_list(ask, || {
                body(wrapped("PodList", good::list("900", "", "").as_bytes()))
            })
        },
    )
    .says("cannot read a field of the list")
    .quick(),
    mode(
        "pb-endless-list",
        "skipped bytes of a list without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                let skipped = [begin(9, 1 << 16), block()].concat();
                lists(endless_list(), for_ever(skipped))
            })
        },
    )
    .says("between two elements"),
    mode(
        "pb-broken-status",
        "failure that is broken protobuf",
        Limit::ErrorBody,
        |_| {
            let text = [MAGIC, b"\x0a\xff\xff\xff\x0f\x1b[31m\x07".as_slice()].concat();
            let reply = Reply::new(
                500,
                Box::new(say(text).chain(for_ever(vec![0xff; 1 << 10]))),
            );
            Some(reply.with("content-type", PROTOBUF))
        },
    )
    .says("HTTP 500")
    .quick(),
    mode(
        "pb-huge-frame",
        "frame of a watch that claims 4 GiB",
        Limit::ObjectBytes,
        |ask| on_watch(ask, || lists(vec![0xff; 4], for_ever(block()))),
    )
    .says("more than twice the limit")
    .quick(),
    mode(
        "pb-large-frames",
        "frames of 20 MiB without end",
        Limit::ObjectBytes,
        |ask| on_watch(ask, || steps(for_ever(frame(&vec![0; 20 << 20])))),
    )
    .says("larger than 16777216 bytes")
    .large_objects(),
    mode(
        "pb-cut-frame",
        "watch that ends in a frame",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                let mut bytes = event("ADDED", &pod("x", "1"));
                bytes.truncate(bytes.len() - 9);
                body(bytes)
            })
        },
    )
    .says("the watch ended at once")
    .quick(),
    mode(
        "pb-half-frame",
        "half of a frame, then silence",
        Limit::Nothing,
        |ask| on_watch(ask, || tells(b"\0\0\x01\0half".as_slice())),
    ),
    mode(
        "pb-empty-frames",
        "empty frames without end",
        Limit::Protobuf,
        |ask| on_watch(ask, || steps(for_ever(block()))),
    )
    .says("a frame of the watch")
    .quick(),
    mode(
        "pb-frame-number",
        "frame of a watch with a number of 2 kB",
        Limit::Protobuf,
        |ask| {
            on_watch(ask, || {
                tells(frame(&[vec![0x08], vec![0xff; 2 << 10]].concat()))
            })
        },
    )
    .over(Over::Http2)
    .says("more than 64 bits")
    .quick(),
    mode(
        "pb-frame-groups",
        "frame of a watch with a million groups, not closed",
        Limit::Protobuf,
        |ask| on_watch(ask, || tells(frame(&vec![0x1b; 1 << 20]))),
    )
    .says("a frame of the watch")
    .quick(),
    mode(
        "pb-bare-object",
        "event whose object has no magic bytes",
        Limit::RejectedObjects,
        |ask| on_watch(ask, || tells(event_with("ADDED", &pod("x", "1")))),
    )
    .says("; 1 left out")
    .quick(),
    mode(
        "pb-bookmark-bare",
        "bookmark whose object has no magic bytes",
        Limit::RejectedObjects,
        |ask| on_watch(ask, || tells(event_with("BOOKMARK", &pod("x", "1")))),
    )
    .says("; 1 left out")
    .quick(),
    mode(
        "pb-unknown-event",
        "event of an unknown type, in protobuf",
        Limit::RejectedObjects,
        |ask| on_watch(ask, || tells(event("EXPLODED", &pod("x", "1")))),
    )
    .says("; 1 left out")
    .quick(),
    mode(
        "pb-error-garbage",
        "ERROR event without a Status, in protobuf",
        Limit::Backoff,
        |ask| on_watch(ask, || body(event_with("ERROR", b"\x1b[31m\xff\xff"))),
    )
    .says("an ERROR event has no Status")
    .quick(),
    mode(
        "pb-watch-is-json",
        "watch in JSON, as protobuf",
        Limit::Protobuf,
        |ask| on_watch(ask, || tells(json_event("ADDED", &good::pod("x", "1")))),
    )
    .says("is the answer protobuf")
    .quick(),
    mode(
        "pb-watch-as-json",
        "watch in protobuf, as JSON",
        Limit::Json,
        |ask| {
            on_watch(ask, || {
                let bytes = [event("ADDED", &pod("x", "1")), bookmark("1009")].concat();
                Reply::ok(bytes)
            })
        },
    )
    .says("not a JSON object")
    .quick(),
    mode(
        "pb-cut-stream",
        "streamed list in protobuf that ends in a frame",
        Limit::EndOfState,
        |ask| {
            on_stream(ask, || {
                let mut bytes = event("ADDED", &pod("x", "1"));
                bytes.truncate(bytes.len() - 9);
                body(bytes)
            })
        },
    )
    .says("incomplete")
    .quick(),
    mode(
        "pb-stream-is-json",
        "streamed list in JSON, as protobuf",
        Limit::EndOfState,
        |ask| on_stream(ask, || tells(end_bookmark("900"))),
    )
    .says("is the answer protobuf")
    .quick(),
];
