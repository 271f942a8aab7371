//! Well-known complaints about other informers, by number. None of them applies here.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::{
    Backlog, Cause, Certainty, Failure, Handler, InformerBuilder, ListenerConfig, Notification,
    Object, ObjectKey, Phase, Resync, SharedInformerFactory, Target,
};
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::fault::{Fault, FaultPlan};
use serde_json::{Value, json};
use world::{Pod, Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);

/// A world with an informer that is synced.
fn synced(
    world: &World,
    builder: &InformerBuilder<Value>,
) -> (informer::SharedInformer<Value>, Told) {
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let registration = informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    told.take();
    (informer, told)
}

/// Makes a change that the informer cannot see, so that it has to relist.
fn unseen(world: &World, change: impl FnOnce()) {
    world.server.with(|server| server.restart());
    world.server.inject(Fault::Refuse);
    change();
    world.server.with(|server| server.forget_changes());
    world.pass(Duration::from_secs(60));
}

#[test]
fn p_01_another_uid_is_another_object() {
    let world = World::new();
    world.create("a");
    let (_informer, told) = synced(&world, &pods());
    unseen(&world, || {
        world.delete("a");
        world.create("a");
    });
    assert_eq!(told.take(), ["delete a Inferred Relist", "add a Relist"]);
}

#[test]
fn p_05_synced_means_that_my_handler_is_done() {
    let world = World::new();
    world.create("a");
    world.create("b");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let clock = world.clock.clone();
    let registration = informer
        .on_async(move |_| {
            // Each call takes a second.
            let (clock, until) = (clock.clone(), clock.now().after(Duration::from_secs(1)));
            async move { std::future::poll_fn(|cx| clock.poll_until(until, cx)).await }
        })
        .unwrap();
    informer.start().unwrap();
    world.settle();
    assert!(informer.is_synced(), "the cache is synced");
    assert!(!registration.is_synced(), "the handler is not synced");
    let error = world
        .wait(registration.synced(Duration::from_millis(1)))
        .unwrap_err();
    assert!(error.reason.contains("the cache is synced, but"), "{error}");
    let begun = world.clock.now();
    world.wait(registration.synced(SOON)).unwrap();
    assert!(world.clock.now().since(begun) >= Duration::from_millis(1_900));
}

#[test]
fn p_06_a_panic_in_the_initial_list_does_not_hold_up_the_sync() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let mut tell = told.handler();
    let registration = informer
        .on(move |notification: Notification<Pod>| {
            assert_ne!(notification.key().name(), "b", "as planned");
            tell(notification);
        })
        .unwrap();
    let other = Told::default();
    informer.on(other.handler()).unwrap();
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(
        told.take(),
        ["add a initial Relist", "add c initial Relist"]
    );
    assert_eq!(other.take().len(), 3, "the other handler is not affected");
    assert_eq!(registration.status().unwrap().panics, 1);
}

#[test]
fn p_07_a_slow_handler_costs_one_entry_per_object_and_its_lag_can_be_seen() {
    let world = World::new();
    world.create("a");
    world.create("b");
    let informer = pods()
        .backlog(Backlog::Coalesce { above: 0 })
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let free = Arc::new(AtomicBool::new(false));
    let wakers = Arc::new(Mutex::new(Vec::new()));
    let (stuck, waiting) = (Arc::clone(&free), Arc::clone(&wakers));
    let registration = informer
        .on_async(move |_| {
            let (stuck, waiting) = (Arc::clone(&stuck), Arc::clone(&waiting));
            std::future::poll_fn(move |cx| {
                if stuck.load(Ordering::Relaxed) {
                    return std::task::Poll::Ready(());
                }
                waiting.lock().unwrap().push(cx.waker().clone());
                std::task::Poll::Pending
            })
        })
        .unwrap();
    informer.start().unwrap();
    world.settle();
    for _ in 0..500 {
        world.touch("a");
        world.touch("b");
        world.settle();
    }
    let status = registration.status().unwrap();
    assert_eq!(
        status.pending,
        2 + 2,
        "two taken, and one waiting for each object"
    );
    assert_eq!(status.coalesced, 998);
    free.store(true, Ordering::Relaxed);
    let waiting: Vec<std::task::Waker> = std::mem::take(&mut *wakers.lock().unwrap());
    waiting.into_iter().for_each(std::task::Waker::wake);
    world.settle();
    assert_eq!(registration.status().unwrap().pending, 0);
}

