//! Defects that were found in kube-rs, by number. None of them exists here.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer_transport_mock::fault::{Fault, FaultPlan};
use world::{Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);
const MINUTES: Duration = Duration::from_secs(300);

#[test]
fn defect_1_a_subscriber_survives_short_lived_objects() {
    let world = World::new();
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    for n in 0..20 {
        // Deleted before any task runs.
        world.create("short");
        world.delete("short");
        world.create(&format!("stays-{n}"));
        world.settle();
    }
    assert_eq!(keys(&informer).len(), 20);
    let adds = told
        .take()
        .iter()
        .filter(|it| it.starts_with("add stays"))
        .count();
    assert_eq!(adds, 20);
}

#[test]
fn defect_2_an_object_deleted_during_a_broken_streamed_list_does_not_stay() {
    let world = World::new();
    for name in ["a", "b", "c", "d"] {
        world.create(name);
    }
    // The first two streams break after about two objects. The second one starts at once.
    world
        .server
        .set_faults(FaultPlan::script([Some(Fault::Reset { after: 700 }); 2]));
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.settle();
    assert!(!informer.is_synced());
    let before = told.take();
    assert!(
        !before.is_empty() && before.len() < 4,
        "some were notified: {before:?}"
    );
    world.delete("a");
    world.wait(informer.synced(MINUTES)).unwrap();
    world.settle();
    assert_eq!(keys(&informer), ["web/b", "web/c", "web/d"]);
    let gone: Vec<_> = told
        .take()
        .into_iter()
        .filter(|it| it.starts_with("delete"))
        .collect();
    assert_eq!(gone, ["delete a Inferred Relist"]);
}

#[test]
fn defect_3_a_410_as_a_status_leads_to_a_relist() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world
        .server
        .set_faults(FaultPlan::script([Some(Fault::Expire)]));
    world.server.with(|server| server.restart());
    world.create("b");
    world.pass(MINUTES);
    assert_eq!(keys(&informer), ["web/a", "web/b"]);
    assert_eq!(informer.status().counts.full_states, 2);
}

#[test]
fn defect_4_an_error_body_is_one_failure() {
    let world = World::new();
    world
        .server
        .set_faults(FaultPlan::script([Some(Fault::Fail)]));
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.settle();
    assert_eq!(informer.status().counts.failures, 1);
    assert_eq!(informer.status().counts.rejected, 0);
    world.wait(informer.synced(MINUTES)).unwrap();
}

#[test]
fn defect_5_a_streamed_list_does_not_go_back_in_time_and_has_a_fallback() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let before = informer.status().version.unwrap();
    world.server.with(|server| server.restart());
    world.create("b");
    world.server.with(|server| server.forget_changes());
    world.pass(MINUTES);
    let after = informer.status().version.unwrap();
    assert!(after.parse::<u64>().unwrap() > before.parse().unwrap());
    // If the server refuses the stream, the informer lists pages.
    let world = World::new();
    world.create("a");
    world
        .server
        .set_faults(FaultPlan::script([Some(Fault::Fail)]));
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(MINUTES)).unwrap();
    assert_eq!(keys(&informer), ["web/a"]);
}

#[test]
fn defect_6_an_expired_page_is_followed_by_one_list_without_pages() {
    let world = World::new();
    for n in 0..10 {
        world.create(&format!("p{n}"));
    }
    let mut config = informer::InformerConfig::new();
    config.reflector.first_state = informer::FirstState::Listed;
    let informer = pods()
        .preset(config)
        .page_size(3)
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    // The second page has expired.
    world
        .server
        .set_faults(FaultPlan::script([None, Some(Fault::Expire)]));
    informer.start().unwrap();
    world.wait(informer.synced(MINUTES)).unwrap();
    assert_eq!(keys(&informer).len(), 10);
    assert_eq!(informer.status().counts.full_states, 1);
}
