//! Shared informers on the mock, with virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::{Filter, InformerBuilder, Notification, SharedInformerFactory, Target};
use informer_transport_mock::script::{Reply, Script};
use world::{Pod, Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);

#[test]
fn handlers_are_notified_and_the_cache_follows() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let registration = informer.on(told.handler()).unwrap();
    world.settle();
    assert!(told.take().is_empty(), "it was not started");
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    assert_eq!(told.take(), ["add a initial Relist"]);
    world.create("b");
    world.touch("a");
    world.delete("b");
    world.settle();
    assert_eq!(
        told.take(),
        ["add b Watch", "update a Watch", "delete b Observed Watch"]
    );
    assert_eq!(keys(&informer), ["web/a"]);
}

/// Closures must compile without complicated type annotations.
#[test]
fn closures_need_no_types() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let (names, seen) = std::sync::mpsc::channel();
    let (again, later) = (names.clone(), names.clone());
    informer
        .on(move |change: Notification<Pod>| names.send(change.key().name().to_owned()).unwrap())
        .unwrap();
    informer
        .on_async(move |change: Notification<Pod>| {
            let again = again.clone();
            async move { again.send(change.key().to_string()).unwrap() }
        })
        .unwrap();
    let tell = move |change: Notification<Pod>| later.send(format!("{change}")).unwrap();
    informer
        .on(Filter::new(
            |pod| pod.labels().get("app") == Some("a"),
            tell,
        ))
        .unwrap();
    informer.start().unwrap();
    world.settle();
    let mut said: Vec<_> = seen.try_iter().collect();
    said.sort();
    assert_eq!(said, ["a", "added web/a (initial, relist)", "web/a"]);
}

#[test]
fn managed_fields_are_kept_on_request() {
    let world = World::new();
    let connect = |target: &Target| {
        let pod = r#"{"metadata":{"name":"a","resourceVersion":"7","managedFields":[{}]}}"#;
        let end = r#"{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
        let state = [("ADDED", pod), ("BOOKMARK", end)]
            .map(|(kind, object)| format!(r#"{{"type":"{kind}","object":{object}}}"#));
        let state = Reply::watch(state.each_ref().map(String::as_str));
        Script::new(target.clone()).expect("sendInitialEvents=true", state)
    };
    let has_them = |pods: &informer::SharedInformer<serde_json::Value>| {
        let snapshot = pods.snapshot();
        let pod = snapshot.iter().next().unwrap();
        pod.body()["metadata"].get("managedFields").is_some()
    };
    // With and without managed fields are two forms, so there are two informers.
    let factory = SharedInformerFactory::new(connect, world.runtime.clone());
    let with = factory.informer(&pods().keep_managed_fields()).unwrap();
    let without = factory.informer(&pods()).unwrap();
    assert!(!with.is_same(&without));
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    assert!(has_them(&with) && !has_them(&without));

    let factory = SharedInformerFactory::new(connect, world.runtime.clone()).keep_managed_fields();
    let with = factory.informer(&pods()).unwrap();
    assert!(with.is_same(&factory.informer(&pods().keep_managed_fields()).unwrap()));
    let lean = InformerBuilder::lean_at(Target::new("", "v1", "pods"));
    let lean = factory.informer(&lean).unwrap();
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    assert!(has_them(&with));
    let snapshot = lean.snapshot();
    let pod = snapshot.iter().next().unwrap();
    assert!(pod.json().unwrap().contains("managedFields"));
}

/// An invalid name is rejected when the informer is built, with the remedy, wherever it comes from.
#[test]
fn invalid_names_are_rejected_when_built() {
    let world = World::new();
    let build = |builder: InformerBuilder<serde_json::Value>| {
        let built = builder.build(&world.connect(), world.runtime.clone());
        built.map(drop).unwrap_err().to_string()
    };
    let of =
        |group, version, plural| InformerBuilder::dynamic_at(Target::new(group, version, plural));
    for (builder, remedy) in [
        (of("core", "v1", "pods"), "the core group is the empty text"),
        (
            of("", "apps/v1", "deployments"),
            "group and version are separate",
        ),
        (of("", "v1", "Pod"), "the plural name in lower case"),
        (pods().namespace("."), "cannot be a namespace"),
        (pods().namespace(".."), "cannot be a namespace"),
        (pods().namespace("a/b"), "cannot be a namespace"),
        (
            pods().namespace(""),
            "leave it out to follow all namespaces",
        ),
        (
            pods().tweak(|target| target.plural = "pods/status".to_owned()),
            "a subresource cannot be followed",
        ),
    ] {
        let error = build(builder);
        assert!(error.contains(remedy), "{error}");
    }
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let factory = factory.namespace("../secrets");
    let error = factory.informer(&pods()).map(drop).unwrap_err().to_string();
    assert!(error.contains("cannot be a namespace"), "{error}");
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone())
        .tweak(|target| target.group = "core".to_owned());
    let error = factory.informer(&pods()).map(drop).unwrap_err().to_string();
    assert!(
        error.contains("the core group is the empty text"),
        "{error}"
    );
}
