//! Forged answers that no real server sends.

use informer_core::transport::{At, Request};

use crate::fault::{Fault, FlickerLine};

/// The length of an absurd version.
const LONG: usize = 100_000;

/// The body that a fault sends instead of an answer, if it does. `nth` is unique for each request.
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
            FlickerLine::Bookmark => bookmark(version),
            FlickerLine::Garbage => bookmark("garbage"),
            FlickerLine::Long => bookmark(&"1".repeat(LONG)),
            FlickerLine::Strange => "{\"type\":\"STRANGE\",\"object\":{}}\n".to_owned(),
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
