//! Lists, single objects and refusals.

use std::fs;

use k8s_pb::api::apps::v1::Deployment;
use k8s_pb::api::autoscaling::v1::Scale;
use k8s_pb::api::coordination::v1::Lease;
use k8s_pb::api::core::v1::{ConfigMap, Event, Node, Pod, PodList, Secret};
use k8s_pb::apimachinery::pkg::apis::meta::v1::{PartialObjectMetadataList, Status};
use prost::Message;
use serde_json::{Value, json};

use crate::support::{at, pod, value};
use crate::{METADATA, METADATA_LIST, PROTOBUF, ask, opened, server};

#[test]
fn a_list_has_its_pages() {
    let mut server = server();
    for name in ["a", "b", "c"] {
        server.create("pods", pod(name, "app=web")).unwrap();
    }
    let page = |server: &mut _, query: &str| {
        let line = format!("GET /api/v1/pods?limit=2{query}");
        let answer = ask(server, &line, PROTOBUF, at(0));
        assert_eq!((answer.status, answer.content_type), (200, PROTOBUF));
        let (kind, list) = opened::<PodList>(answer.bytes().unwrap());
        assert_eq!(kind, "v1 PodList");
        list
    };
    let names = |list: &PodList| -> Vec<String> {
        let metadata = list.items.iter().map(|pod| pod.metadata.clone().unwrap());
        metadata.map(|metadata| metadata.name.unwrap()).collect()
    };
    let first = page(&mut server, "");
    assert_eq!(names(&first), ["a", "b"]);
    let metadata = first.metadata.clone().unwrap();
    assert_eq!(metadata.resource_version.as_deref(), Some("4"));
    assert_eq!(metadata.remaining_item_count, Some(1));
    let labels = &first.items[0].metadata.as_ref().unwrap().labels;
    assert_eq!(labels["app"], "web");
    let token = metadata.r#continue.unwrap();
    let second = page(&mut server, &format!("&continue={token}"));
    assert_eq!(names(&second), ["c"]);
    let metadata = second.metadata.unwrap();
    assert_eq!(metadata.r#continue.as_deref(), Some(""));
    assert_eq!(metadata.remaining_item_count, None);
}

/// Creates an object with a value in every field, and reads it as protobuf.
fn stored<M: Message + Default>(name: &str, plural: &str, change: fn(&mut Value)) -> M {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/protobuf/samples");
    let sample = fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    let mut sample = value(&sample);
    sample["metadata"] = json!({"name": "a", "annotations": {"note": "<é>"}});
    change(&mut sample);
    let mut server = server();
    let object = server.create(plural, sample).unwrap();
    let path = {
        let mut kinds = server.registry().iter();
        let kind = kinds.find(|kind| kind.plural() == plural).unwrap();
        kind.collection_path(object.namespace())
    };
    let answer = ask(&mut server, &format!("GET {path}/a"), PROTOBUF, at(0));
    assert_eq!((answer.status, answer.content_type), (200, PROTOBUF));
    let (kind, object) = opened(answer.bytes().unwrap());
    let short = name.split('.').nth(1).unwrap();
    assert!(kind.ends_with(&format!(" {short}")), "{kind}");
    object
}

#[test]
fn whole_objects() {
    let pod: Pod = stored("core.Pod", "pods", |pod| {
        // The decoder does not know it yet.
        pod["spec"]
            .as_object_mut()
            .unwrap()
            .remove("schedulingGroup");
    });
    let spec = pod.spec.unwrap();
    assert_eq!(
        pod.metadata.unwrap().annotations["note"],
        "<é>",
        "JSON escapes do not reach protobuf"
    );
    let container = &spec.containers[0];
    assert!(container.image.as_ref().unwrap().starts_with("text "));
    let limits = &container.resources.as_ref().unwrap().limits;
    assert!(limits["a"].string.as_ref().unwrap().ends_with('m'));
    assert!(spec.volumes[0].volume_source.is_some());
    assert_eq!(pod.status.unwrap().phase.as_deref(), Some("Pending"));

    let node: Node = stored("core.Node", "nodes", |_| ());
    let condition = &node.status.unwrap().conditions[0];
    assert!(condition.last_heartbeat_time.unwrap().seconds() > 1_800_000_000);

    let secret: Secret = stored("core.Secret", "secrets", |_| ());
    assert_eq!(secret.data["a"][..2], [0xfb, 0xff]);
    let config: ConfigMap = stored("core.ConfigMap", "configmaps", |_| ());
    assert_eq!(config.binary_data["b"][..2], [0xfb, 0xff]);

    let lease: Lease = stored("coordination.Lease", "leases", |lease| {
        lease["spec"]["leaseDurationSeconds"] = json!(15);
        lease["spec"]["leaseTransitions"] = json!(1);
    });
    let renewed = lease.spec.unwrap().renew_time.unwrap();
    assert_eq!(renewed.seconds(), 1_800_000_000);
    assert!(renewed.nanos() > 0);

    let event: Event = stored("core.Event", "events", |event| {
        event["involvedObject"]["namespace"] = json!("default");
        event["reportingComponent"] = json!("example.com/test");
    });
    assert!(event.message.unwrap().starts_with("text "));
    assert!(event.event_time.unwrap().nanos() > 0);
}

#[test]
fn subresources_and_writes() {
    let mut server = server();
    let deployment = json!({"metadata": {"name": "a"}, "spec": {"replicas": 3,
        "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}}});
    server.create("deployments", deployment).unwrap();
    let path = "/apis/apps/v1/namespaces/default/deployments/a";

    let answer = ask(&mut server, &format!("GET {path}/scale"), PROTOBUF, at(0));
    let (kind, scale) = opened::<Scale>(answer.bytes().unwrap());
    assert_eq!(kind, "autoscaling/v1 Scale");
    assert_eq!(scale.spec.unwrap().replicas, Some(3));

    let answer = ask(&mut server, &format!("GET {path}"), PROTOBUF, at(0));
    let (_, deployment) = opened::<Deployment>(answer.bytes().unwrap());
    let rolling = deployment.spec.unwrap().strategy.unwrap();
    let rolling = rolling.rolling_update.unwrap();
    let surge = rolling.max_surge.unwrap();
    assert_eq!(
        (surge.r#type, surge.str_val.as_deref()),
        (Some(1), Some("25%"))
    );
    let unavailable = rolling.max_unavailable.unwrap();
    assert_eq!(
        (unavailable.r#type, unavailable.int_val),
        (Some(0), Some(1))
    );

    let answer = ask(&mut server, &format!("DELETE {path}"), PROTOBUF, at(0));
    let (kind, status) = opened::<Status>(answer.bytes().unwrap());
    assert_eq!(
        (kind.as_str(), status.status.as_deref()),
        ("v1 Status", Some("Success"))
    );
    assert_eq!(status.details.unwrap().name.as_deref(), Some("a"));

    // A pod is returned as it was, with the version of its deletion.
    server.create("pods", pod("a", "")).unwrap();
    let line = "DELETE /api/v1/namespaces/default/pods/a";
    let answer = ask(&mut server, line, PROTOBUF, at(0));
    let (_, pod) = opened::<Pod>(answer.bytes().unwrap());
    let version = server.version().to_string();
    assert_eq!(pod.metadata.unwrap().resource_version, Some(version));
}

#[test]
fn metadata_of_any_kind() {
    let mut server = server();
    let widget =
        json!({"metadata": {"name": "w", "labels": {"a": "b"}}, "spec": {"size": "large"}});
    server.create("widgets", widget).unwrap();
    let line = "GET /apis/example.com/v1/widgets";
    let answer = ask(&mut server, line, METADATA_LIST, at(0));
    assert_eq!((answer.status, answer.content_type), (200, PROTOBUF));
    let (kind, list) = opened::<PartialObjectMetadataList>(answer.bytes().unwrap());
    assert_eq!(kind, "meta.k8s.io/v1 PartialObjectMetadataList");
    let metadata = list.items[0].metadata.as_ref().unwrap();
    assert_eq!(metadata.name.as_deref(), Some("w"));
    assert_eq!(metadata.labels["a"], "b");
    assert!(metadata.creation_timestamp.unwrap().seconds() > 0);
    // A list is not an object.
    let answer = ask(&mut server, line, METADATA, at(0));
    assert_eq!(
        (answer.status, answer.content_type),
        (406, "application/json")
    );
}

#[test]
fn what_has_no_protobuf_is_json_if_the_client_takes_it() {
    let mut server = server();
    server
        .create("widgets", json!({"metadata": {"name": "w"}}))
        .unwrap();
    let line = "GET /apis/example.com/v1/widgets";
    let both = format!("{PROTOBUF},application/json");
    let answer = ask(&mut server, line, &both, at(0));
    assert_eq!(
        (answer.status, answer.content_type),
        (200, "application/json")
    );
    let answer = ask(&mut server, line, PROTOBUF, at(0));
    assert_eq!((answer.status, answer.content_type), (406, PROTOBUF));
    let (_, status) = opened::<Status>(answer.bytes().unwrap());
    assert_eq!(status.reason.as_deref(), Some("NotAcceptable"));
    assert_eq!(
        status.message.as_deref(),
        Some(
            "only the following media types are accepted: application/json, application/vnd.kubernetes.protobuf"
        )
    );
}

#[test]
fn refusals() {
    let mut server = server();
    let missing = "GET /api/v1/namespaces/default/pods/a";
    let answer = ask(&mut server, missing, PROTOBUF, at(0));
    assert_eq!((answer.status, answer.content_type), (404, PROTOBUF));
    let (kind, status) = opened::<Status>(answer.bytes().unwrap());
    assert_eq!(kind, "v1 Status");
    assert_eq!(status.code, Some(404));
    assert_eq!(status.message.as_deref(), Some("pods \"a\" not found"));
    assert_eq!(status.details.unwrap().kind.as_deref(), Some("pods"));

    let early = "GET /api/v1/pods?resourceVersion=99";
    let answer = ask(&mut server, early, PROTOBUF, at(0));
    assert_eq!((answer.status, answer.retry_after), (504, Some(1)));
    let (_, status) = opened::<Status>(answer.bytes().unwrap());
    let details = status.details.unwrap();
    assert_eq!(details.retry_after_seconds, Some(1));
    assert_eq!(
        details.causes[0].reason.as_deref(),
        Some("ResourceVersionTooLarge")
    );

    // Nothing of a Status is metadata, so it is not sent as such.
    let answer = ask(&mut server, missing, METADATA, at(0));
    assert_eq!(
        (answer.status, answer.content_type),
        (404, "application/json")
    );
    // A request that cannot even be parsed.
    let answer = ask(
        &mut server,
        "GET /api/v1/pods?limit=x",
        "application/json",
        at(0),
    );
    assert_eq!(
        (answer.status, answer.content_type),
        (400, "application/json")
    );
    let answer = ask(&mut server, "GET /nowhere", PROTOBUF, at(0));
    assert_eq!(answer.content_type, "text/plain; charset=utf-8");
}

#[test]
fn an_object_that_no_real_server_has_is_a_failure_of_the_server() {
    let mut server = server();
    let odd = json!({"metadata": {"name": "a"}, "spec": {"nodeName": 7}});
    server.create("pods", odd).unwrap();
    let line = "GET /api/v1/pods";
    assert_eq!(
        ask(&mut server, line, "application/json", at(0)).status,
        200
    );
    let answer = ask(&mut server, line, PROTOBUF, at(0));
    assert_eq!(answer.status, 500);
    let (_, status) = opened::<Status>(answer.bytes().unwrap());
    assert_eq!(
        status.message.as_deref(),
        Some(
            "Internal error occurred: an object of pods cannot be sent as protobuf: spec.nodeName is not a text"
        )
    );
    // Its metadata is in order.
    assert_eq!(ask(&mut server, line, METADATA_LIST, at(0)).status, 200);
}
