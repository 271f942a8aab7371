//! A cache and its server have the same objects.

use std::sync::Arc;
use std::time::Duration;

use informer::runtime::Runtime as _;
use informer::{Backlog, FirstState, InformerConfig, QueueKind};
use informer_transport_mock::fault::Fault;
use serde_json::json;

use crate::clients::{Noting, late};
use crate::rig::{SOON, synced, verify, with_pods, write_elsewhere};
use crate::world::{World, pods, sleep};

#[test]
fn a_cache_equals_its_server_whatever_its_queue_and_first_state() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        for first_state in [FirstState::Listed, FirstState::Streamed] {
            let world = with_pods(&["a", "b", "c"]);
            let mut config = InformerConfig::new();
            config.queue = queue;
            config.reflector.first_state = first_state;
            let informer = synced(&world, &pods().preset(config));
            let first = verify(&world, &informer, SOON).unwrap();
            assert!(first.is_consistent(), "{first}");
            assert_eq!((first.objects, &*first.version), (3, "4"));
            world.delete("b");
            world.touch("a");
            let version = world.create("d");
            world.settle();
            let second = verify(&world, &informer, SOON).unwrap();
            assert!(second.is_consistent(), "{second}");
            assert_eq!((second.objects, &second.version), (3, &version));
            assert_eq!(
                second.to_string(),
                "pods.v1 at version 7: 3 objects, the same as on the server"
            );
        }
    }
}

#[test]
fn only_what_the_informer_follows_is_compared() {
    let world = with_pods(&["a", "b"]);
    let pod = json!({"metadata": {"namespace": "other", "name": "a", "labels": {"app": "a"}}});
    world
        .server
        .with(|server| server.create("pods", pod))
        .unwrap();
    let informer = synced(&world, &pods().namespace("web").labels("app=a"));
    let verified = verify(&world, &informer, SOON).unwrap();
    assert!(
        verified.is_consistent() && verified.objects == 1,
        "{verified}"
    );
    assert!(verified.name.contains("in web"), "{verified}");
}

#[test]
fn the_list_is_of_metadata_in_pages_at_exactly_the_version_of_the_cache() {
    let world = Arc::new(World::new());
    for number in 0..1_100 {
        world.create(&format!("pod-{number}"));
    }
    let informer = synced(&world, &pods());
    // A newer version must not be asked for.
    write_elsewhere(&world);
    let client = Noting {
        world: Arc::clone(&world),
        asked: Arc::default(),
    };
    let verified = world.wait(informer.verify(&client, SOON)).unwrap();
    assert!(verified.is_consistent(), "{verified}");
    assert_eq!((verified.objects, &*verified.version), (1_100, "1101"));
    let asked = client.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(
        asked[0],
        "/api/v1/pods?limit=500&resourceVersion=1101&resourceVersionMatch=Exact"
    );
    for page in &asked[1..] {
        assert!(page.starts_with("/api/v1/pods?continue="), "{page}");
        assert!(page.ends_with("&limit=500"), "{page}");
    }
}

#[test]
fn objects_that_change_while_the_list_is_read_do_not_matter() {
    let world = Arc::new(World::new());
    for number in 0..600 {
        world.create(&format!("pod-{number}"));
    }
    let informer = synced(&world, &pods());
    // The second page comes late, and the pods on it change before.
    let delay = Duration::from_secs(10);
    world.server.inject(Fault::Delay(Duration::ZERO));
    world.server.inject(Fault::Delay(delay));
    let (changes, clock) = (Arc::clone(&world), world.clock.clone());
    let change = async move {
        sleep(&clock, delay / 2).await;
        for number in 500..600 {
            changes.touch(&format!("pod-{number}"));
        }
        changes.delete("pod-99");
        changes.create("pod-999");
    };
    world.runtime.spawn(Box::pin(change)).unwrap();
    let verified = verify(&world, &informer, SOON).unwrap();
    assert!(verified.is_consistent(), "{verified}");
    assert_eq!((verified.objects, &*verified.version), (600, "601"));
    assert!(informer.lister().get("web", "pod-999").is_some());
}

#[test]
fn it_waits_until_a_handler_that_holds_up_the_cache_goes_on() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods().backlog(Backlog::Stall { at: 1 }));
    let mut changes = informer.stream().unwrap();
    for name in ["b", "c", "d"] {
        world.create(name);
    }
    world.settle();
    assert!(informer.status().stalled);
    let error = verify(&world, &informer, SOON).unwrap_err();
    assert!(error.to_string().contains("holds it up"), "{error}");
    let taken = async move { while changes.next().await.is_some() {} };
    world.runtime.spawn(Box::pin(taken)).unwrap();
    let verified = verify(&world, &informer, SOON).unwrap();
    assert!(verified.is_consistent(), "{verified}");
}

#[test]
fn it_can_be_spawned() {
    fn spawnable<F: Future + Send + 'static>(future: F) -> F {
        future
    }
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    let verifying = spawnable(informer.verify(&world.connect(), SOON));
    assert!(world.wait(verifying).unwrap().is_consistent());
}

#[test]
fn signals_of_an_earlier_page_do_not_matter() {
    let world = World::new();
    for number in 0..600 {
        world.create(&format!("pod-{number}"));
    }
    let informer = synced(&world, &pods());
    let verified = world.wait(informer.verify(&late(&world), SOON)).unwrap();
    assert!(verified.is_consistent(), "{verified}");
    assert_eq!(verified.objects, 600);
}

#[test]
fn an_object_of_the_list_needs_only_a_key_and_a_version() {
    let world = with_pods(&["a", "b"]);
    let informer = synced(&world, &pods());
    world.server.inject(Fault::Corrupt {
        nth: 0,
        nameless: false,
    });
    let verified = verify(&world, &informer, SOON).unwrap();
    assert_eq!(world.server.take_corrupted(), ["web/a"]);
    assert!(verified.is_consistent(), "{verified}");
}
