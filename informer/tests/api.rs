//! Reads and writes of single objects, on the mock in memory. Over HTTP: `faults_over_http/writes.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::time::Duration;

use informer::informer_transport_mock::fault::Fault;
use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use informer::{
    Api, ApiErrorKind, Delete, Deletion, InformerBuilder, Kind, ObjectKey, Patch, Propagation,
    Target,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// As users write their own types: without `apiVersion` and `kind`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ConfigMap {
    metadata: Metadata,
    #[serde(default)]
    data: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    namespace: String,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    resource_version: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finalizers: Vec<String>,
}

impl Kind for ConfigMap {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "ConfigMap";
    const PLURAL: &'static str = "configmaps";
}

fn map(name: &str, colour: &str) -> ConfigMap {
    ConfigMap {
        metadata: Metadata {
            namespace: "web".to_owned(),
            name: name.to_owned(),
            ..Metadata::default()
        },
        data: [("colour".to_owned(), colour.to_owned())].into(),
    }
}

fn server() -> MockServer {
    MockServer::new(ServerConfig::new(1), VirtualClock::new())
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("web", name)
}

#[tokio::test]
async fn objects_are_created_read_replaced_and_deleted() {
    let server = server();
    let api = Api::<ConfigMap>::new(&server).unwrap();
    let created = api.create(&map("shop", "red")).await.unwrap();
    assert_eq!(created.key(), &key("shop"));
    assert_eq!(created.data["colour"], "red");
    let again = api.create(&map("shop", "red")).await.unwrap_err();
    assert_eq!(again.kind, ApiErrorKind::AlreadyExists);
    assert_eq!(
        again.to_string(),
        r#"cannot create configmaps web/shop: configmaps "shop" already exists"#
    );

    let mut changed = (*api.get(&key("shop")).await.unwrap()).clone();
    changed.data.insert("colour".to_owned(), "blue".to_owned());
    let stale = changed.clone();
    let updated = api.update(&changed).await.unwrap();
    assert_eq!(updated.data["colour"], "blue");
    assert_ne!(updated.version(), created.version());
    let refused = api.update(&stale).await.unwrap_err();
    assert_eq!(refused.kind, ApiErrorKind::Conflict);
    assert!(
        refused
            .to_string()
            .ends_with("read the object again and repeat")
    );

    let wrong = Delete::new().uid("another");
    let refused = api.delete_with(&key("shop"), &wrong).await.unwrap_err();
    assert_eq!(refused.kind, ApiErrorKind::Conflict);
    let right = Delete::new()
        .uid(updated.uid())
        .version(updated.version())
        .propagation(Propagation::Background);
    let deleted = api.delete_with(&key("shop"), &right).await.unwrap();
    assert!(matches!(deleted, Deletion::Gone), "{deleted:?}");
    let missing = api.get(&key("shop")).await.unwrap_err();
    assert_eq!(missing.kind, ApiErrorKind::NotFound);
}

#[tokio::test]
async fn a_finalizer_holds_a_deleted_object() {
    let server = server();
    let api = Api::<ConfigMap>::new(&server).unwrap();
    let mut held = map("shop", "red");
    held.metadata.finalizers = vec!["example.com/x".to_owned()];
    api.create(&held).await.unwrap();
    let deleted = api.delete(&key("shop")).await.unwrap();
    let Deletion::Pending(object) = deleted else {
        panic!("{deleted:?}");
    };
    assert!(!object.deletion_time().is_empty());
    let patch = Patch::merge(json!({"metadata": {"finalizers": null}}));
    api.patch(&key("shop"), &patch).await.unwrap();
    let missing = api.get(&key("shop")).await.unwrap_err();
    assert_eq!(missing.kind, ApiErrorKind::NotFound);
}

#[tokio::test]
async fn a_write_can_be_read_from_the_cache() {
    let server = server();
    let maps = InformerBuilder::<ConfigMap>::typed()
        .start(&server)
        .unwrap();
    let api = Api::<ConfigMap>::new(&server).unwrap();
    let written = api.create(&map("shop", "red")).await.unwrap();
    let seen = maps.reached(written.version(), Duration::from_secs(30));
    assert!(seen.await.unwrap().get(&key("shop")).is_some());
}

#[tokio::test]
async fn the_status_is_written_apart() {
    let server = server();
    let target = Target::new("apps", "v1", "deployments");
    let api = Api::dynamic_at(&server, target).unwrap().namespace("web");
    let deployment = json!({"kind": "Deployment", "metadata": {"name": "shop"}, "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {"containers": [{"name": "a", "image": "a"}]},
        },
    }});
    api.create(&deployment).await.unwrap();
    let patch = Patch::merge(json!({"spec": {"replicas": 9}, "status": {"replicas": 1}}));
    let written = api.status().patch(&key("shop"), &patch).await.unwrap();
    assert_eq!(written["spec"]["replicas"], 2);
    assert_eq!(written["status"]["replicas"], 1);
}

