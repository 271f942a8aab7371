//! Status as data, and explained in sentences.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::time::Duration;

use informer::controller::{Controller, Next};
use informer::{InformerBuilder, MomentKind, Target};
use serde_json::{Value, json};
use world::{World, pods};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_status_is_data() {
    let world = World::new();
    world.create("a");
    let pods = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let _registration = pods.on(|_| ()).unwrap();
    pods.start().unwrap();
    world.wait(pods.synced(60 * SECOND)).unwrap();
    world.pass(2 * SECOND);

    let data = serde_json::to_value(pods.status()).unwrap();
    assert_eq!(data["name"], "pods.v1");
    assert_eq!(data["phase"]["name"], "watching");
    assert_eq!(data["phase"]["seconds"], 2.0);
    assert_eq!(data["objects"], 1);
    assert!(data["bytes"].as_u64().unwrap() > 10, "{data}");
    assert_eq!(data["last_byte"], 2.0);
    assert_eq!(data["last_failure"], Value::Null);
    assert_eq!(data["counts"]["full_states"], 1);
    let handler = &data["handlers"][0];
    assert_eq!(
        (&handler["delivered"], &handler["waited"]),
        (&json!(1), &Value::Null)
    );
    let name = handler["name"].as_str().unwrap();
    assert!(name.starts_with("explains::a_status_is_data::"), "{name}");
}

#[test]
fn a_wait_is_data_and_is_explained() {
    let world = World::new();
    let widgets = InformerBuilder::lean_at(Target::new("example.com", "v1", "widgets"))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    widgets.start().unwrap();
    world.settle();

    let status = widgets.status();
    let data = serde_json::to_value(&status).unwrap();
    assert_eq!(data["phase"]["name"], "waiting");
    assert_eq!(data["phase"]["cause"], "not_found");
    assert_eq!(data["phase"]["then"], "read the state");
    let left = data["phase"]["seconds_left"].as_f64().unwrap();
    assert!(left > 0.0 && left < 60.0, "{left}");
    assert_eq!(data["last_failure"]["failure"], "not_found");
    assert!(data.get("at").is_none(), "a clock of the program: {data}");

    let said = status.explain();
    assert!(
        said[0].starts_with("It waits, since 0ms: the server does not serve this kind (404)")
            && said[0].contains(". In ")
            && said[0].ends_with(" it will read the state."),
        "{said:?}"
    );
    assert!(said[1].starts_with("It is not synced: "), "{said:?}");
    assert!(
        said[2].starts_with("The last of 2 failures was 0ms ago: "),
        "{said:?}"
    );
    assert_eq!(said.len(), 3, "{said:?}");
}

#[test]
fn a_healthy_informer_and_its_end_are_explained() {
    let world = World::new();
    world.create("a");
    let pods = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    pods.start().unwrap();
    world.wait(pods.synced(60 * SECOND)).unwrap();
    world.pass(3 * SECOND);
    let version = pods.status().version.unwrap();
    assert_eq!(
        pods.status().explain(),
        [
            "It has been watching for 3s.".to_owned(),
            format!(
                "The cache follows the server: 1 object at version {version}; the server was last heard 3s ago."
            )
        ]
    );
    pods.stop();
    world.pass(SECOND);
    let said = pods.status().explain();
    assert_eq!(said[0], "It ended 1s ago: it was stopped.");
}

/// A handler that does not return is behind from its first notification on.
#[test]
fn a_handler_that_is_behind_is_named() {
    let world = World::new();
    world.create("a");
    let pods = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let clock = world.clock.clone();
    let slow = move |_| {
        let clock = clock.clone();
        async move { world::sleep(&clock, 30 * SECOND).await }
    };
    let registration = pods.on_async(slow).unwrap();
    pods.start().unwrap();
    world.pass(12 * SECOND);
    assert_eq!(registration.status().unwrap().waited, Some(12 * SECOND));
    let said = pods.status().explain().pop().unwrap();
    assert!(
        said.starts_with("The handler explains::a_handler_that_is_behind_is_named::")
            && said.ends_with(
                " has been behind for 12s, with 1 notification left, and its current call has not returned \
                 for 12s."
            ),
        "{said}"
    );
    // It has caught up.
    world.pass(20 * SECOND);
    assert_eq!(registration.status().unwrap().waited, None);
    assert_eq!(pods.status().explain().len(), 2);
}

#[test]
fn the_timeline_has_phases_and_failures_in_order() {
    let world = World::new();
    let widgets = InformerBuilder::lean_at(Target::new("example.com", "v1", "widgets"))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    assert!(widgets.timeline().is_empty());
    widgets.start().unwrap();
    world.settle();
    widgets.stop();
    let kinds: Vec<_> = widgets
        .timeline()
        .iter()
        .map(|moment| match &moment.kind {
            MomentKind::Phase(phase) => phase.name(),
            MomentKind::Failure(last) => last.failure.name(),
            _ => "unknown",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "streaming",
            "not_found",
            "listing",
            "not_found",
            "waiting",
            "stopped"
        ]
    );
}

#[test]
fn a_controller_is_data_and_is_explained() {
    let world = World::new();
    let controller = Controller::new(world.runtime.clone()).named("shop");
    controller.queue().add("web/a");
    let said = controller.status().explain();
    assert_eq!(said, ["It has no workers yet; 1 key queued."]);

    let clock = world.clock.clone();
    let work = move |_| {
        let clock = clock.clone();
        async move {
            world::sleep(&clock, 100 * SECOND).await;
            Ok::<_, String>(Next::Done)
        }
    };
    controller.work(2, work).unwrap();
    world.pass(61 * SECOND);
    let status = controller.status();
    assert_eq!(
        status.explain(),
        [
            "1 of 2 workers are busy; 0 keys queued.",
            "The worker of \"web/a\" has not returned for 61s."
        ]
    );
    let data = serde_json::to_value(&status).unwrap();
    assert_eq!(data["name"], "shop");
    assert_eq!(data["working"], json!([{"key": "web/a", "time": 61.0}]));
}
