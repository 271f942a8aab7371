//! Objects, pages, forms, refusals, gzip.

use informer_transport_mock::http::HttpConfig;
use serde_json::{Value, json};

use crate::client::{Client, first_member, pod, start};

#[tokio::test]
async fn a_list_equals_the_servers_own() {
    let (_, running) = start(&["a", "b"], HttpConfig::new()).await;
    let list = Client::connect(&running).await.get("/api/v1/pods").await;
    assert_eq!(list.status, 200);
    assert_eq!(list.names(), ["a", "b"]);
    assert_eq!(list.json()["metadata"], json!({"resourceVersion": "3"}));
    assert_eq!(list.header("content-type"), Some("application/json"));
    assert_eq!(list.header("cache-control"), Some("no-cache, private"));
    let length = list.body.len().to_string();
    assert_eq!(list.header("content-length"), Some(length.as_str()));
}

#[tokio::test]
async fn pages_continue_at_their_token_and_expire() {
    let (server, running) = start(&["a", "b", "c"], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let first = client.get("/api/v1/pods?limit=2").await;
    assert_eq!(first.names(), ["a", "b"]);
    assert_eq!(first.json()["metadata"]["remainingItemCount"], 1);
    let token = first.json()["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    let next = format!("/api/v1/pods?limit=2&continue={token}");
    server
        .with(|server| server.create("pods", pod("d")))
        .unwrap();
    assert_eq!(client.get(&next).await.names(), ["c"]);

    server.with(|server| server.compact(server.version()));
    let expired = client.get(&next).await;
    assert_eq!(expired.status, 410);
    assert!(expired.json()["metadata"]["continue"].is_string());
}

#[tokio::test]
async fn an_object_is_created_changed_and_deleted() {
    let (_, running) = start(&[], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let json = ("content-type", "application/json");
    let merge = ("content-type", "application/merge-patch+json");
    let pods = "/api/v1/namespaces/default/pods";

    let made = client
        .ask(&format!("POST {pods}"), &[json], &pod("a"))
        .await;
    assert_eq!(
        (made.status, &made.json()["metadata"]["resourceVersion"]),
        (201, &json!("2"))
    );
    let again = client
        .ask(&format!("POST {pods}"), &[json], &pod("a"))
        .await;
    assert_eq!(
        (again.status, &again.json()["reason"]),
        (409, &json!("AlreadyExists"))
    );

    let change = json!({"metadata": {"labels": {"app": "db"}}});
    let patched = client
        .ask(&format!("PATCH {pods}/a"), &[merge], &change)
        .await;
    assert_eq!(
        (patched.status, &patched.json()["metadata"]["labels"]["app"]),
        (200, &json!("db"))
    );
    let stale = client
        .ask(&format!("PUT {pods}/a"), &[json], &made.json())
        .await;
    assert_eq!(
        (stale.status, &stale.json()["reason"]),
        (409, &json!("Conflict"))
    );

    let deleted = client
        .ask(&format!("DELETE {pods}/a"), &[], &Value::Null)
        .await;
    assert_eq!(deleted.status, 200);
    assert_eq!(client.get(&format!("{pods}/a")).await.status, 404);
}

#[tokio::test]
async fn the_accept_header_chooses_the_form() {
    let (_, running) = start(&["a"], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let table = (
        "accept",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    );
    let table = client
        .ask("GET /api/v1/pods", &[table], &Value::Null)
        .await
        .json();
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["rows"][0]["cells"][0], "a");
    assert_eq!(table["columnDefinitions"][1]["name"], "Age");

    let partial = (
        "accept",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    );
    let partial = client
        .ask("GET /api/v1/pods", &[partial], &Value::Null)
        .await
        .json();
    assert_eq!(partial["kind"], "PartialObjectMetadataList");
    assert_eq!(partial["items"][0]["metadata"]["name"], "a");
    assert_eq!(partial["items"][0].get("status"), None);

    let cbor = client.ask(
        "GET /api/v1/pods",
        &[("accept", "application/cbor")],
        &Value::Null,
    );
    assert_eq!(cbor.await.status, 406);
}

#[tokio::test]
async fn invalid_requests_are_refused_with_a_status() {
    let (_, running) = start(&["a"], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    for (line, status, content_type) in [
        ("GET /api/v1/widgets", 404, "application/json"),
        (
            "GET /apis/nowhere/v1/widgets",
            404,
            "text/plain; charset=utf-8",
        ),
        ("GET /nowhere", 404, "text/plain; charset=utf-8"),
        (
            "GET /api/v1/namespaces/default/pods/b",
            404,
            "application/json",
        ),
        (
            "POST /api/v1/namespaces/default/pods/a",
            405,
            "application/json",
        ),
        (
            "PATCH /api/v1/namespaces/default/pods/a",
            415,
            "application/json",
        ),
        ("GET /api/v1/pods?limit=many", 400, "application/json"),
    ] {
        let reply = client.ask(line, &[], &Value::Null).await;
        assert_eq!(reply.status, status, "{line}");
        assert_eq!(reply.header("content-type"), Some(content_type), "{line}");
    }
    let head = client.ask("HEAD /api/v1/pods", &[], &Value::Null).await;
    assert_eq!((head.status, head.body.len()), (405, 0));
}

#[tokio::test(start_paused = true)]
async fn a_future_version_is_refused_after_a_while_with_retry_after() {
    let (_, running) = start(&["a"], HttpConfig::new()).await;
    let begun = tokio::time::Instant::now();
    let list = Client::connect(&running)
        .await
        .get("/api/v1/pods?resourceVersion=99&resourceVersionMatch=NotOlderThan")
        .await;
    assert_eq!((list.status, list.header("retry-after")), (504, Some("1")));
    assert!(begun.elapsed().as_secs() >= 3);
}

#[tokio::test]
async fn only_long_lists_are_compressed_and_only_on_request() {
    let (server, running) = start(&[], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let gzip = ("accept-encoding", "gzip");
    let fill = |count: usize| {
        let text = "x".repeat(16 * 1024);
        server.with(|server| {
            for n in 0..count {
                let metadata =
                    json!({"generateName": format!("p{n}-"), "annotations": {"a": text}});
                server
                    .create("pods", json!({"metadata": metadata}))
                    .unwrap();
            }
        });
    };
    fill(7);
    let short = client.ask("GET /api/v1/pods", &[gzip], &Value::Null).await;
    assert_eq!(short.header("content-encoding"), None);
    assert!(short.body.len() < 128 * 1024);

    fill(2);
    let plain = client.get("/api/v1/pods").await;
    assert_eq!(plain.header("content-encoding"), None);
    assert!(plain.body.len() > 128 * 1024);
    let long = client.ask("GET /api/v1/pods", &[gzip], &Value::Null).await;
    assert_eq!(long.header("content-encoding"), Some("gzip"));
    assert_eq!(long.header("vary"), Some("Accept-Encoding"));
    let (decoded, rest) = first_member(&long.body);
    assert_eq!((decoded == plain.body, rest.len()), (true, 0));
}
