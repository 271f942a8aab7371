//! Answers in protobuf and in JSON, as the target accepts them.

use informer_core::transport::Content;
use informer_core::{Encoding, Encodings, Failure};
use informer_transport_hyper::Client;

use crate::rig::hand::{Hand, Seen, list, pods, watch};
use crate::rig::server::Cluster;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

#[tokio::test]
async fn each_answer_says_how_it_is_encoded() {
    let mut cluster = Cluster::new(false).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::of(&client, &pods().accepting(Encodings::ProtobufOrJson));
    // A server may change its mind, for example while it is rolled back.
    for (content_type, encoding) in [
        (PROTOBUF, Encoding::Protobuf),
        ("application/json", Encoding::Json),
    ] {
        hand.open(list());
        let call = cluster.server.call().await;
        let accept = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(call.header("accept"), Some(accept));
        call.reply(200, &[("content-type", content_type)], "k8s\0");
        assert_eq!(hand.next().await, Seen::Opened(encoding));
        hand.text("k8s\0").await;
        hand.closed().await;
    }
    hand.open(watch());
    let call = cluster.server.call().await;
    let accept = "application/vnd.kubernetes.protobuf;stream=watch,application/json";
    assert_eq!(call.header("accept"), Some(accept));
    let feed = call.stream_with(&[("content-type", &format!("{PROTOBUF};stream=watch"))]);
    assert_eq!(hand.next().await, Seen::Opened(Encoding::Protobuf));
    drop(feed);
    hand.closed().await;

    let metadata = pods().with_content(Content::Metadata);
    let mut hand = Hand::of(&client, &metadata.accepting(Encodings::ProtobufOrJson));
    hand.open(list());
    let accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                  application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    assert_eq!(cluster.server.call().await.header("accept"), Some(accept));
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_refused() {
    let mut cluster = Cluster::new(false).await;
    let client = Client::new(cluster.config()).unwrap();
    for (accepted, content_type, expected) in [
        (
            Encodings::Protobuf,
            "application/json",
            "custom resources have no protobuf",
        ),
        (Encodings::Json, PROTOBUF, "accepts only JSON"),
        (
            Encodings::ProtobufOrJson,
            "text/html",
            "neither JSON nor protobuf",
        ),
    ] {
        let mut hand = Hand::of(&client, &pods().accepting(accepted));
        hand.open(list());
        let call = cluster.server.call().await;
        call.reply(200, &[("content-type", content_type)], "{}");
        let message = hand.failed(Failure::Undecodable).await;
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_refusal_in_protobuf_is_understood() {
    let mut cluster = Cluster::new(false).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::of(&client, &pods().accepting(Encodings::ProtobufOrJson));
    hand.open(list());
    let expired = include_bytes!("../../../core/tests/protobuf_bodies/expired.pb").as_slice();
    let call = cluster.server.call().await;
    call.reply(410, &[("content-type", PROTOBUF)], expired);
    let message = hand.failed(Failure::Expired).await;
    assert!(
        !message.contains("k8s"),
        "only the message of the Status: {message}"
    );
    assert!(message.contains("too old"), "{message}");
}
