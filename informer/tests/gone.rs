//! Kinds that come and go: custom resources whose definition is installed late, deleted, installed again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::{
    Failure, InformerBuilder, InformerConfig, Phase, QueueKind, SharedInformer, StartError, Target,
    WhenGone,
};
use informer_transport_mock::fault::Fault;
use serde_json::{Value, json};
use world::logged::{logged, saying};
use world::{Told, World, keys};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DEFINITION: &str = "widgets.example.com";

fn widgets() -> InformerBuilder<Value> {
    InformerBuilder::dynamic_at(Target::new("example.com", "v1", "widgets")).seed(1)
}

/// Installs the kind, as an administrator does.
fn install(world: &World) {
    let definition = json!({"metadata": {"name": DEFINITION}, "spec": {
        "group": "example.com",
        "names": {"plural": "widgets", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        }],
    }});
    world
        .server
        .with(|server| server.create("crd", definition))
        .unwrap();
}

fn remove(world: &World) {
    world
        .server
        .with(|server| server.delete("crd", DEFINITION))
        .unwrap();
}

fn widget(world: &World, name: &str) {
    let widget = json!({"metadata": {"namespace": "web", "name": name}});
    world
        .server
        .with(|server| server.create("widgets", widget))
        .unwrap();
}

fn started(world: &World, builder: &InformerBuilder<Value>) -> (SharedInformer<Value>, Told) {
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.settle();
    (informer, told)
}

#[test]
fn a_kind_that_is_installed_late_is_found() {
    let world = World::new();
    let (informer, told) = started(&world, &widgets());
    world.pass(10 * MINUTE);
    let status = informer.status();
    assert!(status.gone && !status.synced);
    let tries = status.counts.failures;
    assert!((8..40).contains(&tries), "{tries} failures in ten minutes");
    assert_eq!(serde_json::to_value(&status).unwrap()["gone"], true);
    let error = world.wait(informer.synced(SECOND)).unwrap_err().to_string();
    assert!(
        error.contains("the server does not serve this kind (404)"),
        "{error}"
    );

    install(&world);
    widget(&world, "a");
    world.pass(2 * MINUTE);
    assert_eq!(informer.status().phase, Phase::Watching);
    assert!(!informer.status().gone && informer.is_fresh(2 * MINUTE));
    assert_eq!(told.take(), ["add a initial Relist"]);
}

#[test]
fn a_deleted_kind_reports_its_objects_and_comes_back() {
    let world = World::new();
    install(&world);
    widget(&world, "a");
    let (informer, told) = started(&world, &widgets());
    assert_eq!(told.take(), ["add a initial Relist"]);
    for round in 0..3 {
        remove(&world);
        world.pass(10 * SECOND);
        assert_eq!(told.take(), ["delete a Observed Watch"], "round {round}");
        let status = informer.status();
        assert!(status.gone && status.synced && !informer.is_fresh(MINUTE));
        install(&world);
        widget(&world, "a");
        world.pass(2 * MINUTE);
        assert_eq!(told.take(), ["add a Relist"], "round {round}");
        assert!(informer.is_fresh(2 * MINUTE));
    }
}

/// The version that an informer follows is no longer served, so nobody reports that its objects are gone.
fn stop_serving(world: &World) {
    let versions = json!([
        {
            "name": "v1", "served": false, "storage": false,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        },
        {
            "name": "v2", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        },
    ]);
    let change = json!({"spec": {"versions": versions}});
    world
        .server
        .with(|server| server.patch("crd", DEFINITION, change))
        .unwrap();
}

