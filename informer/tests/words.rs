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

#[test]
fn a_status_says_what_failed_until_the_server_is_followed() {
    let world = World::new();
    let widgets = InformerBuilder::lean_at(Target::new("example.com", "v1", "widgets"))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    widgets.start().unwrap();
    world.pass(Duration::from_secs(5));
    let said = widgets.status().to_string();
    let (before, after) = said.split_once("; the last failure: ").unwrap();
    assert!(
        before.starts_with("widgets.v1.example.com: waiting ") && before.contains("0 objects"),
        "{said}"
    );
    assert!(
        after.starts_with("the server does not serve this kind (404)"),
        "{said}"
    );

    // It is said while the next attempt is under way, too.
    let mut status = widgets.status();
    status.phase = informer::Phase::Listing {
        items: 0,
        remaining: None,
    };
    assert!(status.to_string().contains(after), "{status}");
    status.following = true;
    assert!(!status.to_string().contains(after), "{status}");
}
