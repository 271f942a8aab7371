//! Random writes against a model. Every list of the past shows the state at its version, and every
//! watch folds to the state that it claims.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests may panic"
)]

mod support;

use std::collections::BTreeMap;

use informer_test_support::Random;
use informer_transport_mock::Server;
use informer_transport_mock::watch::Watch;
use serde_json::{Value, json};
use support::{at, get, lines, server, value, watch};

/// The objects at one version: version and label by key.
type Model = BTreeMap<String, (String, String)>;

/// One random write to a few pods, or to another kind.
fn step(server: &mut Server, random: &mut Random) {
    let namespace = ["a", "a-b", "b"][random.below(3) as usize];
    let name = format!("p{}", random.below(4));
    let key = format!("{namespace}/{name}");
    let colour = ["red", "blue"][random.below(2) as usize];
    let labels = json!({"colour": colour});
    let _ = match random.below(6) {
        0 | 1 => server
            .create(
                "pods",
                json!({"metadata": {"name": name, "namespace": namespace, "labels": labels}}),
            )
            .map(drop),
        2 | 3 => server
            .patch("pods", &key, json!({"metadata": {"labels": labels}}))
            .map(drop),
        4 => server.delete("pods", &key).map(drop),
        _ => server
            .create("configmaps", json!({"metadata": {"generateName": "c"}}))
            .map(drop),
    };
}

fn entry(object: &Value) -> (String, (String, String)) {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let key = format!(
        "{}/{}",
        text(&metadata["namespace"]),
        text(&metadata["name"])
    );
    (
        key,
        (
            text(&metadata["resourceVersion"]),
            text(&metadata["labels"]["colour"]),
        ),
    )
}

fn listed(body: &str) -> Model {
    value(body)["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(entry)
        .collect()
}

fn present(server: &Server) -> Model {
    let objects = server.objects("pods");
    objects
        .map(|object| entry(&Value::Object(object.value().clone())))
        .collect()
}

fn selected(model: &Model, prefix: &str, colour: &str) -> Model {
    let is_meant = |(key, (_, label)): &(&String, &(String, String))| {
        key.starts_with(prefix) && (colour.is_empty() || label == colour)
    };
    model
        .iter()
        .filter(is_meant)
        .map(|(key, object)| (key.clone(), object.clone()))
        .collect()
}

/// Applies a watch to the client's state. Every event must be consistent with it.
fn fold(model: &mut Model, watch: &mut Watch, server: &Server) {
    for line in lines(watch, server, at(0)).0 {
        let event = value(&line);
        if event["type"] == "BOOKMARK" {
            continue;
        }
        let (key, object) = entry(&event["object"]);
        match event["type"].as_str().unwrap() {
            "ADDED" => assert_eq!(model.insert(key, object), None, "{line}"),
            "MODIFIED" => assert!(model.insert(key, object).is_some(), "{line}"),
            "DELETED" => assert!(model.remove(&key).is_some(), "{line}"),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn lists_and_watches_agree_with_the_model() {
    for seed in 1..=20_u64 {
        let mut random = Random::new(seed);
        let mut server = server();
        let mut states = vec![(server.version(), present(&server))];
        for _ in 0..60 {
            step(&mut server, &mut random);
            if states.last().unwrap().0 != server.version() {
                states.push((server.version(), present(&server)));
            }
        }
        let newest = present(&server);
        for (version, state) in &states {
            let exact = format!("resourceVersion={version}&resourceVersionMatch=Exact");
            assert_eq!(
                &listed(&get(&mut server, &format!("/api/v1/pods?{exact}")).1),
                state,
                "seed {seed} at {version}"
            );
            for (namespace, colour) in [("", "red"), ("a", ""), ("a-b", "blue")] {
                let (path, prefix) = match namespace {
                    "" => ("/api/v1/pods".to_owned(), String::new()),
                    _ => (
                        format!("/api/v1/namespaces/{namespace}/pods"),
                        format!("{namespace}/"),
                    ),
                };
                let selector = match colour {
                    "" => String::new(),
                    _ => format!("&labelSelector=colour%3D{colour}"),
                };
                let mut known = selected(state, &prefix, colour);
                let body = get(&mut server, &format!("{path}?{exact}{selector}")).1;
                assert_eq!(listed(&body), known, "seed {seed} at {version}");
                let mut watch = watch(
                    &mut server,
                    &format!("{path}?watch=1&resourceVersion={version}{selector}"),
                );
                fold(&mut known, &mut watch, &server);
                assert_eq!(
                    known,
                    selected(&newest, &prefix, colour),
                    "seed {seed} from {version}"
                );
            }
        }
    }
}

#[test]
fn pages_of_every_size_make_the_whole_list() {
    for seed in 1..=10_u64 {
        let mut random = Random::new(seed);
        let mut server = server();
        for _ in 0..40 {
            step(&mut server, &mut random);
        }
        for limit in 1..=13 {
            let whole = present(&server);
            let (mut paged, mut token) = (Model::new(), String::new());
            loop {
                let (code, body) = get(
                    &mut server,
                    &format!("/api/v1/pods?limit={limit}&continue={token}"),
                );
                assert_eq!(code, 200);
                let page = listed(&body);
                assert!(page.len() <= limit);
                let metadata = &value(&body)["metadata"];
                let remaining = metadata["remainingItemCount"].as_u64().unwrap_or(0) as usize;
                paged.extend(page);
                assert_eq!(
                    paged.len() + remaining,
                    whole.len(),
                    "seed {seed} limit {limit}"
                );
                step(&mut server, &mut random);
                match metadata["continue"].as_str() {
                    Some(next) => token = next.to_owned(),
                    None => break,
                }
            }
            assert_eq!(paged, whole, "seed {seed} limit {limit}");
        }
    }
}