#[test]
fn the_cache_is_kept_or_emptied_by_policy() {
    for (policy, left) in [
        (None, vec!["web/a", "web/b"]),
        (Some(WhenGone::Keep), vec!["web/a", "web/b"]),
        (Some(WhenGone::Empty), vec![]),
    ] {
        let world = World::new();
        install(&world);
        widget(&world, "a");
        widget(&world, "b");
        let builder = widgets();
        let builder = policy.into_iter().fold(builder, InformerBuilder::when_gone);
        let (informer, told) = started(&world, &builder);
        told.take();
        stop_serving(&world);
        world.pass(10 * MINUTE);
        assert_eq!(keys(&informer), left, "{policy:?}");
        let deletion = |name| format!("delete {name} Inferred KindGone");
        let deletions = if left.is_empty() {
            vec!["a", "b"]
        } else {
            vec![]
        };
        let deletions: Vec<_> = deletions.into_iter().map(deletion).collect();
        assert_eq!(told.take(), deletions);
        assert!(informer.status().gone && !informer.is_fresh(10 * MINUTE));
        let said = informer.status().explain().join(" ");
        assert!(
            said.contains("the server does not serve this kind (404)"),
            "{said}"
        );
        assert!(
            said.contains("In ") && said.contains("it will read the state"),
            "{said}"
        );
        assert!(said.contains("which may be old"), "{said}");
    }
}

#[test]
fn an_informer_that_stops_when_its_kind_is_gone_says_so() {
    let lines = logged(|| {
        let world = World::new();
        install(&world);
        widget(&world, "a");
        let builder = widgets().when_gone(WhenGone::Stop);
        let (informer, _) = started(&world, &builder);
        let waiting = informer.reached("999999", MINUTE);
        stop_serving(&world);
        world.pass(10 * MINUTE);
        assert!(informer.is_stopped());
        let status = informer.status();
        assert_eq!((status.phase, status.gone), (Phase::Stopped, true));
        assert_eq!(keys(&informer), ["web/a"], "the cache stays readable");
        assert_eq!(world.runtime.tasks(), 0, "its tasks have ended");
        world.wait(informer.join());

        const WHY: &str = "the server does not serve its kind, and it was told to stop then";
        let said = status.explain()[0].clone();
        assert!(said.contains(WHY), "{said}");
        let error = world.wait(informer.synced(SECOND)).unwrap_err().to_string();
        assert!(error.contains(WHY), "{error}");
        let error = world.wait(waiting).unwrap_err().to_string();
        assert!(error.contains(WHY), "{error}");
        let error = informer.on(|_| ()).unwrap_err();
        assert!(matches!(&error, StartError::Ended { reason, .. } if reason.contains(WHY)));
        let error = informer.start().unwrap_err();
        assert!(error.to_string().contains(WHY), "{error}");
    });
    assert_eq!(
        saying(&lines, "the informer has ended").len(),
        1,
        "{lines:?}"
    );
}

#[test]
fn a_missing_kind_is_logged_once_and_its_return_too() {
    let lines = logged(|| {
        let world = World::new();
        let (_informer, _) = started(&world, &widgets());
        world.pass(5 * MINUTE);
        install(&world);
        world.pass(2 * MINUTE);
    });
    let gone = "the server does not serve this kind (404); it may not be installed yet";
    let gone = saying(&lines, gone);
    assert_eq!(gone.len(), 1, "{lines:?}");
    let next = gone[0].get("next_try").unwrap();
    assert!(["2s", "3s"].contains(&next), "{next}");
    assert_eq!(saying(&lines, "the server serves this kind again").len(), 1);
}

#[test]
fn the_setting_wins_over_a_preset() {
    let world = World::new();
    install(&world);
    let preset = InformerConfig::client_go(QueueKind::DeltaFifo);
    let builder = widgets().when_gone(WhenGone::Stop).preset(preset);
    let (informer, _) = started(&world, &builder);
    remove(&world);
    world.pass(MINUTE);
    assert!(informer.is_stopped());
    // Without it, the preset of client-go tries again for ever.
    let world = World::new();
    let (informer, _) = started(&world, &widgets().preset(preset));
    world.pass(10 * MINUTE);
    let status = informer.status();
    assert!(!status.gone);
    assert!(matches!(
        status.phase,
        Phase::Waiting {
            cause: Failure::NotFound,
            ..
        }
    ));
}

