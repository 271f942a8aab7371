//! What an informer says about itself, for people.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::time::Duration;

use informer::{InformerBuilder, Target};
use serde_json::json;
use world::World;

#[test]
fn a_status_is_one_line_that_says_what_is_wrong() {
    let world = World::new();
    let pod = json!({"metadata": {"namespace": "web", "name": "a"}});
    world
        .server
        .with(|server| server.create("pods", pod))
        .unwrap();
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let said = || pods.status().to_string();
    assert_eq!(said(), "pods.v1: not started; 0 objects; not synced");
    pods.start().unwrap();
    world.wait(pods.synced(Duration::from_secs(60))).unwrap();
    let version = pods.status().version.unwrap();
    assert_eq!(
        said(),
        format!(
            "pods.v1: watching; 1 object at version {version}; the server was last heard 0ms ago"
        )
    );
    pods.stop();
    assert!(
        said().starts_with("pods.v1: stopped; 1 object"),
        "{}",
        said()
    );
}
