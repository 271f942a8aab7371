//! Forged answers that no real server sends.

use informer_core::Encoding;
use informer_core::transport::{At, Request};
use serde_json::{Value, json};

use crate::fault::{Fault, FlickerLine};
use crate::form::Page;
use crate::protobuf;

/// The length of an absurd version.
const LONG: usize = 100_000;

/// The body that a fault sends instead of an answer, if it does. `nth` is unique for each request.
pub(crate) fn forged(
    fault: Fault,
    request: Request<'_>,
    nth: u64,
    encoding: Encoding,
) -> Option<Vec<u8>> {
    match (fault, request) {
        (
            Fault::Flicker(line),
            Request::Watch {
                version: At::Version(version),
                initial_events: false,
                ..
            },
        ) => {
            let (event, object) = match line {
                FlickerLine::Bookmark => ("BOOKMARK", bookmark(version)),
                FlickerLine::Garbage => ("BOOKMARK", bookmark("garbage")),
                FlickerLine::Long => ("BOOKMARK", bookmark(&"1".repeat(LONG))),
                FlickerLine::Strange => ("STRANGE", json!({})),
            };
            Some(frame(event, &object, encoding))
        }
        (Fault::EndlessPages { repeats }, Request::List { .. }) => {
            let token = format!("forged-{}", if repeats { 0 } else { nth });
            Some(empty_page(token, encoding))
        }
        _ => None,
    }
}

fn bookmark(version: &str) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": version}})
}

fn frame(event: &str, object: &Value, encoding: Encoding) -> Vec<u8> {
    if encoding == Encoding::Json {
        return format!("{{\"type\":\"{event}\",\"object\":{object}}}\n").into_bytes();
    }
    let pod = object.as_object().cloned().unwrap_or_default();
    // What is forged here fits.
    let message = protobuf::message("core.Pod", &pod).unwrap_or_default();
    let object = protobuf::enveloped("v1", "Pod", &message);
    let mut frame = protobuf::frame_opening(event, &object);
    frame.extend_from_slice(&object);
    frame
}

fn empty_page(continue_token: String, encoding: Encoding) -> Vec<u8> {
    if encoding == Encoding::Json {
        return format!(
            r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"1","continue":"{continue_token}"}},"items":[]}}"#
        )
        .into_bytes();
    }
    let page = Page {
        version: 1,
        continue_token,
        remaining: None,
    };
    let nothing: [&[u8]; 0] = [];
    protobuf::enveloped("v1", "PodList", &protobuf::list(&page, &nothing))
}