/// How long it takes until a kind is found that was missing for an hour.
fn found_after(world: &World, informer: &SharedInformer<Value>) -> Duration {
    world.pass(60 * MINUTE);
    install(world);
    let begin = world.clock.now();
    while !informer.is_synced() {
        world.pass(SECOND);
        assert!(world.clock.now().since(begin) < 5 * MINUTE);
    }
    world.clock.now().since(begin)
}

#[test]
fn a_retry_ends_the_wait() {
    let world = World::new();
    let (informer, _) = started(&world, &widgets());
    world.pass(60 * MINUTE);
    install(&world);
    world.pass(SECOND);
    assert!(informer.status().gone);
    informer.retry_now();
    world.settle();
    assert!(informer.is_synced());
    // An informer that does not wait has nothing to try.
    informer.retry_now();
    assert_eq!(informer.status().phase, Phase::Watching);
    informer.stop();
    informer.retry_now();
    assert_eq!(informer.status().phase, Phase::Stopped);
}

#[test]
fn a_definition_that_is_followed_ends_the_wait() {
    let target = Target::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let world = World::new();
    let definitions = InformerBuilder::metadata_at(target)
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    definitions.start().unwrap();
    let (informer, _) = started(&world, &widgets());
    let registration = informer.follow_definition(&definitions).unwrap();
    assert!(found_after(&world, &informer) <= 2 * SECOND);
    // It does not disturb an informer that works, and does not keep it alive.
    let failures = informer.status().counts.failures;
    stop_serving_another_version(&world);
    world.settle();
    assert_eq!(informer.status().counts.failures, failures);
    drop(informer);
    world.settle();
    remove(&world);
    world.settle();
    assert_eq!(registration.status().unwrap().panics, 0);

    // Without it, the same takes longer.
    let world = World::new();
    let (informer, _) = started(&world, &widgets());
    assert!(found_after(&world, &informer) > 2 * SECOND);
}

/// Nobody reports the deletions: the version of the informer is no longer served when its objects are deleted.
#[test]
fn a_definition_that_is_followed_and_deleted_takes_its_objects_along() {
    let target = Target::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    for (follows, left) in [(true, vec![]), (false, vec!["web/a", "web/b"])] {
        let world = World::new();
        install(&world);
        widget(&world, "a");
        widget(&world, "b");
        let definitions = InformerBuilder::metadata_at(target.clone())
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        definitions.start().unwrap();
        let (informer, told) = started(&world, &widgets());
        if follows {
            informer.follow_definition(&definitions).unwrap();
        }
        told.take();
        stop_serving(&world);
        world.pass(10 * MINUTE);
        assert_eq!(keys(&informer), ["web/a", "web/b"]);
        remove(&world);
        world.pass(10 * SECOND);
        assert_eq!(keys(&informer), left);
        let deletions: &[&str] = if follows {
            &["delete a Inferred KindGone", "delete b Inferred KindGone"]
        } else {
            &[]
        };
        assert_eq!(told.take(), deletions);
    }
}

/// A definition says nothing about other failures, so their delays stay.
#[test]
fn a_definition_does_not_hurry_an_informer_that_waits_for_something_else() {
    let target = Target::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let world = World::new();
    install(&world);
    let definitions = InformerBuilder::metadata_at(target)
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    definitions.start().unwrap();
    world.settle();
    world.server.inject(Fault::Fail);
    world.server.inject(Fault::Fail);
    let (informer, _) = started(&world, &widgets());
    informer.follow_definition(&definitions).unwrap();
    world.settle();
    let waits = informer.status().phase;
    assert!(
        matches!(
            waits,
            Phase::Waiting {
                cause: Failure::Internal,
                ..
            }
        ),
        "{waits:?}"
    );
    stop_serving_another_version(&world);
    world.settle();
    assert_eq!(informer.status().phase, waits);
}

fn stop_serving_another_version(world: &World) {
    let change = json!({"spec": {"names": {"shortNames": ["wd"]}}});
    world
        .server
        .with(|server| server.patch("crd", DEFINITION, change))
        .unwrap();
}
