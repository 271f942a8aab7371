//! Every helper works on every form: indices, queries and handlers that enqueue owners.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::time::Duration;

use informer::controller::{Controller, enqueue};
use informer::{
    AddIndexError, BuildError, InformerBuilder, Kind, LeanBody, NAMESPACE_INDEX, Object, ObjectKey,
    Query, SharedInformer, SharedInformerFactory, Target, by,
};
use serde_json::{Value, json};
use world::World;

const SOON: Duration = Duration::from_secs(60);

/// Has nothing of the metadata, and says what it has.
#[derive(serde::Deserialize, serde::Serialize)]
struct Pod {
    spec: Spec,
}

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
    #[serde(default)]
    priority: i32,
}

impl Kind for Pod {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Pod";
    const PLURAL: &'static str = "pods";
}

fn target() -> Target {
    Target::new("", "v1", "pods")
}

/// A pod of a ReplicaSet, which a Shop of another group owns, too.
fn pod(number: usize) -> Value {
    let set = format!("rs-{}", number % 3);
    json!({
        "metadata": {
            "namespace": format!("team-{}", number % 2), "name": format!("pod-{number}"),
            "annotations": {"example.com/team": format!("team {}", number % 5)},
            "ownerReferences": [
                {"apiVersion": "example.com/v1", "kind": "ReplicaSet", "name": "other", "uid": "u-other"},
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": format!("u-{set}"), "controller": true},
            ],
        },
        "spec": {"nodeName": format!("node-{}", number % 4), "priority": number},
    })
}

fn world() -> World {
    let world = World::new();
    for number in 0..30 {
        let pod = pod(number);
        world
            .server
            .with(|server| server.create("pods", pod))
            .unwrap();
    }
    world
}

/// Follows the pods, and checks what every form has.
fn follow<K: Send + Sync + 'static>(
    world: &World,
    builder: &InformerBuilder<K>,
) -> SharedInformer<K> {
    let builder = builder
        .clone()
        .index("owner", by::owner_uid())
        .index("controller", by::controller_uid())
        .index("team", by::annotation("example.com/team"))
        .index("name", |pod: &Object<K>| pod.key().name().to_owned())
        .index_with("length", |pod, file| file(&[pod.key().name().len() as u8]));
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let queues = [(); 3].map(|()| Controller::new(world.runtime.clone()));
    let [controlled, any, cluster] = [0, 1, 2].map(|at: usize| queues[at].queue());
    informer
        .on(enqueue::owner(controlled.clone(), "apps", "ReplicaSet"))
        .unwrap();
    informer
        .on(enqueue::any_owner(any.clone(), "ReplicaSet"))
        .unwrap();
    informer
        .on(enqueue::cluster_owner(
            cluster.clone(),
            "apps",
            "ReplicaSet",
        ))
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.pass(Duration::from_secs(1));
    // Three sets, and one more in each of two namespaces.
    assert_eq!((controlled.len(), any.len(), cluster.len()), (6, 8, 3));
    for set in 0..3 {
        for namespace in ["team-0", "team-1"] {
            controlled.add(ObjectKey::new(namespace, &format!("rs-{set}")));
        }
        cluster.add(ObjectKey::new("", &format!("rs-{set}")));
    }
    assert_eq!((controlled.len(), cluster.len()), (6, 3));

    let lister = informer.lister();
    assert_eq!(lister.by_index("owner", "u-rs-1").unwrap().len(), 10);
    assert_eq!(lister.by_index("owner", "u-other").unwrap().len(), 30);
    assert_eq!(lister.by_index("controller", "u-other").unwrap().len(), 0);
    assert_eq!(lister.by_index("controller", "u-rs-1").unwrap().len(), 10);
    assert_eq!(lister.by_index("team", "team 4").unwrap().len(), 6);
    assert_eq!(lister.by_index("name", "pod-7").unwrap().len(), 1);
    assert_eq!(lister.by_index("length", &[5_u8][..]).unwrap().len(), 10);
    let pod = lister.get("team-1", "pod-7").unwrap();
    assert_eq!(pod.annotation("example.com/team").unwrap(), "team 2");
    assert_eq!(pod.controller().unwrap().name, "rs-1");
    assert!(!pod.creation_time().is_empty());
    informer
}

