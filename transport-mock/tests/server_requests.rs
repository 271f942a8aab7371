//! Paths, methods and forms, checked against a real server's behaviour.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::Server;
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::request::{ApiRequest, Headers, PatchType, Subresource, Verb};
use serde_json::{Value, json};
use support::{at, get, names, send, send_as, server, text, value};

fn parsed(method: &str, path: &str, query: &str) -> ApiRequest {
    let headers = Headers {
        accept: None,
        content_type: Some("application/merge-patch+json"),
    };
    let headers = if method == "PATCH" {
        headers
    } else {
        Headers::default()
    };
    ApiRequest::parse(method, path, query, headers).unwrap()
}

#[test]
fn path_and_method_decide_the_verb() {
    for (method, path, query, verb, place) in [
        ("GET", "/api/v1/pods", "", Verb::List, " v1 pods - - false"),
        (
            "GET",
            "/api/v1/pods",
            "watch=true",
            Verb::Watch,
            " v1 pods - - false",
        ),
        (
            "GET",
            "/api/v1/pods",
            "watch",
            Verb::Watch,
            " v1 pods - - false",
        ),
        (
            "GET",
            "/api/v1/pods",
            "watch=0",
            Verb::List,
            " v1 pods - - false",
        ),
        (
            "GET",
            "/api/v1/pods",
            "watch=False",
            Verb::List,
            " v1 pods - - false",
        ),
        (
            "GET",
            "/api/v1/namespaces/a/pods/b",
            "watch=1",
            Verb::Get,
            " v1 pods a b false",
        ),
        (
            "GET",
            "/api/v1/namespaces/a/pods/b/status",
            "",
            Verb::Get,
            " v1 pods a b true",
        ),
        (
            "GET",
            "/api/v1/namespaces",
            "",
            Verb::List,
            " v1 namespaces - - false",
        ),
        (
            "GET",
            "/api/v1/namespaces/a",
            "",
            Verb::Get,
            " v1 namespaces - a false",
        ),
        (
            "PUT",
            "/api/v1/namespaces/a/status",
            "",
            Verb::Update,
            " v1 namespaces - a true",
        ),
        (
            "POST",
            "/apis/apps/v1/namespaces/a/deployments",
            "",
            Verb::Create,
            "apps v1 deployments a - false",
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/a/deployments/b",
            "",
            Verb::Patch(PatchType::Merge),
            "apps v1 deployments a b false",
        ),
        (
            "DELETE",
            "/api/v1/nodes/n%2D1",
            "",
            Verb::Delete,
            " v1 nodes - n-1 false",
        ),
        (
            "DELETE",
            "/api/v1/nodes",
            "",
            Verb::DeleteCollection,
            " v1 nodes - - false",
        ),
    ] {
        let request = parsed(method, path, query);
        assert_eq!(request.verb, verb, "{method} {path}?{query}");
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let found = format!(
            "{} {} {} {} {} {}",
            request.group,
            request.version,
            request.plural,
            or_none(&request.namespace),
            or_none(&request.name),
            request.subresource == Some(Subresource::Status)
        );
        assert_eq!(found, place, "{method} {path}");
        assert_eq!(request.path(), path.replace("%2D", "-"));
    }
}

fn code(server: &mut Server, line: &str) -> u16 {
    send(server, line, &json!({"metadata": {"name": "a"}}), at(0)).status
}

