//! An informer's transport, which accepts what its target says.

use std::task::{Context, Poll, Waker};

use informer_core::transport::{
    At, Command, Content, ExchangeId, Request, Signal, Target, Transport,
};
use informer_core::{Encoding, Encodings, Failure};
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::fault::Fault;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use k8s_pb::api::core::v1::PodList;
use k8s_pb::apimachinery::pkg::apis::meta::v1::PartialObjectMetadataList;
use serde_json::json;

use crate::opened;

fn server() -> MockServer {
    let server = MockServer::new(ServerConfig::new(7), VirtualClock::new());
    server.with(|server| {
        server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
        for kind in ["pods", "widgets"] {
            for name in ["a", "b", "c"] {
                server
                    .create(kind, json!({"metadata": {"name": name}}))
                    .unwrap();
            }
        }
    });
    server
}

/// The encoding and the body of a list, or why there is none.
fn listed(server: &MockServer, target: &Target) -> Result<(Encoding, Vec<u8>), (Failure, String)> {
    let mut transport = server.transport(target, 1);
    let request = Request::List {
        version: At::Latest,
        limit: None,
        page: None,
    };
    transport.execute(Command::Open {
        exchange: ExchangeId::new(1),
        request,
    });
    let mut cx = Context::from_waker(Waker::noop());
    let (mut encoding, mut body) = (None, Vec::new());
    loop {
        let Poll::Ready((_, signal)) = transport.poll_signal(&mut cx) else {
            panic!("nothing arrives")
        };
        let used = match signal {
            Signal::Opened(opened) => {
                encoding = Some(opened);
                0
            }
            Signal::Bytes(bytes) => {
                body.extend_from_slice(bytes);
                bytes.len()
            }
            Signal::Closed => return Ok((encoding.unwrap(), body)),
            Signal::Failed { failure, message } => return Err((failure, message.to_owned())),
        };
        transport.consume(used);
    }
}

#[test]
fn the_answer_says_how_it_is_encoded() {
    let server = server();
    let pods = Target::new("", "v1", "pods");
    let widgets = Target::new("example.com", "v1", "widgets");
    for (target, accepted, expected) in [
        (&pods, Encodings::Json, Encoding::Json),
        (&pods, Encodings::ProtobufOrJson, Encoding::Protobuf),
        (&pods, Encodings::Protobuf, Encoding::Protobuf),
        (&widgets, Encodings::ProtobufOrJson, Encoding::Json),
    ] {
        let target = target.clone().accepting(accepted);
        let (encoding, body) = listed(&server, &target).unwrap();
        assert_eq!(encoding, expected, "{target} {accepted:?}");
        let is_protobuf = body.starts_with(b"k8s\0");
        assert_eq!(is_protobuf, expected == Encoding::Protobuf);
    }
    let metadata = widgets.clone().with_content(Content::Metadata);
    let (_, body) = listed(&server, &metadata.accepting(Encodings::Protobuf)).unwrap();
    let (_, list) = opened::<PartialObjectMetadataList>(&body);
    assert_eq!(list.items.len(), 3);
    let refused = listed(&server, &widgets.accepting(Encodings::Protobuf)).unwrap_err();
    assert_eq!(refused.0, Failure::Invalid);
}

#[test]
fn faults_strike_protobuf_too() {
    let server = server();
    let pods = Target::new("", "v1", "pods").accepting(Encodings::Protobuf);
    let names = |body: &[u8]| -> Vec<String> {
        let (_, list) = opened::<PodList>(body);
        let pods = list.items.into_iter();
        pods.map(|pod| pod.metadata.unwrap().name.unwrap())
            .collect()
    };
    server.inject(Fault::Reorder { seed: 3 });
    let (_, body) = listed(&server, &pods).unwrap();
    let mut reordered = names(&body);
    assert_ne!(reordered, ["a", "b", "c"]);
    reordered.sort();
    assert_eq!(reordered, ["a", "b", "c"]);

    let whole = listed(&server, &pods).unwrap().1;
    server.inject(Fault::Corrupt {
        nth: 1,
        nameless: false,
    });
    let (_, corrupt) = listed(&server, &pods).unwrap();
    assert_eq!(
        corrupt.len(),
        whole.len() + 1,
        "one byte too many in one pod"
    );
    assert_eq!(server.fault_counts()["corrupt"], 1);

    server.inject(Fault::Throttle { retry_after: 7 });
    let (failure, _) = listed(&server, &pods).unwrap_err();
    assert!(matches!(failure, Failure::Throttled { .. }), "{failure:?}");
}
