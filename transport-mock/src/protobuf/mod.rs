//! Answers in protobuf, byte for byte as the real server's.
//!
//! The server keeps objects as JSON. Each is encoded by the [schema] of its kind when a client first asks
//! for it in protobuf.

// Which fields messages have.
pub(crate) mod schema;

// From JSON to protobuf.
mod encode;

// The wire format.
pub(crate) mod wire;

use serde_json::{Map, Value};

use crate::api::ApiKind;
use crate::form::Page;
pub(crate) use crate::protobuf::encode::{Unfit, message};

/// What every complete body and every object in a watch begins with.
const MAGIC: &[u8] = b"k8s\0";

/// The name of the kind's message, as in the schema; `None` if the kind has no protobuf.
pub(crate) fn message_of(kind: &ApiKind) -> Option<String> {
    if kind.is_custom() {
        return None;
    }
    let group = match kind.group() {
        "" => "core",
        group => group.split('.').next().unwrap_or_default(),
    };
    let name = format!("{group}.{}", kind.kind());
    schema::message(&name).map(|_| name)
}

/// Encodes an object without its envelope, as in a list.
pub(crate) fn object(kind: &ApiKind, object: &Map<String, Value>) -> Result<Vec<u8>, Unfit> {
    message(&message_of(kind).unwrap_or_default(), object)
}

/// Encodes the `PartialObjectMetadata` of an object of any kind, without its envelope.
pub(crate) fn metadata(object: &Map<String, Value>) -> Result<Vec<u8>, Unfit> {
    message("meta.PartialObjectMetadata", object)
}

/// Encodes a list without its envelope.
pub(crate) fn list<T: AsRef<[u8]>>(page: &Page, items: &[T]) -> Vec<u8> {
    let mut metadata = Vec::new();
    wire::bytes(&mut metadata, 1, b"");
    wire::bytes(&mut metadata, 2, page.version.to_string().as_bytes());
    wire::bytes(&mut metadata, 3, page.continue_token.as_bytes());
    if let Some(remaining) = page.remaining {
        wire::integer(&mut metadata, 4, remaining.cast_signed());
    }
    let mut out = Vec::new();
    wire::bytes(&mut out, 1, &metadata);
    for item in items {
        wire::bytes(&mut out, 2, item.as_ref());
    }
    out
}

/// A whole `Status`, from its JSON.
pub(crate) fn status(json: &[u8]) -> Vec<u8> {
    let status: Map<String, Value> = serde_json::from_slice(json).unwrap_or_default();
    // The server writes all statuses itself, so they fit.
    let status = message("meta.Status", &status).unwrap_or_default();
    enveloped("v1", "Status", &status)
}

/// Puts a message into an envelope that says what it is.
pub(crate) fn enveloped(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut type_meta = Vec::new();
    wire::bytes(&mut type_meta, 1, api_version.as_bytes());
    wire::bytes(&mut type_meta, 2, kind.as_bytes());
    let mut out = Vec::with_capacity(message.len() + type_meta.len() + 32);
    out.extend_from_slice(MAGIC);
    wire::bytes(&mut out, 1, &type_meta);
    wire::bytes(&mut out, 2, message);
    // The content encoding and the content type, which are always empty.
    wire::bytes(&mut out, 3, b"");
    wire::bytes(&mut out, 4, b"");
    out
}

/// The message in an envelope; `None` if there is no envelope.
pub(crate) fn message_in(body: &[u8]) -> Option<&[u8]> {
    wire::field(body.strip_prefix(MAGIC)?, 2)
}

/// The same envelope with another message.
pub(crate) fn with_message(body: &[u8], message: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for field in wire::fields(body.strip_prefix(MAGIC).unwrap_or_default()) {
        match field.number {
            2 => wire::bytes(&mut out, 2, message),
            _ => out.extend_from_slice(field.whole),
        }
    }
    out
}

/// What precedes the object in a frame of a watch: the length of the frame, and the type of the event.
pub(crate) fn frame_opening(event: &str, object: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    wire::opening(&mut raw, 1, object.len());
    let mut head = Vec::new();
    wire::bytes(&mut head, 1, event.as_bytes());
    wire::opening(&mut head, 2, raw.len() + object.len());
    head.append(&mut raw);
    // A frame of 4 GiB cannot be sent: its length has four bytes.
    let len = u32::try_from(head.len() + object.len()).unwrap_or(u32::MAX);
    let mut out = len.to_be_bytes().to_vec();
    out.append(&mut head);
    out
}
