//! Bodies are shown where they are allowed. Secrets never are.

use informer::{Informer, InformerBuilder, Kind, by};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::place::{Events, LONG, at, create, get, here, lean, pod, server};

#[derive(Clone, Serialize, Deserialize)]
struct Pod {
    spec: Value,
}

impl Kind for Pod {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Pod";
    const PLURAL: &'static str = "pods";
}

#[tokio::test]
async fn every_form_shows_its_bodies_where_they_are_allowed() {
    let server = server();
    create(&server, "a");
    let connect = server.connect();
    let lean = InformerBuilder::lean_at(at("pods"))
        .start(&connect)
        .unwrap();
    let packed = InformerBuilder::<Pod>::packed().start(&connect).unwrap();
    let typed = InformerBuilder::<Pod>::typed().start(&connect).unwrap();
    let metadata = InformerBuilder::metadata_at(at("pods"))
        .start(&connect)
        .unwrap();
    let dynamic = InformerBuilder::dynamic_at(at("pods"))
        .start(&connect)
        .unwrap();
    let dynamic = Informer::new(dynamic, |_| ()).unwrap();
    let port = here()
        .add_with_bodies(&lean)
        .add_with_bodies(&packed)
        .add_with_bodies(&typed)
        .add_with_bodies(&metadata)
        .add_with_bodies(&dynamic);
    let port = port.start().await.unwrap();
    lean.synced(LONG).await.unwrap();
    packed.synced(LONG).await.unwrap();
    typed.synced(LONG).await.unwrap();
    metadata.synced(LONG).await.unwrap();
    dynamic.synced(LONG).await.unwrap();
    for (number, form) in ["lean", "packed", "ops::bodies::Pod", "metadata", "dynamic"]
        .into_iter()
        .enumerate()
    {
        let id = match number {
            0 => "pods.v1".to_owned(),
            _ => format!("pods.v1%20%23{}", number + 1),
        };
        let object = get(&port, &format!("/object/{id}?key=web/a")).await.json();
        assert_eq!(object["provenance"]["form"], form);
        assert_eq!(object["why_no_json"], Value::Null, "{form}");
        let json = &object["json"];
        let (name, node) = (&json["metadata"]["name"], &json["spec"]["nodeName"]);
        let expected = match form {
            "metadata" => (&json!("a"), &Value::Null),
            "ops::bodies::Pod" => (&Value::Null, &json!("node-1")),
            _ => (&json!("a"), &json!("node-1")),
        };
        assert_eq!((name, node), expected, "{form}");
        let dump = get(&port, &format!("/dump/{id}?bodies=true")).await.json();
        assert_eq!(dump["objects"][0]["json"], *json, "{form}");
        let dump = get(&port, &format!("/dump/{id}")).await.json();
        assert!(dump["objects"][0].get("json").is_none(), "{form}");
    }
    let found = get(&port, "/select/pods.v1?fields=spec.nodeName%3Dnode-1")
        .await
        .json();
    assert_eq!(found["total"], 1);
    let found = get(&port, "/select/pods.v1?fields=spec.nodeName%3Dnode-2")
        .await
        .json();
    assert_eq!(found["total"], 0);
}

#[tokio::test]
async fn a_body_in_protobuf_says_why_it_is_not_shown() {
    let server = server();
    create(&server, "a");
    let builder = InformerBuilder::packed_at(at("pods")).protobuf();
    let pods = builder.start(&server.connect()).unwrap();
    let port = here().add_with_bodies(&pods).start().await.unwrap();
    pods.synced(LONG).await.unwrap();
    let object = get(&port, "/object/pods.v1?key=web/a").await.json();
    assert_eq!(object["json"], Value::Null);
    let dump = get(&port, "/dump/pods.v1?bodies=true").await.json();
    for shown in [&object, &dump["objects"][0]] {
        let why = shown["why_no_json"].as_str().unwrap();
        assert!(why.contains("the object is kept in protobuf"), "{why}");
    }
    // Metadata is found by its path. Other fields have no names in protobuf, which must not look like no match.
    let found = get(&port, "/select/pods.v1?fields=metadata.name%3Da").await;
    assert_eq!(found.json()["total"], 1);
    let refused = get(&port, "/select/pods.v1?fields=spec.nodeName%3Dnode-1").await;
    assert_eq!(refused.status, 400);
    assert!(refused.error().contains("protobuf"), "{}", refused.error());
}

#[tokio::test]
async fn bodies_that_are_not_allowed_are_refused() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let answer = get(&port, "/dump/pods.v1?bodies=true").await;
    assert_eq!(answer.status, 403);
    assert!(
        answer.error().contains("add_with_bodies"),
        "{}",
        answer.error()
    );
    assert_eq!(get(&port, "/dump/pods.v1?bodies=false").await.status, 200);
}

