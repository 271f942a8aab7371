//! Answers that no server means.

use informer_core::transport::{At, Request};

use crate::fault::{Fault, Line};

/// A version that nobody would believe.
const LONG: usize = 100_000;

/// The whole body that is sent instead of an answer, if the fault consists of one. `nth` is a number
/// that no other request has.
pub(crate) fn forged(fault: Fault, request: Request<'_>, nth: u64) -> Option<Vec<u8>> {
    let body = match (fault, request) {
        (
            Fault::Flicker(line),
            Request::Watch {
                version: At::Version(version),
                initial_events: false,
                ..
            },
        ) => match line {
            Line::Bookmark => bookmark(version),
            Line::Garbage => bookmark("garbage"),
            Line::Long => bookmark(&"1".repeat(LONG)),
            Line::Strange => "{\"type\":\"STRANGE\",\"object\":{}}\n".to_owned(),
        },
        (Fault::EndlessPages { repeats }, Request::List { .. }) => {
            let token = if repeats { 0 } else { nth };
            format!(
                r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"1","continue":"forged-{token}"}},"items":[]}}"#
            )
        }
        _ => return None,
    };
    Some(body.into_bytes())
}

fn bookmark(version: &str) -> String {
    format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{version}\"}}}}}}\n"
    )
}