#[tokio::test]
async fn faults_have_kinds() {
    let server = server();
    let api = Api::<ConfigMap>::new(&server).unwrap();
    server.inject(Fault::Refuse);
    let error = api.create(&map("a", "red")).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Unreachable);
    server.inject(Fault::Throttle { retry_after: 7 });
    let error = api.create(&map("a", "red")).await.unwrap_err();
    let retry_after = Some(Duration::from_secs(7));
    assert_eq!(error.kind, ApiErrorKind::Throttled { retry_after });
    server.inject(Fault::Fail);
    let error = api.create(&map("a", "red")).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::ServerFailed);
    assert!(server.with(|server| server.get("configmaps", "web/a").is_none()));

    // The answer is lost after the write.
    server.inject(Fault::Reset { after: 0 });
    let error = api.create(&map("a", "red")).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Unanswered);
    assert!(error.to_string().contains("may have been carried out"));
    assert!(server.with(|server| server.get("configmaps", "web/a").is_some()));
}

#[tokio::test]
async fn what_cannot_be_sent_is_not_sent() {
    let server = server();
    let api = Api::dynamic_at(&server, Target::new("", "v1", "configmaps")).unwrap();
    for object in [json!([]), json!({}), json!({"metadata": {"name": 7}})] {
        let error = api.create(&object).await.unwrap_err();
        assert_eq!(error.kind, ApiErrorKind::Unusable, "{error}");
    }
    let generated = json!({"metadata": {"namespace": "web", "generateName": "a-"}});
    assert!(api.update(&generated).await.is_err());
    let created = api.create(&generated).await.unwrap();
    assert!(created.key().name().starts_with("a-"));
}

#[tokio::test]
async fn causes_of_an_invalid_object_are_named() {
    let server = server();
    let api = Api::dynamic_at(&server, Target::new("", "v1", "configmaps")).unwrap();
    let object = json!({"metadata": {"namespace": "web", "name": "No_Name"}});
    let error = api.create(&object).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Invalid, "{error}");
    assert_eq!(error.causes[0].field, "metadata.name");
    assert_eq!(error.causes[0].reason, "FieldValueInvalid");
}

/// No secret of an object is in what is shown of requests.
#[test]
fn patches_show_no_values() {
    let patch = Patch::merge(json!({"data": {"password": "hunter2"}}));
    assert!(!format!("{patch:?}").contains("hunter2"));
}

/// The type of bodies is free.
#[tokio::test]
async fn any_type_can_be_written() {
    let server = server();
    let typed = Api::<ConfigMap>::new(&server).unwrap();
    let value: Value = json!({"metadata": {"namespace": "web", "name": "shop"}});
    let created = typed.create(&value).await.unwrap();
    assert!(created.data.is_empty());
}

/// Without a name, a request would be one for all objects of the namespace.
#[tokio::test]
async fn an_object_without_a_name_is_not_asked_for() {
    let server = server();
    let api = Api::<ConfigMap>::new(&server).unwrap();
    api.create(&map("shop", "red")).await.unwrap();
    for name in ["", ".", "..", "a/b"] {
        let key = key(name);
        let patch = Patch::merge(json!({}));
        for error in [
            api.get(&key).await.unwrap_err(),
            api.patch(&key, &patch).await.unwrap_err(),
            api.delete(&key).await.unwrap_err(),
        ] {
            assert_eq!(error.kind, ApiErrorKind::Unusable, "{error}");
        }
        assert!(api.update(&map(name, "red")).await.is_err());
    }
    assert!(server.with(|server| server.get("configmaps", "web/shop").is_some()));
}

/// A Secret whose type is wrong.
#[derive(Debug, Deserialize)]
struct Typo {
    #[allow(dead_code, reason = "it is only read")]
    data: std::collections::BTreeMap<String, u32>,
}

impl Kind for Typo {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Secret";
    const PLURAL: &'static str = "secrets";
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_not_quoted() {
    let server = server();
    let secret =
        json!({"metadata": {"namespace": "web", "name": "s"}, "data": {"p": "aHVudGVyMg=="}});
    server
        .with(|server| server.create("secrets", secret))
        .unwrap();
    let api = Api::<Typo>::new(&server).unwrap();
    let error = api.get(&key("s")).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Unreadable);
    assert!(
        !format!("{error} {error:?}").contains("aHVudGVyMg"),
        "{error}"
    );
    assert!(error.to_string().contains("at `data.p`"), "{error}");
}
