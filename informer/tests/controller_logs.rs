//! What controllers log.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::controller::{Context, Controller, Next, enqueue};
use informer::runtime::Runtime as _;
use informer::{InformerBuilder, Kind, ObjectKey, Target};
use informer_transport_mock::fault::{Fault, FaultPlan};
use serde::Deserialize;
use world::World;
use world::logged::{logged, saying};

#[derive(Deserialize)]
struct Pod {}

impl Kind for Pod {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Pod";
    const PLURAL: &'static str = "pods";
}

#[test]
fn a_controller_says_what_it_waits_for() {
    let lines = logged(|| {
        let world = World::new();
        // The first answers are those to the two informers, in this order.
        let late = Fault::Delay(Duration::from_secs(70));
        world
            .server
            .set_faults(FaultPlan::script([None, Some(late)]));
        let secrets = InformerBuilder::lean_at(Target::new("", "v1", "secrets"));
        let running = Controller::of::<Pod>(&world.server)
            .owns_with(secrets)
            .run_on(world.runtime.clone(), |_: Context<Pod>| async {
                Ok::<_, String>(Next::Done)
            });
        let task = async {
            let _ = running.await;
        };
        world.runtime.spawn(Box::pin(task)).unwrap();
        world.pass(Duration::from_secs(75));
    });
    let waits = saying(&lines, "a controller waits for its caches");
    assert_eq!(waits.len(), 2);
    let why = waits[0].get("why").unwrap();
    assert!(why.contains("secrets.v1"), "{why}");
}

const DROPPED: &str = "a controller was dropped while keys were left or handlers could add some; keep it, \
                       and end it with `stop`";

#[test]
fn a_controller_that_is_dropped_with_handlers_says_so() {
    let world = World::new();
    let lines = logged(|| {
        let pods = world::pods()
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        pods.start().unwrap();
        let controller: Controller<ObjectKey> = Controller::new(world.runtime.clone());
        pods.on(enqueue::this(controller.queue())).unwrap();
        controller
            .work(1, |_| async { Ok::<_, String>(Next::Done) })
            .unwrap();
        world.settle();
        drop(controller);
        pods.stop();
    });
    assert_eq!(saying(&lines, DROPPED).len(), 1);
}

#[test]
fn a_controller_that_is_dropped_with_work_left_says_so() {
    let world = World::new();
    let lines = logged(|| {
        let controller: Controller<&str> = Controller::new(world.runtime.clone());
        controller.queue().add_after("web", Duration::from_secs(9));
        drop(controller);
        let idle: Controller<&str> = Controller::new(world.runtime.clone());
        drop(idle);
    });
    let said = saying(&lines, DROPPED);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].get("status").unwrap().contains("1 delayed"),
        "{said:?}"
    );
}
