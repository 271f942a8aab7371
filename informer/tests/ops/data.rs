//! `/status`, `/timeline`, `/metrics` and `/`.

use informer::controller::Controller;
use informer::election::ElectionBuilder;
use informer::runtime::Tokio;
use informer::{InformerBuilder, ObjectKey, SharedInformerFactory, by};
use informer_transport_mock::fault::Fault;
use serde_json::{Value, json};

use crate::place::{LONG, at, create, get, here, lean, send, server};

#[tokio::test]
async fn the_status_has_everything_that_was_added() {
    let server = server();
    create(&server, "a");
    let pods = InformerBuilder::lean_at(at("pods"))
        .index("app", by::label("app"))
        .start(&server.connect())
        .unwrap();
    pods.synced(LONG).await.unwrap();
    let again = lean(&server, "pods").await;
    let controller = Controller::<String>::new(Tokio::current().unwrap()).named("sweeper");
    let election = ElectionBuilder::new(ObjectKey::new("web", "shop")).identity("me");
    let election = election.start(&server).unwrap();
    let _guard = election.leading().await.unwrap();
    let port = here()
        .add(&pods)
        .add_with_bodies(&again)
        .add(&pods)
        .add(&controller)
        .add(&election);
    let port = port.start().await.unwrap();

    let answer = get(&port, "/status").await;
    assert!(answer.has_header("content-type: application/json"));
    let status = answer.json();
    assert_eq!(status["program"]["pid"], std::process::id());
    assert!(status["program"]["uptime"].as_f64().unwrap() >= 0.0);
    assert!(
        status["program"]["name"]
            .as_str()
            .unwrap()
            .starts_with("ops-"),
        "{status}"
    );
    let informers = status["informers"].as_array().unwrap();
    let ids: Vec<_> = informers
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["pods.v1", "pods.v1 #2"]);
    let [first, second] = [&informers[0], &informers[1]];
    assert_eq!(first["name"], "pods.v1");
    assert_eq!(first["objects"], 1);
    assert_eq!(first["phase"]["name"], "watching");
    assert_eq!(first["fresh"], true);
    assert_eq!(first["indices"], json!(["app", "namespace"]));
    assert_eq!(
        (&first["bodies"], &second["bodies"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(first["history"], false);
    assert!(
        first["explain"][0].as_str().unwrap().contains("watching"),
        "{first}"
    );
    let controller = &status["controllers"][0];
    assert_eq!(
        (&controller["id"], &controller["workers"]),
        (&json!("sweeper"), &json!(0))
    );
    assert!(controller["explain"][0].is_string());
    let election = &status["elections"][0];
    assert_eq!(
        (&election["id"], &election["leads"]),
        (&json!("web/shop"), &json!(true))
    );
    assert!(
        election["explain"][0]
            .as_str()
            .unwrap()
            .contains("me, leads")
    );
    assert_eq!(status["clients"], json!([]));
}

#[tokio::test]
async fn a_factory_shows_informers_that_it_makes_later() {
    let server = server();
    let factory = SharedInformerFactory::new(server.connect(), Tokio::current().unwrap());
    let port = here().add(&factory).start().await.unwrap();
    assert_eq!(get(&port, "/status").await.json()["informers"], json!([]));
    let pods = factory
        .informer(&InformerBuilder::lean_at(at("pods")))
        .unwrap();
    let ids = get(&port, "/status").await.json()["informers"][0]["id"].clone();
    assert_eq!(ids, "pods.v1");
    drop(pods);
}

#[tokio::test]
async fn a_timeline_tells_phases_and_failures_in_order() {
    let server = server();
    server.inject(Fault::Fail);
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let timeline = get(&port, "/timeline").await.json();
    let moments = timeline["informers"]["pods.v1"].as_array().unwrap();
    let names: Vec<_> = moments
        .iter()
        .map(|it| (it["kind"].as_str().unwrap(), it["name"].as_str().unwrap()))
        .collect();
    assert_eq!(names.last(), Some(&("phase", "watching")), "{names:?}");
    let failure = moments.iter().find(|it| it["kind"] == "failure").unwrap();
    assert!(
        failure["text"].as_str().unwrap().contains(": "),
        "{failure}"
    );
    let ages: Vec<_> = moments
        .iter()
        .map(|it| it["seconds_ago"].as_f64().unwrap())
        .collect();
    assert!(ages.is_sorted_by(|older, newer| older >= newer), "{ages:?}");
}

#[tokio::test]
async fn metrics_are_those_of_what_was_added() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let answer = get(&port, "/metrics").await;
    let content_type = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(answer.has_header(content_type), "{}", answer.head);
    assert!(
        answer
            .body
            .contains("informer_objects{informer=\"pods.v1\"} 1\n"),
        "{}",
        answer.body
    );
    assert!(answer.body.ends_with("# EOF\n"));
}

#[tokio::test]
async fn the_page_is_whole_and_may_only_ask_this_port() {
    let port = here().start().await.unwrap();
    let page = get(&port, "/").await;
    assert_eq!(page.status, 200);
    assert!(page.has_header("content-type: text/html; charset=utf-8"));
    assert!(page.body.starts_with("<!doctype html>") && page.body.trim_end().ends_with("</html>"));
    assert!(page.body.len() < 100 * 1024, "{}", page.body.len());
    let policy = "content-security-policy: default-src 'none'; script-src 'unsafe-inline'; \
        style-src 'unsafe-inline'; connect-src 'self'; img-src data:; frame-ancestors 'none'; \
        base-uri 'none'; form-action 'none'";
    for header in [
        policy,
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "referrer-policy: no-referrer",
    ] {
        assert!(page.has_header(header), "{header}: {}", page.head);
    }
    assert!(!page.head.contains("access-control"), "{}", page.head);
}

#[tokio::test]
async fn a_head_has_the_headers_and_no_body() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    for path in ["/", "/status", "/events", "/dump/pods.v1", "/livez"] {
        let request =
            format!("HEAD {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let answer = send(&port, &request).await;
        assert_eq!((answer.status, &*answer.body), (200, ""), "{path}");
        assert!(answer.head.contains("content-type: "), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_path_lists_those_there_are() {
    let port = here().start().await.unwrap();
    for path in [
        "/nothing",
        "/status/",
        "/object",
        "/object/",
        "/dump/a/b",
        "//",
        "/livez/x",
        "/x/y",
    ] {
        let answer = get(&port, path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.error().contains("/readyz"), "{path}");
        assert!(answer.has_header("x-content-type-options: nosniff"));
    }
    let answer = get(&port, "/status?verbose=1").await;
    assert_eq!(
        (answer.status, &*answer.error()),
        (400, "Unknown parameter \"verbose\".")
    );
    let answer = get(&port, "/dump/pods.v1").await;
    assert_eq!(answer.status, 404);
    assert!(
        answer.error().contains("/status lists"),
        "{}",
        answer.error()
    );
}

/// So that scripts can rely on it.
#[tokio::test]
async fn a_status_without_anything_is_empty_lists() {
    let port = here().start().await.unwrap();
    let status = get(&port, "/status").await.json();
    for list in ["informers", "controllers", "elections", "clients"] {
        assert_eq!(status[list], Value::Array(Vec::new()), "{list}");
    }
}