/// Does the same with fields of the body, by path.
fn follow_fields<K: Send + Sync + 'static>(world: &World, builder: InformerBuilder<K>)
where
    Object<K>: informer_core::decode::Fields,
{
    let builder = builder.index("node", by::node_name());
    let priority = by::integer::<Object<K>>("spec.priority".parse().unwrap());
    let informer = follow(world, &builder.index("priority", priority));
    let lister = informer.lister();
    assert_eq!(lister.by_index("node", "node-3").unwrap().len(), 7);
    assert_eq!(lister.by_index("priority", 7_i64).unwrap().len(), 1);
    let node = "spec.nodeName=node-3".parse().unwrap();
    let query = Query::new().fields(&node).unwrap();
    assert_eq!(lister.select(&query).len(), 7);
    let plan = lister.snapshot().plan(&query).to_string();
    assert_eq!(plan, r#"7 candidates from the index "node""#);
}

#[test]
fn helpers_work_on_objects_that_keep_text() {
    let world = world();
    follow_fields(&world, InformerBuilder::lean_at(target()));
    follow_fields(&world, InformerBuilder::packed_at(target()));
    follow_fields(&world, InformerBuilder::<Pod>::lean());
    follow_fields(&world, InformerBuilder::<Pod>::packed());
    follow(&world, &InformerBuilder::metadata_at(target()));
}

#[test]
fn helpers_work_on_decoded_objects() {
    let world = world();
    follow_fields(&world, InformerBuilder::dynamic_at(target()));
    follow_fields(&world, InformerBuilder::<Pod>::typed().keep_annotations());
    let informer = follow(
        &world,
        &InformerBuilder::<Pod>::typed_at(target())
            .keep_annotations()
            .index("node", |pod: &Object<Pod>| pod.spec.node_name.clone())
            .index("digits", |pod: &Object<Pod>| {
                let digits = pod.spec.priority.to_string();
                digits.chars().map(String::from).collect::<Vec<_>>()
            })
            .index("priority", |pod: &Object<Pod>| pod.spec.priority),
    );
    let lister = informer.lister();
    assert_eq!(lister.by_index("node", "node-3").unwrap().len(), 7);
    assert_eq!(lister.by_index("priority", 7).unwrap().len(), 1);
    assert_eq!(lister.by_index("digits", "2").unwrap().len(), 12);
    // Later, too.
    informer
        .add_index("halved", |pod: &Object<Pod>| pod.spec.priority / 2)
        .unwrap();
    assert_eq!(lister.by_index("halved", 7).unwrap().len(), 2);
}

#[test]
fn an_index_by_annotation_is_refused_where_there_are_none() {
    let world = world();
    let typed = InformerBuilder::<Pod>::typed();
    let build =
        |builder: &InformerBuilder<Pod>| builder.build(&world.connect(), world.runtime.clone());
    let with_index = typed.clone().index("team", by::annotation("team"));
    let error = build(&with_index).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot add index \"team\": it reads annotations, which typed objects of this kind do not keep; \
         call `keep_annotations` on the builder, or index with a closure"
    );
    let informer = build(&typed).unwrap();
    let late = informer.add_index("team", by::annotation("team"));
    assert!(matches!(late, Err(AddIndexError::NoAnnotations { name }) if name == "team"));
    assert!(build(&with_index.keep_annotations()).is_ok());
    // A factory keeps the two apart.
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let one = factory.informer(&typed).unwrap();
    assert!(one.is_same(&factory.informer(&typed).unwrap()));
    assert!(!one.is_same(&factory.informer(&typed.keep_annotations()).unwrap()));
}

#[test]
fn every_cache_has_an_index_by_namespace() {
    let world = world();
    let pods = InformerBuilder::lean_at(target());
    let start = |builder: &InformerBuilder<_>| {
        let informer = builder
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        informer.start().unwrap();
        world.wait(informer.synced(SOON)).unwrap();
        informer
    };
    let informer = start(&pods);
    let lister = informer.lister();
    let web = Query::new().namespace("team-1");
    let plan = |informer: &SharedInformer<_>| informer.lister().snapshot().plan(&web).to_string();
    assert_eq!(
        plan(&informer),
        r#"15 candidates from the index "namespace""#
    );
    assert_eq!(lister.namespace("team-1").list().len(), 15);
    assert_eq!(
        lister.by_index(NAMESPACE_INDEX, "team-1").unwrap().len(),
        15
    );
    // The same index again is that index.
    let id = informer
        .add_index(NAMESPACE_INDEX, by::namespace())
        .unwrap();
    assert_eq!(lister.by_index(id, "team-1").unwrap().len(), 15);
    assert_eq!(lister.snapshot().indices().count(), 1);
    // It is not ordered.
    let ordered = informer.add_index(NAMESPACE_INDEX, by::namespace().ordered());
    assert!(matches!(ordered, Err(AddIndexError::Index(_))));

    let named = start(&pods.clone().index("ns", by::namespace()));
    assert_eq!(plan(&named), r#"15 candidates from the index "ns""#);
    assert_eq!(named.lister().snapshot().indices().count(), 1);
    let ordered = start(&pods.clone().index("namespace", by::namespace().ordered()));
    assert!(ordered.snapshot().range("namespace", ..).is_ok());
    assert_eq!(ordered.lister().snapshot().indices().count(), 1);

    let taken = pods.index("namespace", |pod: &Object<LeanBody>| {
        pod.key().name().to_owned()
    });
    let error = taken
        .build(&world.connect(), world.runtime.clone())
        .unwrap_err();
    assert!(matches!(
        error,
        BuildError::Index(AddIndexError::Reserved { .. })
    ));
    assert_eq!(
        error.to_string(),
        "cannot add index \"namespace\": every cache has an index by namespace under this name; choose another name"
    );
}

#[test]
fn a_lister_of_a_namespace_finds_nothing_for_a_query_of_another() {
    let world = world();
    let informer = InformerBuilder::lean_at(target())
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let lister = informer.lister().namespace("team-1");
    let node = "spec.nodeName=node-1".parse().unwrap();
    let query = Query::new().fields(&node).unwrap();
    assert_eq!(lister.select(&query).len(), 8);
    assert_eq!(lister.select(&query.clone().namespace("team-1")).len(), 8);
    assert!(lister.select(&query.namespace("team-0")).is_empty());
}
