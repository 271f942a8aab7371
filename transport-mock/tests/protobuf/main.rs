//! Answers in protobuf, read by a decoder that is not ours.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

// Lists, single objects and refusals.
mod answers;

// Watches and streamed lists.
mod watches;

// An informer's transport.
mod transport;

use informer_core::Instant;
use informer_transport_mock::Server;
use informer_transport_mock::answer::Answer;
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::request::Headers;
use k8s_pb::apimachinery::pkg::runtime::Unknown;
use prost::Message;
use serde_json::Value;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const METADATA_LIST: &str =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const METADATA: &str =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// A server with the built-in kinds and a custom one.
fn server() -> Server {
    let mut server = support::server();
    server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
    server
}

/// Sends a request, given as `METHOD path?query`, that accepts this.
fn ask(server: &mut Server, line: &str, accept: &str, now: Instant) -> Answer {
    let headers = Headers {
        accept: Some(accept),
        content_type: None,
    };
    support::send_as(server, line, &Value::Null, headers, now)
}

/// The kind of an object in its envelope, and the object.
fn opened<M: Message + Default>(body: &[u8]) -> (String, M) {
    let envelope = body.strip_prefix(b"k8s\0").expect("an envelope");
    let envelope: Unknown = read(envelope);
    let meta = envelope.type_meta.unwrap();
    let kind = format!("{} {}", meta.api_version.unwrap(), meta.kind.unwrap());
    assert_eq!(envelope.content_encoding.as_deref(), Some(""));
    assert_eq!(envelope.content_type.as_deref(), Some(""));
    (kind, read(&envelope.raw.unwrap()))
}

/// Decodes a message. A field that the decoder does not know would be missing when it is encoded again.
fn read<M: Message + Default>(bytes: &[u8]) -> M {
    let message = M::decode(bytes).unwrap();
    assert!(message.encode_to_vec() == bytes, "unknown fields");
    message
}
