//! Watches and streamed lists.

use informer_transport_mock::Server;
use informer_transport_mock::answer::AnswerBody;
use informer_transport_mock::watch::{Polled, Watch};
use k8s_pb::api::core::v1::Pod;
use k8s_pb::apimachinery::pkg::apis::meta::v1::{
    ObjectMeta, PartialObjectMetadata, Status, WatchEvent,
};
use prost::Message;
use serde_json::json;

use crate::support::{at, pod};
use crate::{METADATA, PROTOBUF, ask, opened, read, server};

const STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

fn watch(server: &mut Server, path: &str, query: &str, accept: &str) -> Box<Watch> {
    let line = format!("GET {path}?watch=true&{query}");
    let answer = ask(server, &line, accept, at(0));
    assert_eq!((answer.status, answer.content_type), (200, STREAM));
    let AnswerBody::Watch(watch) = answer.body else {
        panic!("a watch")
    };
    watch
}

/// The next event and its object.
fn next<M: Message + Default>(watch: &mut Watch, server: &Server) -> (String, String, M) {
    let Polled::Frame(frame) = watch.poll(server, at(0)) else {
        panic!("a frame")
    };
    let bytes = frame.to_bytes();
    let (len, event) = bytes.split_first_chunk().unwrap();
    assert_eq!(u32::from_be_bytes(*len) as usize, event.len());
    let event: WatchEvent = read(event);
    let object = event.object.unwrap().raw.unwrap();
    assert_eq!(object, frame.object());
    let (kind, object) = opened(&object);
    (event.r#type.unwrap(), kind, object)
}

fn name_and_version(metadata: Option<ObjectMeta>) -> (String, String) {
    let metadata = metadata.unwrap();
    (metadata.name.unwrap(), metadata.resource_version.unwrap())
}

#[test]
fn every_event_of_an_object() {
    let mut server = server();
    // The parameter of the media type may be missing.
    for accept in [STREAM, PROTOBUF] {
        let version = server.version();
        let query = format!("resourceVersion={version}");
        let mut watch = watch(&mut server, "/api/v1/pods", &query, accept);
        server.create("pods", pod("a", "")).unwrap();
        let labels = json!({"metadata": {"labels": {"a": "b"}}});
        server.patch("pods", "default/a", labels).unwrap();
        server.delete("pods", "default/a").unwrap();
        for (expected, after) in [("ADDED", 1), ("MODIFIED", 2), ("DELETED", 3)] {
            let (event, kind, pod) = next::<Pod>(&mut watch, &server);
            assert_eq!((event.as_str(), kind.as_str()), (expected, "v1 Pod"));
            let expected = ("a".to_owned(), (version + after).to_string());
            assert_eq!(name_and_version(pod.metadata), expected);
        }
        assert!(matches!(watch.poll(&server, at(0)), Polled::Idle(_)));
    }
}

#[test]
fn a_streamed_list_ends_with_a_marked_bookmark() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut whole = watch(&mut server, "/api/v1/pods", query, STREAM);
    let (event, _, pod) = next::<Pod>(&mut whole, &server);
    assert_eq!(event, "ADDED");
    assert_eq!(name_and_version(pod.metadata).0, "a");
    let (event, kind, bookmark) = next::<Pod>(&mut whole, &server);
    assert_eq!((event.as_str(), kind.as_str()), ("BOOKMARK", "v1 Pod"));
    let metadata = bookmark.metadata.unwrap();
    assert_eq!(metadata.annotations["k8s.io/initial-events-end"], "true");
    assert_eq!(
        name_and_version(Some(metadata)),
        (String::new(), "2".to_owned())
    );

    let path = "/apis/example.com/v1/widgets";
    server
        .create("widgets", json!({"metadata": {"name": "w"}}))
        .unwrap();
    let mut partial = watch(&mut server, path, query, METADATA);
    let (event, kind, widget) = next::<PartialObjectMetadata>(&mut partial, &server);
    assert_eq!(event, "ADDED");
    assert_eq!(kind, "meta.k8s.io/v1 PartialObjectMetadata");
    assert_eq!(
        name_and_version(widget.metadata),
        ("w".to_owned(), "3".to_owned())
    );
    let (event, _, bookmark) = next::<PartialObjectMetadata>(&mut partial, &server);
    assert_eq!(event, "BOOKMARK");
    let annotations = bookmark.metadata.unwrap().annotations;
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
}

#[test]
fn an_expired_watch_sends_a_status() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    server.forget_changes();
    for accept in [STREAM, METADATA] {
        let mut watch = watch(&mut server, "/api/v1/pods", "resourceVersion=1", accept);
        let (event, kind, status) = next::<Status>(&mut watch, &server);
        assert_eq!((event.as_str(), kind.as_str()), ("ERROR", "v1 Status"));
        assert_eq!(
            (status.code, status.reason.as_deref()),
            (Some(410), Some("Expired"))
        );
        assert!(matches!(watch.poll(&server, at(0)), Polled::Ended(_)));
    }
}

#[test]
fn an_object_that_cannot_be_encoded_ends_the_watch() {
    let mut server = server();
    let mut watch = watch(&mut server, "/api/v1/pods", "resourceVersion=1", STREAM);
    let odd = json!({"metadata": {"name": "a"}, "spec": {"containers": 7}});
    server.create("pods", odd).unwrap();
    let (event, _, status) = next::<Status>(&mut watch, &server);
    assert_eq!((event.as_str(), status.code), ("ERROR", Some(500)));
    assert!(
        status
            .message
            .unwrap()
            .ends_with("spec.containers is not a list")
    );
    assert!(matches!(watch.poll(&server, at(0)), Polled::Ended(_)));
}
