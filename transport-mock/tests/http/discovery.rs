//! API discovery, as kubectl uses it.

use informer_transport_mock::api::ApiKind;
use informer_transport_mock::http::HttpConfig;
use serde_json::{Value, json};

use crate::client::{Client, start};

#[tokio::test]
async fn groups_versions_and_kinds() {
    let (server, running) = start(&[], HttpConfig::new()).await;
    server.with(|server| {
        server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget").cluster_scoped());
    });
    let mut client = Client::connect(&running).await;
    assert_eq!(client.get("/api").await.json()["versions"], json!(["v1"]));

    let groups = client.get("/apis").await.json();
    let names: Vec<_> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["name"])
        .collect();
    assert_eq!(
        names,
        [
            "apps",
            "batch",
            "coordination.k8s.io",
            "events.k8s.io",
            "apiextensions.k8s.io",
            "example.com"
        ]
    );
    let group = client.get("/apis/example.com").await.json();
    assert_eq!(group["kind"], "APIGroup");
    assert_eq!(
        group["preferredVersion"],
        json!({"groupVersion": "example.com/v1", "version": "v1"})
    );

    let widgets = client.get("/apis/example.com/v1").await.json();
    assert_eq!(widgets["groupVersion"], "example.com/v1");
    assert_eq!(widgets["resources"][0]["name"], "widgets");
    assert_eq!(widgets["resources"][0]["namespaced"], false);
    assert_eq!(widgets["resources"][1]["name"], "widgets/status");
    let core = client.get("/api/v1").await.json();
    assert_eq!(core["resources"][0]["name"], "pods");
    assert_eq!(core["resources"][0]["shortNames"], json!(["po"]));

    for nowhere in ["/apis/nowhere", "/apis/apps/v9", "/api/v9"] {
        assert_eq!(client.get(nowhere).await.status, 404, "{nowhere}");
    }
}

#[tokio::test]
async fn aggregated_discovery_is_one_document() {
    let (_, running) = start(&[], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let accept = format!(
        "{v2},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
    );
    for (target, group, resource, parts) in [
        ("/api", "", "pods", vec!["status"]),
        ("/apis", "apps", "deployments", vec!["scale", "status"]),
    ] {
        let headers = [("accept", accept.as_str())];
        let reply = client
            .ask(&format!("GET {target}"), &headers, &Value::Null)
            .await;
        assert_eq!(reply.header("content-type"), Some(v2));
        let first = &reply.json()["items"][0];
        assert_eq!(first["metadata"]["name"], group);
        let first = &first["versions"][0]["resources"][0];
        assert_eq!(
            (&first["resource"], &first["scope"]),
            (&json!(resource), &json!("Namespaced"))
        );
        let subresources = first["subresources"].as_array().unwrap().iter();
        let names: Vec<&Value> = subresources.map(|part| &part["subresource"]).collect();
        assert_eq!(names, parts);
    }
    let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    let reply = client
        .ask("GET /apis", &[("accept", beta)], &Value::Null)
        .await;
    assert_eq!(reply.json()["kind"], "APIGroupList");
}

#[tokio::test]
async fn pages_about_the_server() {
    let (_, running) = start(&[], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    for target in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(client.get(target).await.body, b"ok");
    }
    assert_eq!(client.get("/version").await.json()["major"], "1");
    assert_eq!(client.get("/openapi/v3").await.json(), json!({"paths": {}}));
    assert_eq!(client.get("/openapi/v2").await.json()["swagger"], "2.0");
    let head = client.ask("HEAD /readyz", &[], &Value::Null).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(
        client.ask("POST /readyz", &[], &Value::Null).await.status,
        404
    );
}