/// A type that cannot be serialized does no harm.
#[tokio::test]
async fn a_type_that_panics_is_told() {
    #[derive(Deserialize)]
    struct Broken {}
    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("not today")
        }
    }
    impl Kind for Broken {
        const GROUP: &'static str = "";
        const VERSION: &'static str = "v1";
        const KIND: &'static str = "Pod";
        const PLURAL: &'static str = "pods";
    }

    let server = server();
    create(&server, "a");
    let pods = InformerBuilder::<Broken>::typed()
        .start(&server.connect())
        .unwrap();
    pods.synced(LONG).await.unwrap();
    let port = here().add_with_bodies(&pods).start().await.unwrap();
    let object = get(&port, "/object/pods.v1?key=web/a").await.json();
    assert_eq!(object["json"], Value::Null);
    assert!(
        object["why_no_json"]
            .as_str()
            .unwrap()
            .contains("not today"),
        "{object}"
    );
    let dump = get(&port, "/dump/pods.v1?bodies=true").await.json();
    assert!(
        dump["objects"][0]["why_no_json"]
            .as_str()
            .unwrap()
            .contains("not today")
    );
    let answer = get(&port, "/select/pods.v1?fields=a%3Db").await;
    assert_eq!(answer.status, 500, "{}", answer.body);
    assert_eq!(get(&port, "/livez").await.status, 200);
}

const HIDDEN: &str = "c2VjcmV0LXNhdWNl";

fn secret() -> Value {
    json!({
        "metadata": {
            "namespace": "web",
            "name": "keys",
            "labels": {"app": "shop"},
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration":
                    format!(r#"{{"data":{{"password":"{HIDDEN}"}}}}"#)
            }
        },
        "data": {"password": HIDDEN}
    })
}

/// Neither by a look-up, nor by a dump, a selector, an index, the feed, or the history.
#[tokio::test]
async fn secrets_are_never_shown() {
    let server = server();
    server
        .with(|server| server.create("secrets", secret()))
        .unwrap();
    let secrets = InformerBuilder::lean_at(at("secrets"))
        .index("app", by::label("app"))
        .index("password", by::field("data.password".parse().unwrap()))
        .index(
            "applied",
            by::annotation("kubectl.kubernetes.io/last-applied-configuration"),
        )
        .start(&server.connect())
        .unwrap();
    secrets.synced(LONG).await.unwrap();
    let port = here()
        .add_with_bodies(&secrets)
        .history(5)
        .start()
        .await
        .unwrap();
    let mut page = Events::open(&port).await;
    let status = page.find("status").await;
    assert_eq!(status["informers"][0]["bodies"], false);
    let mut changed = secret();
    changed["metadata"]["labels"]["app"] = "blog".into();
    server
        .with(|server| server.update("secrets", changed))
        .unwrap();
    let changes = page.find("changes").await;
    assert_eq!(changes[0]["key"], "web/keys");

    let mut said = vec![status.to_string(), changes.to_string()];
    for (path, status) in [
        ("/object/secrets.v1?key=web/keys", 200),
        ("/dump/secrets.v1", 200),
        ("/dump/secrets.v1?bodies=true", 403),
        ("/select/secrets.v1?labels=app%3Dblog", 200),
        ("/select/secrets.v1?fields=data.password!%3Dx", 400),
        ("/select/secrets.v1?index=password&value=x", 400),
        ("/select/secrets.v1?index=applied&value=x", 400),
        ("/status", 200),
        ("/timeline", 200),
        ("/metrics", 200),
    ] {
        let answer = get(&port, path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        said.push(answer.body);
    }
    for text in said {
        assert!(
            !text.contains(HIDDEN) && !text.contains("last-applied"),
            "{text}"
        );
    }
    let object = get(&port, "/object/secrets.v1?key=web/keys").await.json();
    assert_eq!(object["json"], Value::Null);
    assert!(
        object["why_no_json"]
            .as_str()
            .unwrap()
            .contains("Secrets are never shown")
    );
    assert_eq!(
        object["indices"],
        json!({"namespace": ["web"], "app": ["blog"]})
    );
}

/// Only those of the core group are Secrets.
#[tokio::test]
async fn a_custom_kind_of_the_same_name_is_no_secret() {
    let server = server();
    server
        .with(|server| server.create("pods", pod("a")))
        .unwrap();
    let pods = lean(&server, "pods").await;
    let others = InformerBuilder::lean_at(informer::Target::new("example.com", "v1", "secrets"));
    let others = others.start(&server.connect()).unwrap();
    let port = here().add_with_bodies(&others).add_with_bodies(&pods);
    let status = get(&port.start().await.unwrap(), "/status").await.json();
    assert_eq!(status["informers"][0]["bodies"], true);
}