#[test]
fn p_13_every_notification_has_a_cause_and_a_relist_only_reports_changes() {
    let world = World::new();
    for name in ["a", "b"] {
        world.create(name);
    }
    let (informer, told) = synced(&world, &pods().resync(Duration::from_secs(600)));
    unseen(&world, || {
        world.touch("b");
    });
    assert_eq!(told.take(), ["update b Relist"]);
    assert_eq!(informer.status().counts.suppressed, 1);
    world.pass(Duration::from_secs(660));
    let mut shown = told.take();
    shown.sort();
    assert_eq!(shown, ["update a same Resync", "update b same Resync"]);
}

#[test]
fn p_15_failures_reach_waiters_the_status_and_hooks() {
    let world = World::new();
    world
        .server
        .with(|server| server.remove_kind("pods"))
        .unwrap();
    let failures = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&failures);
    let informer = pods()
        .on_failure(move |failure| seen.lock().unwrap().push(failure.failure))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let before = informer.status();
    informer.start().unwrap();
    let error = world
        .wait(informer.synced(Duration::from_secs(5)))
        .unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with(
            "pods.v1 is not synced after 5s: the server does not serve this kind (404)"
        ),
        "{said}"
    );
    assert!(failures.lock().unwrap().contains(&Failure::NotFound));
    let status = world.wait(informer.status_change(&before)).unwrap();
    assert!(
        matches!(
            status.phase,
            Phase::Waiting {
                cause: Failure::NotFound,
                ..
            }
        ),
        "{status:?}"
    );
    assert!(!informer.is_fresh(Duration::from_secs(120)));

    // The hook also sees a broken stream.
    failures.lock().unwrap().clear();
    world
        .server
        .with(|server| server.register(ApiKind::custom("", "v1", "pods", "Pod")));
    world
        .wait(informer.synced(Duration::from_secs(120)))
        .unwrap();
    assert!(informer.is_fresh(Duration::from_secs(120)));
    world.server.with(|server| server.restart());
    world.pass(Duration::from_secs(5));
    assert!(
        !failures.lock().unwrap().is_empty(),
        "the hook saw that the watch broke"
    );
}

#[test]
fn p_17_one_informer_of_a_factory_can_be_stopped_and_built_again() {
    let world = World::new();
    world.create("a");
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let first = factory.informer(&pods()).unwrap();
    let other = factory.informer(&pods().namespace("web")).unwrap();
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    assert!(factory.forget(&first));
    assert!(!factory.forget(&first), "the factory no longer has it");
    world.create("b");
    world.settle();
    assert_eq!(keys(&first).len(), 2, "existing handles still work");
    let tasks = world.runtime.tasks();
    drop(first);
    world.settle();
    assert_eq!(
        world.runtime.tasks(),
        tasks - 1,
        "its watch ends with the last handle"
    );
    world.create("c");
    world.settle();
    assert_eq!(keys(&other).len(), 3, "the others go on");
    let again = factory.informer(&pods()).unwrap();
    world.wait(again.synced(SOON)).unwrap();
    assert_eq!(keys(&again).len(), 3);

    // A kind that disappears shows in the status, and can come back.
    let widgets = InformerBuilder::dynamic_at(Target::new("example.com", "v1", "widgets"));
    let kind = || ApiKind::custom("example.com", "v1", "widgets", "Widget");
    world.server.with(|server| server.register(kind()));
    let widgets = factory.informer(&widgets.seed(1)).unwrap();
    world
        .server
        .with(|server| server.create("widgets", json!({"metadata": {"name": "w"}})))
        .unwrap();
    world.wait(widgets.synced(SOON)).unwrap();
    world
        .server
        .with(|server| server.remove_kind("widgets"))
        .unwrap();
    world.pass(Duration::from_secs(10));
    let status = widgets.status();
    assert!(
        matches!(
            status.phase,
            Phase::Waiting {
                cause: Failure::NotFound,
                ..
            }
        ),
        "{status:?}"
    );
    assert_eq!(status.objects, 0, "the server reported the deletions");
    world.server.with(|server| server.register(kind()));
    world
        .server
        .with(|server| server.create("widgets", json!({"metadata": {"name": "v"}})))
        .unwrap();
    world.pass(Duration::from_secs(120));
    assert_eq!(widgets.status().phase, Phase::Watching);
    assert_eq!(keys(&widgets), ["default/v"]);
    world.wait(factory.shutdown());
    assert_eq!(world.runtime.tasks(), 0);
}