#[test]
fn unknown_paths_answer_404() {
    let mut server = server();
    for path in ["/", "/api", "/healthz", "/apis/example.com/v1/widgets"] {
        let answer = send(&mut server, &format!("GET {path}"), &Value::Null, at(0));
        assert_eq!(
            (answer.status, text(&answer).as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
        assert_eq!(answer.content_type, "text/plain; charset=utf-8");
    }
    // A known group answers with a Status.
    for path in [
        "/api/v1",
        "/api/v1/widgets",
        "/api/v2/pods",
        "/apis/apps/v1beta1/deployments",
        "/api/v1/pods/a",
        "/api/v1/namespaces/a/nodes",
        "/api/v1/namespaces/a/nodes/b",
        "/api/v1/namespaces/a/pods/b/log",
        "/api/v1/namespaces/a/pods/b/status/c",
    ] {
        let answer = send(&mut server, &format!("GET {path}"), &Value::Null, at(0));
        let status = value(&text(&answer));
        let message = "the server could not find the requested resource";
        assert_eq!(
            (answer.status, &status["message"], &status["details"]),
            (404, &json!(message), &json!({})),
            "{path}"
        );
        assert_eq!(answer.content_type, "application/json");
    }
}

#[test]
fn unsupported_methods_answer_405() {
    let mut server = server();
    for line in [
        "POST /api/v1/pods",
        "DELETE /api/v1/pods",
        "PUT /api/v1/namespaces/a/pods",
        "PATCH /api/v1/namespaces/a/pods",
        "POST /api/v1/namespaces/a/pods/b",
        "DELETE /api/v1/namespaces/a/pods/b/status",
        "OPTIONS /api/v1/namespaces/a/pods",
    ] {
        assert_eq!(code(&mut server, line), 405, "{line}");
    }
}

#[test]
fn bodies_are_json_and_answers_what_the_client_accepts() {
    let mut server = server();
    let body = json!({"metadata": {"name": "a"}});
    let line = "POST /api/v1/namespaces/a/pods";
    for (accept, content_type, status) in [
        (None, Some("application/yaml"), 415),
        (None, Some("application/vnd.kubernetes.protobuf"), 415),
        (Some("application/cbor"), None, 406),
        (
            Some("application/cbor,*/*"),
            Some("application/json; charset=utf-8"),
            201,
        ),
    ] {
        let answer = send_as(
            &mut server,
            line,
            &body,
            Headers {
                accept,
                content_type,
            },
            at(0),
        );
        assert_eq!(answer.status, status, "{accept:?} {content_type:?}");
    }
}

#[test]
fn custom_resources_follow_their_definition() {
    let mut server = server();
    server.register(
        ApiKind::custom("example.com", "v1", "widgets", "Widget").with_selectable(["spec.colour"]),
    );
    assert_eq!(
        get(&mut server, "/apis/example.com/v1/widgets").1,
        "{\"apiVersion\":\"example.com/v1\",\"items\":[],\"kind\":\"WidgetList\",\"metadata\":{\"continue\":\"\",\"resourceVersion\":\"1\"}}\n"
    );
    for (name, colour) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        server
            .create(
                "widgets",
                json!({"metadata": {"name": name}, "spec": {"colour": colour}, "status": {"x": 1}}),
            )
            .unwrap();
    }
    let (_, list) = get(&mut server, "/apis/example.com/v1/widgets?limit=1");
    let list = value(&list);
    assert_eq!(list["metadata"]["remainingItemCount"], 2);
    assert_eq!(list["items"][0]["kind"], "Widget");
    assert_eq!(list["items"][0].get("status"), None);
    assert_eq!(list["items"][0]["metadata"]["generation"], 1);
    let (_, red) = get(
        &mut server,
        "/apis/example.com/v1/widgets?fieldSelector=spec.colour%3Dred",
    );
    assert_eq!(names(&red), ["a", "c"]);
}

#[test]
fn a_removed_kind_comes_back_empty() {
    let mut server = server();
    let widget = || ApiKind::custom("example.com", "v1", "widgets", "Widget");
    server.register(widget());
    server
        .create("widgets", json!({"metadata": {"name": "a"}}))
        .unwrap();
    server.remove_kind("widgets").unwrap();
    assert_eq!(get(&mut server, "/apis/example.com/v1/widgets").0, 404);
    assert_eq!(server.remove_kind("widgets").unwrap_err().code(), 404);
    server.register(widget());
    let (code, list) = get(&mut server, "/apis/example.com/v1/widgets");
    assert_eq!((code, names(&list).len()), (200, 0));
    // Registering a kind again also starts empty.
    server
        .create("widgets", json!({"metadata": {"name": "a"}}))
        .unwrap();
    server.register(widget());
    assert_eq!(server.objects("widgets").count(), 0);
}
