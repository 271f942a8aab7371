//! Lists with malformed or endless text.

use crate::mode::{Limit, Mode, Over, Program};
use crate::server::good::{list, pod};
use crate::server::reply::{Reply, Step, Steps, counting, for_ever, say, times};

use super::{LOST, on_list};

const ITEMS: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"900"},"items":["#;

/// Every key twice, with different values.
const TWICE: &str = concat!(
    r#"{"items":[],"kind":"PodList","kind":7,"metadata":{"resourceVersion":"1"},"items":["#,
    r#"{"metadata":{"name":"x","name":"y","namespace":"web"},"metadata":{}}],"#,
    r#""metadata":{"resourceVersion":"2","resourceVersion":"3"}}"#
);

/// An object with numbers beyond the range of f64.
const HUGE_NUMBERS: &str = concat!(
    r#"{"metadata":{"name":"a","namespace":"web","resourceVersion":"1"},"#,
    r#""spec":{"x":1e400,"y":-1e99999999999}}"#
);

const NOT_UTF8: &[u8] = b"{\"metadata\":{\"name\":\"a\xff\xfe\",\"namespace\":\"web\"}}";

/// A list whose `items` have this value.
fn items_are(value: &str) -> Reply {
    let head = r#"{"kind":"PodList","metadata":{"resourceVersion":"900"},"items":"#;
    Reply::ok(format!("{head}{value}}}"))
}

/// The beginning of an object, up to its labels.
fn labelled(n: usize) -> String {
    let comma = if n == 0 { "" } else { "," };
    let metadata = format!(r#"{{"name":"p{n}","namespace":"web","labels":{{"a":"b""#);
    format!(r#"{comma}{{"metadata":{metadata}"#)
}

/// The beginning of an object, up to a long text.
fn named(n: usize) -> String {
    let comma = if n == 0 { "" } else { "," };
    let metadata = format!(r#"{{"name":"p{n}","namespace":"web"}}"#);
    format!(r#"{comma}{{"metadata":{metadata},"data":""#)
}

/// A list that begins with `begin` and continues with `more`.
fn text(begin: impl Into<String>, more: Steps) -> Reply {
    Reply::steps(say(begin.into()).chain(more))
}

/// A list with one item that begins with `begin` and continues with `more`.
fn item(begin: &str, more: Steps) -> Reply {
    text(format!("{ITEMS}{begin}"), more)
}

/// A list with these items.
fn items(items: impl AsRef<[u8]>) -> Reply {
    Reply::ok([ITEMS.as_bytes(), items.as_ref(), b"]}"].concat())
}

fn block(byte: u8) -> Vec<u8> {
    vec![byte; 64 << 10]
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "endless-element",
        "object of a list without end",
        Limit::ObjectBytes,
        |ask| {
            on_list(ask, || {
                item(
                    r#"{"metadata":{"name":"a","namespace":"web"},"spec":["#,
                    for_ever(r#""x","#.repeat(4 << 10)),
                )
            })
        },
    ),
    Mode::answers(
        "endless-string",
        "string of an object without end",
        Limit::ObjectBytes,
        |ask| {
            on_list(ask, || {
                item(
                    r#"{"metadata":{"name":"a","namespace":"web"},"data":""#,
                    for_ever(block(b'x')),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "endless-name",
        "name of an object without end",
        Limit::ObjectBytes,
        |ask| {
            on_list(ask, || {
                item(r#"{"metadata":{"name":""#, for_ever(block(b'x')))
            })
        },
    ),
    Mode::answers(
        "endless-kind",
        "kind of a list without end",
        Limit::ListHead,
        |ask| on_list(ask, || text(r#"{"kind":""#, for_ever(block(b'x')))),
    ),
    Mode::answers(
        "endless-key",
        "key of a list without end",
        Limit::ListHead,
        |ask| on_list(ask, || text(r#"{""#, for_ever(block(b'x')))),
    ),
    Mode::answers(
        "endless-metadata",
        "metadata of a list without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                text(
                    r#"{"kind":"PodList","metadata":{"#,
                    for_ever(r#""x":"y","#.repeat(2 << 10)),
                )
            })
        },
    ),
    Mode::answers(
        "endless-field",
        "unknown field of a list without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                text(
                    r#"{"kind":"PodList","other":["#,
                    for_ever("1,".repeat(8 << 10)),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "endless-number",
        "number without end",
        Limit::ObjectBytes,
        |ask| {
            on_list(ask, || {
                item(
                    r#"{"metadata":{"name":"a","generation":"#,
                    for_ever(block(b'1')),
                )
            })
        },
    ),
    Mode::answers(
        "endless-space-before",
        "spaces before a list, without end",
        Limit::ListHead,
        |ask| on_list(ask, || Reply::new(200, for_ever(block(b' ')))),
    ),
    Mode::answers(
        "endless-space-between",
        "spaces between items, without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                item(&format!("{},", pod("a", "1")), for_ever(block(b'\n')))
            })
        },
    ),
    Mode::answers(
        "endless-space-after",
        "spaces after a list, without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                text(list(LOST, "", &pod("a", "1")), for_ever(block(b' ')))
            })
        },
    ),
    Mode::answers(
        "endless-items",
        "items without end",
        Limit::StoreRoom,
        |ask| {
            on_list(ask, || {
                item(
                    &pod("a", "1"),
                    counting(|n| {
                        (0..100)
                            .map(|m| format!(",{}", pod(&format!("p{n}-{m}"), "1")))
                            .collect()
                    }),
                )
            })
        },
    )
    .program(Program::InformsWithinLimits),
    Mode::answers(
        "endless-same-item",
        "one item again and again, without end",
        Limit::ListTimeout,
        |ask| {
            on_list(ask, || {
                item(
                    &pod("a", "1"),
                    for_ever(format!(",{}", pod("a", "1")).repeat(100)),
                )
            })
        },
    ),
    Mode::answers(
        "endless-rejected",
        "items without a name, without end",
        Limit::Reports,
        |ask| {
            on_list(ask, || {
                item("{}", for_ever(r#",{"metadata":{}}"#.repeat(1000)))
            })
        },
    ),
    Mode::answers(
        "endless-nulls",
        "nulls in place of items, without end",
        Limit::Reports,
        |ask| on_list(ask, || item("null", for_ever(",null".repeat(3000)))),
    )
    .over(Over::Http2),
    Mode::answers(
        "million-objects",
        "a million small objects",
        Limit::StoreRoom,
        |ask| {
            on_list(ask, || {
                let many = (1..=10_000).map(|n| {
                    let some = (0..100).map(|m| format!(",{}", pod(&format!("p{n}-{m}"), "1")));
                    Step::Say(some.collect::<String>().into())
                });
                text(
                    format!("{ITEMS}{}", pod("a", "1")),
                    Box::new(many.chain(say("]}"))),
                )
            })
        },
    )
    .says("the limit of")
    .program(Program::InformsWithinLimits),
    Mode::answers(
        "large-objects",
        "200 objects of 15 MB",
        Limit::StoreRoom,
        |ask| {
            on_list(ask, || {
                let large = (0..200).flat_map(|n| {
                    say(named(n))
                        .chain(times(240, block(b'x')))
                        .chain(say("\"}"))
                });
                text(ITEMS, Box::new(large.chain(say("]}"))))
            })
        },
    )
    .large_objects()
    .program(Program::InformsWithinLimits),
    Mode::answers(
        "large-names",
        "200 objects that are nested too deep, with names of 15 MB",
        Limit::Reports,
        |ask| {
            on_list(ask, || {
                let deep = format!(r#""}},"x":{}1{}}}"#, "[".repeat(2_000), "]".repeat(2_000));
                let large = (0..200).flat_map(move |n| {
                    let comma = if n == 0 { "" } else { "," };
                    let begin = format!(r#"{comma}{{"metadata":{{"name":"p{n}"#);
                    say(begin)
                        .chain(times(240, block(b'x')))
                        .chain(say(deep.clone()))
                });
                text(ITEMS, Box::new(large.chain(say("]}"))))
            })
        },
    )
    .large_objects(),
    Mode::answers(
        "large-labels",
        "objects with 10 MB of labels",
        Limit::StoreRoom,
        |ask| {
            on_list(ask, || {
                let large = (0..100).flat_map(|n| {
                    let labels =
                        (0..10_000).map(move |m| format!(r#","l{m}":"{}""#, "x".repeat(1_000)));
                    let labels = labels.map(|label| Step::Say(label.into()));
                    say(labelled(n)).chain(labels).chain(say("}}}"))
                });
                text(ITEMS, Box::new(large.chain(say("]}"))))
            })
        },
    )
    .large_objects()
    .program(Program::InformsWithinLimits),
    Mode::answers(
        "deep-object",
        "object nested 100,000 deep",
        Limit::Depth,
        |ask| {
            on_list(ask, || {
                let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
                let metadata = r#"{"name":"a","namespace":"web"}"#;
                items(format!(r#"{{"metadata":{metadata},"x":{open}1{close}}}"#))
            })
        },
    )
    .quick(),
    Mode::answers(
        "deep-without-end",
        "list nested without end",
        Limit::ListHead,
        |ask| {
            on_list(ask, || {
                text(r#"{"kind":"PodList","x":"#, for_ever(block(b'[')))
            })
        },
    ),
    Mode::answers(
        "deep-braces",
        "metadata of a list nested 100,000 deep",
        Limit::Depth,
        |ask| {
            on_list(ask, || {
                text(
                    format!(
                        r#"{{"kind":"PodList","metadata":{}"#,
                        r#"{"a":"#.repeat(100_000)
                    ),
                    say("1"),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "many-keys",
        "object with a million keys",
        Limit::Nothing,
        |ask| {
            on_list(ask, || {
                item(
                    r#"{"metadata":{"name":"a","namespace":"web"}"#,
                    Box::new(
                        (0..1_000)
                            .map(|n| {
                                (0..1_000)
                                    .map(|m| format!(r#","{n}-{m}":0"#))
                                    .collect::<String>()
                            })
                            .map(|text| Step::Say(text.into()))
                            .chain(say("}]}")),
                    ),
                )
            })
        },
    ),
    Mode::answers(
        "duplicate-keys",
        "names, versions and items twice",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(TWICE)),
    )
    .says("kind")
    .quick(),
    Mode::answers("items-null", "items null", Limit::Nothing, |ask| {
        on_list(ask, || items_are("null"))
    })
    .quick(),
    Mode::answers(
        "items-object",
        "items that are an object",
        Limit::Json,
        |ask| on_list(ask, || items_are(r#"{"a":{}}"#)),
    )
    .quick(),
    Mode::answers(
        "items-text",
        "items that are a text with a list in it",
        Limit::Json,
        |ask| on_list(ask, || items_are(r#""[]""#)),
    )
    .says("not an array")
    .over(Over::Http2)
    .quick(),
    Mode::answers("no-items", "list without items", Limit::Json, |ask| {
        on_list(ask, || {
            Reply::ok(r#"{"kind":"PodList","metadata":{"resourceVersion":"900"}}"#)
        })
    })
    .quick(),
    Mode::answers(
        "wrong-kind",
        "one object in place of a list",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(pod("a", "1"))),
    )
    .says("not a list")
    .quick(),
    Mode::answers(
        "a-number",
        "number in place of a list",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok("42")),
    )
    .says("not a JSON object")
    .quick(),
    Mode::answers("an-array", "array in place of a list", Limit::Json, |ask| {
        on_list(ask, || Reply::ok(format!("[{}]", pod("a", "1"))))
    })
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "cut-list",
        "list that ends within an item",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(format!("{ITEMS}{{\"metadata\":"))),
    )
    .says("before it was complete")
    .quick(),
    Mode::answers("two-lists", "two lists in one answer", Limit::Json, |ask| {
        on_list(ask, || Reply::ok(list(LOST, "", "").repeat(2)))
    })
    .quick(),
    Mode::answers(
        "trailing-comma",
        "comma after the last item",
        Limit::Json,
        |ask| on_list(ask, || items(format!("{},", pod("a", "1")))),
    )
    .says("not valid JSON")
    .quick(),
    Mode::answers(
        "not-utf8",
        "bytes in a name that are not UTF-8",
        Limit::RejectedObjects,
        |ask| on_list(ask, || items(NOT_UTF8)),
    )
    .quick(),
    Mode::answers(
        "byte-order-mark",
        "byte order mark before a list",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(format!("\u{feff}{}", list(LOST, "", "")))),
    )
    .says("not a JSON object")
    .quick(),
    Mode::answers("nul-bytes", "NUL within a list", Limit::Json, |ask| {
        on_list(ask, || {
            Reply::ok(list(LOST, "", &pod("a", "1")).replace(':', ":\0"))
        })
    })
    .quick(),
    Mode::answers(
        "control-characters",
        "escape sequences in a name",
        Limit::RejectedObjects,
        |ask| on_list(ask, || items(pod("a\\u001b[31m", "1"))),
    )
    .quick(),
    Mode::answers(
        "raw-controls",
        "raw control characters in a string",
        Limit::RejectedObjects,
        |ask| on_list(ask, || items(pod("a\x07\n", "1"))),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "lone-surrogates",
        "half a character in a name",
        Limit::RejectedObjects,
        |ask| on_list(ask, || items(pod("a\\ud800", "1"))),
    )
    .quick(),
    Mode::answers(
        "huge-numbers",
        "numbers beyond f64",
        Limit::RejectedObjects,
        |ask| on_list(ask, || items(HUGE_NUMBERS)),
    )
    .quick(),
];
