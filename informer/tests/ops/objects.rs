//! `/object`, `/select` and `/dump`.

use informer::{InformerBuilder, LeanBody, Object, SharedInformer, TypedIndex, by};
use informer_transport_mock::MockServer;
use serde_json::{Value, json};

use crate::place::{Events, LONG, at, create, get, here, lean, pod, server};

async fn indexed(server: &MockServer) -> SharedInformer<LeanBody> {
    let informer = InformerBuilder::lean_at(at("pods"))
        .index("app", by::label("app"))
        .index(
            "size",
            TypedIndex::of(|pod: &Object<LeanBody>| Some(pod.key().name().len() as u16)),
        )
        .start(&server.connect())
        .unwrap();
    informer.synced(LONG).await.unwrap();
    informer
}

#[tokio::test]
async fn an_object_comes_with_labels_indices_and_provenance() {
    let server = server();
    create(&server, "shop");
    let pods = indexed(&server).await;
    let port = here().add(&pods).start().await.unwrap();
    let object = get(&port, "/object/pods.v1?key=web%2Fshop").await.json();
    let kept = pods.lister().get("web", "shop").unwrap();
    assert_eq!(object["key"], "web/shop");
    assert_eq!(object["version"], kept.version());
    assert_eq!(object["uid"], kept.uid());
    assert_eq!(object["labels"], json!({"app": "shop"}));
    let indices = json!({"namespace": ["web"], "app": ["shop"], "size": ["0x0004"]});
    assert_eq!(object["indices"], indices);
    let provenance = &object["provenance"];
    assert_eq!(provenance["source"], "/api/v1/pods");
    assert_eq!(provenance["form"], "lean");
    assert_eq!(provenance["size"], kept.size());
    assert_eq!(
        (&provenance["cause"], &provenance["seconds_ago"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(object["json"], Value::Null);
    assert!(
        object["why_no_json"]
            .as_str()
            .unwrap()
            .contains("add_with_bodies")
    );
    assert_eq!(object["history"], Value::Null);
}

#[tokio::test]
async fn what_is_not_there_is_said_to_be_missing() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let answer = get(&port, "/object/pods.v1?key=web/none").await;
    assert_eq!(
        (answer.status, &*answer.error()),
        (404, "pods.v1 has no object \"web/none\".")
    );
    assert_eq!(get(&port, "/object/pods?key=web/none").await.status, 404);
    let answer = get(&port, "/object/pods.v1").await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.error().contains("?key=namespace/name"),
        "{}",
        answer.error()
    );
}

#[tokio::test]
async fn an_informer_is_found_by_its_name_whatever_is_in_it() {
    let server = server();
    create(&server, "shop");
    let pods = InformerBuilder::lean_at(at("pods"))
        .namespace("web")
        .labels("app in (shop,x),!a.b/c")
        .start(&server.connect())
        .unwrap();
    pods.synced(LONG).await.unwrap();
    let port = here().add(&pods).start().await.unwrap();
    let id = "pods.v1%20in%20web%20with%20labels%20!a.b%2Fc%2Capp%20in%20(shop%2Cx)";
    let status = get(&port, "/status").await.json();
    let named = status["informers"][0]["id"].as_str().unwrap();
    assert_eq!(
        named
            .replace(' ', "%20")
            .replace(',', "%2C")
            .replace('/', "%2F"),
        id
    );
    let answer = get(&port, &format!("/object/{id}?key=web/shop")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn a_selection_says_how_it_was_found_and_how_many_there_are() {
    let server = server();
    for name in ["a", "b", "long"] {
        create(&server, name);
    }
    let pods = indexed(&server).await;
    let port = here().add(&pods).start().await.unwrap();
    let select = async |query: &str| {
        let answer = get(&port, &format!("/select/pods.v1?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let found = answer.json();
        let keys = found["keys"].as_array().unwrap().iter();
        let keys: Vec<_> = keys
            .map(|it| it["key"].as_str().unwrap().to_owned())
            .collect();
        (
            found["plan"].as_str().unwrap().to_owned(),
            found["total"].as_u64().unwrap(),
            keys,
        )
    };
    let (plan, total, keys) = select("labels=app+in+(a,b)").await;
    assert_eq!((total, keys.len()), (2, 2));
    assert!(plan.contains("\"app\""), "{plan}");
    let (_, total, keys) = select("limit=1").await;
    assert_eq!((total, keys), (3, vec!["web/a".to_owned()]));
    let (plan, total, _) = select("index=app&value=b").await;
    assert_eq!(total, 1);
    assert!(plan.contains("\"app\""), "{plan}");
    // As the look-up of an object shows it.
    assert_eq!(select("index=size&value=0x0004").await.2, ["web/long"]);
    assert_eq!(
        select("index=size&value=0x0001&labels=app!%3Da").await.2,
        ["web/b"]
    );
    assert_eq!(select("labels=&fields=&index=&value=").await.1, 3);
}

#[tokio::test]
async fn a_wrong_selection_says_what_is_wrong() {
    let server = server();
    let pods = indexed(&server).await;
    let port = here().add(&pods).start().await.unwrap();
    for (query, says) in [
        ("labels=a+in+b", "The selector \"a in b\""),
        ("fields=a", "The selector \"a\""),
        ("fields=spec.nodeName%3Da", "Field selectors read bodies."),
        (
            "index=node&value=a",
            "There is no index \"node\"; there are: app, size, namespace.",
        ),
        ("value=a", "Which index?"),
        ("limit=many", "`limit` is a number"),
        ("limit=1&limit=2", "twice"),
        ("colour=red", "Unknown parameter \"colour\""),
    ] {
        let answer = get(&port, &format!("/select/pods.v1?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.error().contains(says), "{query}: {}", answer.error());
    }
}

/// More than one piece.
#[tokio::test]
async fn a_dump_has_every_key_and_version() {
    let server = server();
    for number in 0..3_000 {
        create(&server, &format!("a-pod-with-a-long-name-{number:05}"));
    }
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let answer = get(&port, "/dump/pods.v1").await;
    assert!(answer.body.len() > 128 * 1024, "{}", answer.body.len());
    assert!(!answer.head.contains("content-length"), "{}", answer.head);
    let dump = answer.json();
    assert_eq!(dump["informer"], "pods.v1");
    assert_eq!(dump["version"].as_str(), pods.status().version.as_deref());
    let dumped = dump["objects"].as_array().unwrap().to_vec();
    let held = pods.snapshot();
    let held = held
        .iter()
        .map(|pod| json!({"key": pod.key().to_string(), "version": pod.version()}));
    assert_eq!(dumped, held.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_dump_of_nothing_is_an_empty_list() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    assert_eq!(
        get(&port, "/dump/pods.v1").await.json()["objects"],
        json!([])
    );
    assert_eq!(get(&port, "/dump/pods.v1?bodies=maybe").await.status, 400);
}

#[tokio::test]
async fn a_history_has_the_last_changes_of_an_object() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).history(2).start().await.unwrap();
    // The first status comes when all informers are followed.
    Events::open(&port).await.find("status").await;
    let mut changes = pods.stream().unwrap();
    changes.next().await;
    for node in ["n1", "n2", "n3"] {
        let mut changed = pod("a");
        changed["spec"]["nodeName"] = node.into();
        server
            .with(|server| server.update("pods", changed))
            .unwrap();
        changes.next().await;
    }
    let object = async || get(&port, "/object/pods.v1?key=web/a").await.json();
    let newest = pods.lister().get("web", "a").unwrap().version().to_owned();
    let mut shown = object().await;
    // It is another listener than ours that notes them.
    while shown["history"]
        .as_array()
        .unwrap()
        .last()
        .is_none_or(|it| it["version"] != newest)
    {
        shown = object().await;
    }
    let history = shown["history"].as_array().unwrap();
    assert_eq!(history.len(), 2, "{history:?}");
    for change in history {
        assert_eq!(
            (&change["what"], &change["cause"]),
            (&json!("updated"), &json!("watch"))
        );
        assert!(change["seconds_ago"].as_f64().unwrap() < 60.0);
    }
    assert_eq!(shown["provenance"]["cause"], "watch");
    assert_eq!(
        shown["provenance"]["seconds_ago"],
        history[1]["seconds_ago"]
    );
    assert_eq!(
        get(&port, "/status").await.json()["informers"][0]["history"],
        true
    );
}
