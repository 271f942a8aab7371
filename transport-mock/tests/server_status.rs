//! Refusals, byte for byte as the Go libraries encode them (`golden/statuses.txt`).
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use std::collections::BTreeMap;

use informer_transport_mock::Server;
use informer_transport_mock::answer::Answer;
use informer_transport_mock::api::{ApiKind, Registry};
use informer_transport_mock::status::{ApiError, Reason};
use serde_json::{Value, json};
use support::{at, pod, send, server};

/// The built-in kind with this name.
fn kind(plural: &str) -> ApiKind {
    ApiKind::clone(Registry::with_builtins().get(plural).unwrap())
}

/// Refusals that no request here causes.
fn made() -> Vec<(&'static str, ApiError)> {
    let (pods, deployments) = (kind("pods"), kind("deployments"));
    vec![
        ("notfound", ApiError::not_found(&pods, "web")),
        ("notfound2", ApiError::not_found(&deployments, "web")),
        ("exists", ApiError::already_exists(&deployments, "web")),
        (
            "genexists",
            ApiError::generated_name_exists(&pods, "web-abcde"),
        ),
        ("forbidden", ApiError::forbidden(&pods, "", "no")),
        ("forbidden2", ApiError::forbidden(&pods, "web", "no")),
        ("unauthorized", ApiError::unauthorized()),
        ("badrequest", ApiError::bad_request("a <b> & \"c\"")),
        (
            "toomany",
            ApiError::too_many_requests("storage is (re)initializing", 1),
        ),
        ("large", ApiError::too_large_version(9, 7)),
        (
            "expired",
            ApiError::expired("too old resource version: 1 (20362)"),
        ),
        ("gone", ApiError::new(Reason::Gone, "gone")),
        ("internal", ApiError::internal_error("why")),
        ("method", ApiError::method_not_allowed()),
    ]
}

/// Refusals that requests cause.
#[rustfmt::skip]
fn asked(server: &mut Server) -> Vec<(&'static str, Answer)> {
    server.create("pods", json!({"metadata": {"name": "web"}})).unwrap();
    server.create("pods", json!({"metadata": {"name": "a", "finalizers": ["x/c"]}})).unwrap();
    server.delete("pods", "a").unwrap();
    server.create("leases", json!({"metadata": {"name": "l"}})).unwrap();
    let old = json!({"metadata": {"name": "web", "resourceVersion": "1"}});
    let bad = json!({"metadata": {"name": "Bad_Name", "labels": {"-k": "-v"}, "finalizers": ["a/b/c"]}});
    let labelled = |key: &str| json!({"metadata": {"name": "a", "labels": {key: "x"}}});
    [
        ("conflict", "PUT /api/v1/namespaces/default/pods/web", old),
        ("invalid", "POST /api/v1/namespaces/Bad.Ns/pods", bad),
        ("labels0", "POST /api/v1/namespaces/b/pods", labelled("/a")),
        ("labels1", "POST /api/v1/namespaces/b/pods", labelled("a/")),
        ("labels2", "POST /api/v1/namespaces/b/pods", labelled("A_/b")),
        ("labels3", "POST /api/v1/namespaces/b/pods", labelled("a/b/c")),
        ("noname", "POST /apis/apps/v1/namespaces/a/deployments", json!({})),
        ("newfinal", "PUT /api/v1/namespaces/default/pods/a", json!({"metadata": {"name": "a", "finalizers": ["x/b", "x/a"]}})),
        ("unspec", "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/l", json!({"metadata": {"name": "l"}})),
        ("options1", "GET /api/v1/pods?resourceVersionMatch=Exact", Value::Null),
        ("options2", "GET /api/v1/pods?resourceVersionMatch=Exact&resourceVersion=0", Value::Null),
        ("options3", "GET /api/v1/pods?resourceVersionMatch=Newest&resourceVersion=5", Value::Null),
        ("options4", "GET /api/v1/pods?resourceVersionMatch=Newest&continue=x", Value::Null),
        ("options5", "GET /api/v1/pods?sendInitialEvents=true", Value::Null),
        ("options6", "GET /api/v1/pods?watch=1&sendInitialEvents=true", Value::Null),
        ("options7", "GET /api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact", Value::Null),
        ("options8", "GET /api/v1/pods?watch=1&resourceVersionMatch=NotOlderThan", Value::Null),
        ("options9", "GET /api/v1/pods?watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=1&continue=x", Value::Null),
    ]
    .map(|(label, line, body)| (label, send(server, line, &body, at(0))))
    .into()
}

#[test]
fn refusals_equal_those_of_the_go_libraries() {
    let golden: BTreeMap<&str, &str> = include_str!("golden/statuses.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .collect();
    let made = made()
        .into_iter()
        .map(|(label, refused)| (label, refused.into()));
    let answers: Vec<(&str, Answer)> = made.chain(asked(&mut server())).collect();
    for (label, answer) in &answers {
        let expected = golden[label];
        assert_eq!(support::text(answer), format!("{expected}\n"), "{label}");
        let code = support::value(expected)["code"].as_u64();
        assert_eq!(Some(u64::from(answer.status)), code, "{label}");
    }
    let known: Vec<&str> = answers.iter().map(|(label, _)| *label).collect();
    let left: Vec<_> = golden
        .keys()
        .filter(|label| !known.contains(label))
        .collect();
    assert_eq!(left, [&"cont"], "recorded but not compared");
}

#[test]
fn a_fresh_token_is_in_the_metadata() {
    let mut server = server();
    for name in ["a", "b"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    let (_, page) = support::get(&mut server, "/api/v1/pods?limit=1");
    let token = support::value(&page)["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    server.delete("pods", "a").unwrap();
    server.compact(4);
    let (_, body) = support::get(&mut server, &format!("/api/v1/pods?continue={token}"));
    assert!(body.starts_with("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEs"), "{body}");
    assert!(
        body.ends_with("\"reason\":\"Expired\",\"code\":410}\n"),
        "{body}"
    );
}

#[test]
fn answers_carry_retry_after() {
    let answer = Answer::from(ApiError::too_many_requests("busy", 5));
    assert_eq!((answer.status, answer.retry_after), (429, Some(5)));
    let answer = Answer::from(ApiError::expired("old"));
    assert_eq!((answer.status, answer.retry_after), (410, None));
}