#[test]
fn p_18_different_settings_get_different_informers() {
    let world = World::new();
    world.create("a");
    world.create("b");
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let target = || Target::new("", "v1", "pods");
    let all = factory.informer(&pods()).unwrap();
    let some = factory.informer(&pods().labels("app=a")).unwrap();
    let lean = factory
        .informer(&InformerBuilder::lean_at(target()))
        .unwrap();
    let there = factory.informer(&pods().namespace("web")).unwrap();
    let here = factory.informer(&pods().namespace("elsewhere")).unwrap();
    assert!(all.is_same(&factory.informer(&pods()).unwrap()));
    assert!(!all.is_same(&some) && !all.is_same(&there));
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    let counts = [
        keys(&all).len(),
        keys(&some).len(),
        keys(&there).len(),
        keys(&here).len(),
    ];
    assert_eq!(counts, [2, 1, 2, 0]);
    assert_eq!(lean.lister().len(), 2);
    assert_eq!(factory.status().len(), 5, "five watches");

    // A tweak for all informers, and a namespace for those without one.
    let narrow = SharedInformerFactory::new(world.connect(), world.runtime.clone())
        .namespace("web")
        .tweak(|target| target.labels = "app=b".to_owned());
    let tweaked = narrow.informer(&pods()).unwrap();
    assert_eq!(
        tweaked.target().to_string(),
        "pods.v1 in web with labels app=b"
    );
    narrow.start().unwrap();
    world.wait(narrow.synced(SOON)).unwrap();
    assert_eq!(keys(&tweaked), ["web/b"]);
}

#[test]
fn p_19_waiting_for_an_informer_that_was_not_started_fails_and_late_informers_run() {
    let world = World::new();
    world.create("a");
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    factory.informer(&pods()).unwrap();
    let error = world.wait(factory.synced(SOON)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods.v1 is not synced after 0ns: it was not started; call `start`"
    );
    factory.start().unwrap();
    factory.start().unwrap();
    let late = factory.informer(&pods().namespace("web")).unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    assert!(late.is_synced());
    // The error names the informer and the reason.
    world
        .server
        .with(|server| server.remove_kind("nodes"))
        .unwrap();
    let nodes = InformerBuilder::dynamic_at(Target::new("", "v1", "nodes"));
    factory.informer(&nodes).unwrap();
    let error = world.wait(factory.synced(SOON)).unwrap_err();
    assert_eq!(error.late.len(), 1);
    assert!(
        error.to_string().contains(
            "nodes.v1 is not synced after 30s: the server does not serve this kind (404)"
        ),
        "{error}"
    );
}

#[test]
fn p_20_a_missed_delete_is_reported_like_any_other() {
    let world = World::new();
    world.create("a");
    type Deletions = Arc<Mutex<Vec<(ObjectKey, Option<Pod>, Certainty)>>>;
    let gone = Deletions::default();

    struct Gone(Deletions);
    impl Handler<Value> for Gone {
        fn deleted(&mut self, key: &ObjectKey, last: Option<&Pod>, how: informer::Deleted) {
            self.0
                .lock()
                .unwrap()
                .push((key.clone(), last.cloned(), how.certainty));
        }
    }
    let (informer, _) = synced(&world, &pods());
    informer.on(Gone(Arc::clone(&gone))).unwrap();
    unseen(&world, || world.delete("a"));
    let gone = gone.lock().unwrap();
    let [(key, Some(last), Certainty::Inferred)] = gone.as_slice() else {
        panic!("{gone:?}");
    };
    assert_eq!((key.name(), last.labels().get("app")), ("a", Some("a")));
}

#[test]
fn p_25_a_streamed_list_that_never_ends_falls_back_to_pages() {
    let world = World::new();
    world.create("a");
    world
        .server
        .set_faults(FaultPlan::script([Some(Fault::NoEndBookmark)]));
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.settle();
    assert!(!informer.is_synced());
    world
        .wait(informer.synced(Duration::from_secs(60)))
        .unwrap();
    assert_eq!(keys(&informer), ["web/a"]);
}

#[test]
fn p_27_a_removed_handler_is_never_called_again() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let (counted, clock) = (Arc::clone(&calls), world.clock.clone());
    let registration = informer
        .on_async(move |_| {
            let (counted, clock) = (Arc::clone(&counted), clock.clone());
            let until = clock.now().after(Duration::from_secs(10));
            async move {
                std::future::poll_fn(|cx| clock.poll_until(until, cx)).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
        })
        .unwrap();
    informer.start().unwrap();
    world.settle();
    world.create("b");
    world.settle();
    // Removal waits for the first call, and there is no second one.
    let begun = world.clock.now();
    world.wait(registration.remove());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert!(world.clock.now().since(begun) >= Duration::from_secs(9));
    let tasks = world.runtime.tasks();
    world.create("c");
    world.pass(Duration::from_secs(60));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(tasks, 1, "only the driver is left");
}

