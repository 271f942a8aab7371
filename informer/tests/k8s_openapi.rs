//! The types of the `k8s-openapi` crate: shortcuts of a factory, indices, queries and handlers.
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
use informer::{InformerBuilder, Query, SharedInformerFactory, by};
use k8s_openapi::api::core::v1::{Pod, Secret};
use serde_json::json;
use world::World;

const SOON: Duration = Duration::from_secs(60);

/// Creates twelve pods: of three ReplicaSets, five teams and four nodes.
fn world() -> World {
    let world = World::new();
    for number in 0..12 {
        let set = format!("rs-{}", number % 3);
        let pod = json!({
            "metadata": {
                "namespace": "shop", "name": format!("pod-{number}"),
                "annotations": {"example.com/team": format!("team-{}", number % 5)},
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set,
                    "uid": format!("u-{set}"), "controller": true,
                }],
            },
            "spec": {
                "nodeName": format!("node-{}", number % 4),
                "containers": [{"name": "main", "image": "registry.example/shop:1"}],
            },
        });
        let created = world.server.with(|server| server.create("pods", pod));
        created.unwrap();
    }
    world
}

#[test]
fn a_factory_has_shortcuts() {
    let world = world();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let pods = factory.pods().unwrap();
    assert!(pods.is_same(&factory.of::<Pod>().unwrap()));
    assert!(pods.is_same(&factory.informer(&InformerBuilder::<Pod>::typed()).unwrap()));
    let others = [
        factory.services().unwrap().target().to_string(),
        factory.deployments().unwrap().target().to_string(),
        factory.replica_sets().unwrap().target().to_string(),
        factory.stateful_sets().unwrap().target().to_string(),
        factory.daemon_sets().unwrap().target().to_string(),
        factory.jobs().unwrap().target().to_string(),
        factory.config_maps().unwrap().target().to_string(),
        factory.secrets().unwrap().target().to_string(),
        factory.nodes().unwrap().target().to_string(),
        factory.namespaces().unwrap().target().to_string(),
    ];
    assert_eq!(
        others,
        [
            "services.v1",
            "deployments.v1.apps",
            "replicasets.v1.apps",
            "statefulsets.v1.apps",
            "daemonsets.v1.apps",
            "jobs.v1.batch",
            "configmaps.v1",
            "secrets.v1",
            "nodes.v1",
            "namespaces.v1",
        ]
    );

    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    let pod = pods.lister().get("shop", "pod-7").unwrap();
    assert_eq!(pod.metadata.name.as_deref(), Some("pod-7"));
    let spec = pod.spec.as_ref().unwrap();
    assert_eq!(spec.node_name.as_deref(), Some("node-3"));
    assert_eq!(pods.lister().namespace("shop").list().len(), 12);
}

/// The header has the owners, the type has the annotations, and serde finds the fields.
#[test]
fn indices_and_queries_work_on_pods() {
    let world = world();
    let pods = InformerBuilder::<Pod>::typed()
        .index("owner", by::owner_uid())
        .index("team", by::annotation("example.com/team"))
        .index("node", by::node_name())
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    pods.start().unwrap();
    world.wait(pods.synced(SOON)).unwrap();
    let lister = pods.lister();
    for (index, value, len) in [
        ("owner", "u-rs-1", 4),
        ("owner", "u-rs-9", 0),
        ("team", "team-4", 2),
        ("node", "node-3", 3),
    ] {
        let found = lister.by_index(index, value).unwrap();
        assert_eq!(found.len(), len, "{index} {value}");
    }

    let node = "spec.nodeName=node-3".parse().unwrap();
    let query = Query::new().fields(&node).unwrap();
    assert_eq!(lister.select(&query).len(), 3);
    let plan = lister.snapshot().plan(&query).to_string();
    assert_eq!(plan, r#"3 candidates from the index "node""#);
    // Without an index, too.
    let name = "metadata.name=pod-7".parse().unwrap();
    let query = Query::new().fields(&name).unwrap();
    assert_eq!(lister.select(&query).len(), 1);
}

/// A controller that makes Secrets from ConfigMaps hears which ConfigMap a Secret belongs to.
#[test]
fn a_secret_enqueues_its_owner() {
    let world = World::new();
    let owned = |name: &str, kind: &str| {
        let owner = json!({
            "apiVersion": "v1", "kind": kind, "name": "settings", "uid": "u-1", "controller": true,
        });
        let metadata = json!({"namespace": "shop", "name": name, "ownerReferences": [owner]});
        let secret = json!({"metadata": metadata, "data": {"password": "c2VjcmV0"}});
        let created = world.server.with(|server| server.create("secrets", secret));
        created.unwrap();
    };
    owned("a", "ConfigMap");
    owned("b", "Service");
    let secrets = InformerBuilder::<Secret>::typed()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let controller = Controller::new(world.runtime.clone());
    let queue = controller.queue();
    let handler = secrets.on(enqueue::owner(queue.clone(), "", "ConfigMap"));
    let handler = handler.unwrap();
    secrets.start().unwrap();
    world.wait(handler.synced(SOON)).unwrap();
    assert_eq!(queue.len(), 1);
    queue.add(informer::ObjectKey::new("shop", "settings"));
    assert_eq!(queue.len(), 1, "it was another key");
    let secret = secrets.lister().get("shop", "a").unwrap();
    let data = secret.data.as_ref().unwrap();
    assert_eq!(data.get("password").unwrap().0, b"secret");
}
