//! The subresource `scale`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::api::ApiKind;
use serde_json::{Value, json};
use support::{get, server, value, write};

#[test]
fn a_scale_writes_the_replicas_of_its_object_and_nothing_else() {
    let mut server = server();
    server
        .create(
            "deployments",
            json!({"metadata": {"name": "d"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}}}),
        )
        .unwrap();
    let path = "/apis/apps/v1/namespaces/default/deployments/d/scale";
    let scale = value(&get(&mut server, path).1);
    assert_eq!(scale["kind"], "Scale");
    assert_eq!(scale["spec"], json!({"replicas": 1}));
    assert_eq!(
        scale["status"],
        json!({"replicas": 0, "selector": "app=web"})
    );

    let version = scale["metadata"]["resourceVersion"].clone();
    let put = |version: &Value| json!({"metadata": {"name": "d", "resourceVersion": version, "labels": {"k": "v"}}, "spec": {"replicas": 5}});
    let line = format!("PUT {path}");
    let (code, scale) = write(&mut server, &line, &put(&version));
    assert_eq!((code, &scale["spec"]["replicas"]), (200, &json!(5)));
    assert_eq!(write(&mut server, &line, &put(&version)).0, 409);
    let object = server.get("deployments", "d").unwrap();
    assert_eq!(object.value()["spec"]["replicas"], 5);
    assert_eq!(object.label("k"), None);
    assert_eq!(object.value()["metadata"]["generation"], 2);
    let negative = json!({"metadata": {"name": "d"}, "spec": {"replicas": -1}});
    assert_eq!(write(&mut server, &line, &negative).0, 422);
}

#[test]
fn a_custom_resource_scales_where_it_says() {
    let mut server = server();
    let widget = ApiKind::custom("example.com", "v1", "widgets", "Widget");
    let path = "/apis/example.com/v1/namespaces/default/widgets/w/scale";
    server.register(widget.clone());
    server
        .create("widgets", json!({"metadata": {"name": "w"}}))
        .unwrap();
    assert_eq!(get(&mut server, path).0, 404);

    server.register(widget.with_scale("spec.size", "status.size", None));
    server
        .create("widgets", json!({"metadata": {"name": "w"}}))
        .unwrap();
    // There is nothing to show yet.
    assert_eq!(get(&mut server, path).0, 500);
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "w"}, "spec": {"replicas": 3}});
    assert_eq!(write(&mut server, &format!("PUT {path}"), &scale).0, 200);
    let widget = server.get("widgets", "w").unwrap();
    assert_eq!(widget.value()["spec"], json!({"size": 3}));
    assert_eq!(
        value(&get(&mut server, path).1)["status"],
        json!({"replicas": 0})
    );
}