#[test]
fn p_29_you_can_read_your_own_writes() {
    let world = World::new();
    world.create("a");
    let (informer, _) = synced(&world, &pods());
    let version = world.touch("a");
    let state = world.wait(informer.reached(&version, SOON)).unwrap();
    let pod = state.get(&ObjectKey::new("web", "a")).unwrap();
    assert_eq!(*pod.version(), *version);
    assert!(pod["spec"]["touched"].is_number());
    let error = world.wait(informer.reached("999999", SOON)).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("has not reached version 999999 after 30s"),
        "{said}"
    );
    let error = world.wait(informer.reached("newest", SOON)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cannot wait for version \"newest\""),
        "{error}"
    );
}

#[test]
fn handlers_have_their_own_resync_periods() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .resync(Duration::from_secs(60))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let [often, never] = [Told::default(), Told::default()];
    let quiet = ListenerConfig {
        resync: Resync::Never,
        ..ListenerConfig::new()
    };
    informer.on(often.handler()).unwrap();
    informer.on_with(never.handler(), quiet).unwrap();
    informer.start().unwrap();
    world.pass(Duration::from_secs(190));
    assert_eq!(often.take().len(), 4, "the add and three resyncs");
    assert_eq!(never.take(), ["add a initial Relist"]);
}

#[test]
fn a_transform_changes_objects_before_they_are_visible() {
    let world = World::new();
    world.create("a");
    world.create("secret");
    let rejected = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&rejected);
    let informer = pods()
        .transform(|pod: &mut Object<Value>| {
            if pod.key().name() == "secret" {
                return Err(informer::TransformError::new("not for us"));
            }
            pod.set_labels([("seen", "yes")]);
            Ok(())
        })
        .on_rejected(move |object| seen.lock().unwrap().push(object.reason.clone()))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(keys(&informer), ["web/a"]);
    let pod: Object<Value> = informer.lister().get("web", "a").unwrap();
    assert_eq!(pod.labels().get("seen"), Some("yes"));
    assert_eq!(rejected.lock().unwrap().len(), 1);
    assert!(rejected.lock().unwrap()[0].contains("not for us"));
}

#[test]
fn a_factory_transforms_the_objects_of_all_its_informers() {
    let world = World::new();
    world.create("a");
    world.create("secret");
    let factory =
        SharedInformerFactory::new(world.connect(), world.runtime.clone()).transform(|mut meta| {
            match meta.key().name() {
                "secret" => Err(informer::TransformError::new("not for us")),
                _ => {
                    meta.set_labels([("by", "factory")]);
                    Ok(())
                }
            }
        });
    let plain = factory.informer(&pods()).unwrap();
    let own = pods().namespace("web").transform(|pod| {
        let by = pod.labels().get("by").unwrap_or_default().to_owned();
        pod.set_labels([("by", by.as_str()), ("and", "itself")]);
        Ok(())
    });
    let own = factory.informer(&own).unwrap();
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    assert_eq!((keys(&plain).len(), keys(&own).len()), (1, 1));
    let label = |informer: &informer::SharedInformer<Value>, label: &str| {
        let pod = informer.lister().get("web", "a").unwrap();
        pod.labels().get(label).map(str::to_owned)
    };
    assert_eq!(label(&plain, "by").as_deref(), Some("factory"));
    assert_eq!(label(&own, "by").as_deref(), Some("factory"));
    assert_eq!(label(&own, "and").as_deref(), Some("itself"));
}

#[test]
fn a_late_handler_gets_the_current_objects() {
    let world = World::new();
    world.create("a");
    let (informer, _) = synced(&world, &pods());
    let late = Told::default();
    let registration = informer.on(late.handler()).unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    assert_eq!(late.take(), ["add a initial Replay"]);
    let mut stream = informer.stream().unwrap();
    let Some(Notification::Added {
        initial: true,
        cause: Cause::Replay,
        ..
    }) = world.wait(stream.next())
    else {
        panic!("the stream must begin with the current objects");
    };
    informer.stop();
    assert!(
        world.wait(stream.next()).is_none(),
        "the stream ends with the informer"
    );
    assert!(informer.on(late.handler()).is_err());
    world.wait(informer.join());
}
