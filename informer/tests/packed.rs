//! Packed objects behind the front door: transforms see the text, everything else sees packed objects.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::sync::mpsc;
use std::time::Duration;

use informer::{InformerBuilder, Kind, Notification, Object, PackedBody, by};
use serde_json::{Value, json};
use world::World;

const SOON: Duration = Duration::from_secs(60);

#[derive(serde::Deserialize)]
struct Pod {
    spec: Spec,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: String,
}

impl Kind for Pod {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Pod";
    const PLURAL: &'static str = "pods";
}

fn pod(number: usize, node: &str) -> Value {
    let containers = json!([{"name": "main", "image": "example.com/shop:1.7", "ports": [{"containerPort": 80}]}]);
    json!({
        "metadata": {"namespace": "web", "name": format!("shop-{number}"), "labels": {"app": "shop"}},
        "spec": {"nodeName": node, "containers": containers, "dropped": "x".repeat(500)},
    })
}

#[test]
fn packed_pods_are_indexed_read_and_followed() {
    let world = World::new();
    for number in 0..100 {
        let pod = pod(number, &format!("node-{}", number % 4));
        world
            .server
            .with(|server| server.create("pods", pod))
            .unwrap();
    }
    let informer = InformerBuilder::<Pod>::packed()
        .index("node", by::node_name())
        .transform(|pod| {
            let mut value: Value = pod.decode_as().unwrap();
            let spec = value["spec"].as_object_mut().unwrap();
            assert!(spec.remove("dropped").is_some());
            pod.set_json(&value.to_string()).unwrap();
            Ok(())
        })
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let (sender, nodes) = mpsc::channel();
    informer
        .on(move |change: Notification<Object<PackedBody<Pod>>>| {
            if let Notification::Updated { new, .. } = change {
                sender.send(new.decode().unwrap().spec.node_name).unwrap();
            }
        })
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();

    let lister = informer.lister();
    assert_eq!(lister.by_index("node", "node-3").unwrap().len(), 25);
    let read = lister.get("web", "shop-99").unwrap();
    assert_eq!(read.decode().unwrap().spec.node_name, "node-3");
    assert!(
        !read.json().unwrap().contains("dropped") && read.json().unwrap().contains("containerPort")
    );
    assert!(read.packed_size() * 3 < read.json().unwrap().len());

    let patch = json!({"spec": {"nodeName": "node-9"}});
    world
        .server
        .with(|server| server.patch("pods", "web/shop-99", patch))
        .unwrap();
    world.settle();
    assert_eq!(nodes.try_iter().collect::<Vec<_>>(), ["node-9"]);
    assert_eq!(lister.by_index("node", "node-9").unwrap().len(), 1);
}
