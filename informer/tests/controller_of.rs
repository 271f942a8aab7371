//! Whole controllers: `Controller::of`, in virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::error::Error;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use informer::controller::{
    Context, Controller, ControllerBuilder, Next, Permanent, Predicate, RunError, Verdict,
};
use informer::election::{Election, ElectionBuilder};
use informer::runtime::Runtime as _;
use informer::{InformerBuilder, Kind, LeanBody, ObjectKey, PackedBody, StartError, Target};
use informer_transport_mock::fault::{Fault, FaultPlan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use world::World;

type Outcome = Result<Next, Box<dyn Error + Send + Sync>>;

macro_rules! kind {
    ($kind:ident, $group:literal, $plural:literal) => {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct $kind {
            metadata: Value,
            #[serde(default)]
            data: Value,
        }

        impl Kind for $kind {
            const GROUP: &'static str = $group;
            const VERSION: &'static str = "v1";
            const KIND: &'static str = stringify!($kind);
            const PLURAL: &'static str = $plural;
        }
    };
}

kind!(ConfigMap, "", "configmaps");
kind!(Secret, "", "secrets");
kind!(Node, "", "nodes");
kind!(Deployment, "apps", "deployments");

/// Ready when it is told so.
#[derive(Clone, Default)]
struct Signal(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Signal {
    fn give(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        state.1.drain(..).for_each(Waker::wake);
    }

    async fn wait(self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            state.1.push(cx.waker().clone());
            if state.0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

/// A controller that runs, what it has reconciled, and how it ended.
struct Running {
    stop: Signal,
    ended: Arc<Mutex<Option<Result<(), RunError>>>>,
}

impl Running {
    fn ended(&self) -> Option<Result<(), RunError>> {
        self.ended.lock().unwrap().clone()
    }
}

fn run<B, R>(
    world: &World,
    controller: ControllerBuilder<B>,
    reconcile: impl Fn(Context<B>) -> R + Send + Sync + 'static,
) -> Running
where
    B: Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    let (stop, ended) = (Signal::default(), Arc::new(Mutex::new(None)));
    let running = controller
        .shutdown_on(stop.clone().wait())
        .run_on(world.runtime.clone(), reconcile);
    let end = Arc::clone(&ended);
    let task = async move {
        let ended = running.await;
        *end.lock().unwrap() = Some(ended);
    };
    world.runtime.spawn(Box::pin(task)).unwrap();
    world.settle();
    Running { stop, ended }
}

/// What was reconciled, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, text: impl ToString) {
        self.0.lock().unwrap().push(text.to_string());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Notes the key.
fn noting<B: Send + Sync>(
    seen: &Seen,
) -> impl Fn(Context<B>) -> std::future::Ready<Outcome> + use<B> {
    let seen = seen.clone();
    move |context| {
        seen.note(context.key());
        std::future::ready(Ok(Next::Done))
    }
}

fn create(world: &World, kind: &str, name: &str) {
    let object = json!({"metadata": {"namespace": "web", "name": name}});
    world
        .server
        .with(|server| server.create(kind, object))
        .unwrap();
    world.settle();
}

fn patch(world: &World, kind: &str, name: &str, change: Value) {
    world
        .server
        .with(|server| server.patch(kind, &format!("web/{name}"), change))
        .unwrap();
    world.settle();
}

/// Keeps a Secret beside each ConfigMap.
async fn copy(map: Context<ConfigMap>) -> Outcome {
    let name = map.key().name();
    if map.owned::<Secret>()?.is_empty() {
        let secret = json!({
            "metadata": {"name": name, "ownerReferences": [map.owner_reference()]},
            "stringData": map.object().data.clone(),
        });
        let secrets = map.api::<Secret>().namespace(map.key().namespace());
        secrets.create(&secret).await?;
    }
    Ok(Next::Done)
}

#[test]
fn owned_objects_reconcile_their_owner() {
    let world = World::new();
    let running = run(
        &world,
        Controller::of::<ConfigMap>(&world.server).owns::<Secret>(),
        copy,
    );
    create(&world, "configmaps", "shop");
    let secret = world
        .server
        .with(|server| server.get("secrets", "web/shop").cloned())
        .unwrap();
    let owner = &secret.value()["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["controller"]),
        (&json!("ConfigMap"), &json!(true))
    );
    // It is made again when somebody deletes it.
    world
        .server
        .with(|server| server.delete("secrets", "web/shop"))
        .unwrap();
    world.settle();
    assert!(
        world
            .server
            .with(|server| server.get("secrets", "web/shop").is_some())
    );
    running.stop.give();
    world.settle();
    assert_eq!(running.ended(), Some(Ok(())));
}

#[test]
fn what_is_applied_belongs_to_the_object_and_is_seen_by_the_next_reconciliation() {
    let world = World::new();
    let seen = Seen::default();
    let noted = seen.clone();
    let controller = Controller::of::<ConfigMap>(&world.server).owns::<Secret>();
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        let noted = noted.clone();
        async move {
            let before = map.owned::<Secret>()?.len();
            let other = json!({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"});
            let secret = Secret {
                metadata: json!({"name": map.key().name(), "ownerReferences": [other]}),
                data: json!({"colour": "cmVk"}),
            };
            let applied = map.apply(&secret).await?;
            noted.note(format!("{before} {}", applied.key()));
            noted.note(map.owned::<Secret>()?.len());
            // Objects without a namespace can be read, too.
            let node = map.api::<Node>().get(&ObjectKey::new("", "node-1")).await;
            noted.note(node.is_ok());
            Ok(Next::Done)
        }
    });
    let node = json!({"metadata": {"name": "node-1"}});
    world
        .server
        .with(|server| server.create("nodes", node))
        .unwrap();
    create(&world, "configmaps", "shop");
    // The Secret comes back as a change, and nothing is left to do.
    assert_eq!(
        seen.take(),
        ["0 web/shop", "1", "true", "1 web/shop", "1", "true"]
    );
    world.pass(Duration::from_secs(60));
    assert!(seen.take().is_empty());
    let secret = world
        .server
        .with(|server| server.get("secrets", "web/shop").cloned())
        .unwrap();
    let owners = &secret.value()["metadata"]["ownerReferences"];
    assert_eq!(owners.as_array().unwrap().len(), 2, "{owners}");
}

/// A write waits for the source that shows it, and not for quiet ones, which hear of its version a minute later.
#[test]
fn what_is_applied_is_not_looked_for_in_other_namespaces() {
    let world = World::new();
    let seen = Seen::default();
    let noted = seen.clone();
    let secrets = InformerBuilder::<Secret>::typed().namespaces(["quiet", "web"]);
    let controller = Controller::of::<ConfigMap>(&world.server).owns_with(secrets);
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        let noted = noted.clone();
        async move {
            let secret = Secret {
                metadata: json!({"name": map.key().name()}),
                data: json!({}),
            };
            map.apply(&secret).await?;
            noted.note(map.owned::<Secret>()?.len());
            Ok(Next::Done)
        }
    });
    // No time passes.
    create(&world, "configmaps", "shop");
    assert_eq!(seen.take(), ["1", "1"]);
}

#[test]
fn watched_objects_reconcile_what_the_map_says() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let seen = Seen::default();
    let controller = Controller::of::<ConfigMap>(&world.server)
        .watches::<Node>(|_| vec![ObjectKey::new("web", "shop"), ObjectKey::new("web", "gone")]);
    let _running = run(&world, controller, noting(&seen));
    assert_eq!(seen.take(), ["web/shop"]);
    world
        .server
        .with(|server| server.create("nodes", json!({"metadata": {"name": "node-1"}})))
        .unwrap();
    world.settle();
    // An object that is not there is not reconciled.
    assert_eq!(seen.take(), ["web/shop"]);
}

#[test]
fn work_waits_for_all_caches() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let seen = Seen::default();
    // The first answers are those to the two informers, in this order.
    let late = Fault::Delay(Duration::from_secs(70));
    world
        .server
        .set_faults(FaultPlan::script([None, Some(late)]));
    let controller = Controller::of::<ConfigMap>(&world.server).owns::<Secret>();
    let _running = run(&world, controller, noting(&seen));
    world.pass(Duration::from_secs(65));
    assert!(seen.take().is_empty());
    world.pass(Duration::from_secs(10));
    assert_eq!(seen.take(), ["web/shop"]);
}

#[test]
fn predicates_decide_which_changes_matter() {
    let world = World::new();
    let seen = Seen::default();
    let controller = Controller::of::<Deployment>(&world.server)
        .with(InformerBuilder::keep_annotations)
        .when(
            Predicate::generation()
                .or(Predicate::labels())
                .or(Predicate::annotations()),
        );
    let _running = run(&world, controller, noting(&seen));
    create(&world, "deployments.apps", "shop");
    assert_eq!(seen.take().len(), 1);
    let changes = [
        (json!({"spec": {"replicas": 2}}), 1),
        (json!({"metadata": {"labels": {"a": "b"}}}), 1),
        (json!({"metadata": {"annotations": {"a": "b"}}}), 1),
        (json!({"metadata": {"finalizers": ["example.com/x"]}}), 0),
    ];
    for (change, times) in changes {
        patch(&world, "deployments.apps", "shop", change.clone());
        assert_eq!(seen.take().len(), times, "{change}");
    }
    let status = json!({"status": {"replicas": 2}});
    world
        .server
        .with(|server| server.patch_status("deployments.apps", "web/shop", status))
        .unwrap();
    world.settle();
    assert!(seen.take().is_empty());
    // It begins to be deleted.
    world
        .server
        .with(|server| server.delete("deployments.apps", "web/shop"))
        .unwrap();
    world.settle();
    assert_eq!(seen.take().len(), 1);
}

#[test]
fn resyncs_and_the_beginning_of_a_deletion_always_pass() {
    let world = World::new();
    let seen = Seen::default();
    let controller = Controller::of::<ConfigMap>(&world.server)
        .with(|informer| informer.resync(Duration::from_secs(600)))
        .when(Predicate::new(|_, _| false));
    let _running = run(&world, controller, noting(&seen));
    create(&world, "configmaps", "shop");
    assert_eq!(seen.take().len(), 1);
    let held = json!({"metadata": {"finalizers": ["example.com/x"]}});
    patch(&world, "configmaps", "shop", held);
    assert!(seen.take().is_empty());
    world.pass(Duration::from_secs(700));
    assert_eq!(seen.take().len(), 1);
    world
        .server
        .with(|server| server.delete("configmaps", "web/shop"))
        .unwrap();
    world.settle();
    assert_eq!(seen.take().len(), 1);
}

#[test]
fn a_kind_without_generations_always_passes() {
    let world = World::new();
    let seen = Seen::default();
    let controller = Controller::of::<ConfigMap>(&world.server).when(Predicate::generation());
    let _running = run(&world, controller, noting(&seen));
    create(&world, "configmaps", "shop");
    patch(&world, "configmaps", "shop", json!({"data": {"a": "b"}}));
    assert_eq!(seen.take().len(), 2);
    let own = Predicate::new(|_, new: &informer::Object<ConfigMap>| new.data["a"] == "d");
    let controller =
        Controller::of::<ConfigMap>(&world.server).when(own.and(Predicate::generation()));
    let seen = Seen::default();
    let _running = run(&world, controller, noting(&seen));
    seen.take();
    patch(&world, "configmaps", "shop", json!({"data": {"a": "c"}}));
    assert!(seen.take().is_empty());
    patch(&world, "configmaps", "shop", json!({"data": {"a": "d"}}));
    assert_eq!(seen.take().len(), 1);
}

#[test]
fn failures_are_retried_until_the_limit_and_permanent_ones_are_not() {
    let world = World::new();
    let (seen, told) = (Seen::default(), Seen::default());
    let (noted, hooked) = (seen.clone(), told.clone());
    let controller = Controller::of::<ConfigMap>(&world.server)
        .max_retries(2)
        .on_error(move |failed| {
            hooked.note(format!(
                "{} {} {:?}: {failed}",
                failed.key, failed.attempts, failed.verdict
            ));
            assert_ne!(failed.verdict, Verdict::Permanent, "a hook may panic");
        });
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        noted.note(map.key());
        let cause = std::io::Error::other("no room");
        let error: Box<dyn Error + Send + Sync> = match map.key().name() {
            "typo" => Permanent::new(cause).into(),
            "panic" => panic!("oh"),
            _ => cause.into(),
        };
        async { Err(error) }
    });
    create(&world, "configmaps", "shop");
    world.pass(Duration::from_secs(60));
    assert_eq!(seen.take().len(), 3);
    assert_eq!(
        told.take(),
        [
            "web/shop 1 Retry: no room",
            "web/shop 2 Retry: no room",
            "web/shop 3 GiveUp: no room"
        ]
    );
    create(&world, "configmaps", "typo");
    world.pass(Duration::from_secs(60));
    assert_eq!(seen.take().len(), 1);
    assert_eq!(told.take(), ["web/typo 1 Permanent: no room"]);
    create(&world, "configmaps", "panic");
    world.pass(Duration::from_secs(60));
    assert_eq!(told.take()[2], "web/panic 3 GiveUp: panicked: oh");
    // A change begins anew.
    patch(&world, "configmaps", "shop", json!({"data": {"a": "b"}}));
    world.pass(Duration::from_secs(60));
    assert_eq!(told.take().len(), 3);
}

#[test]
fn changes_within_the_debounce_are_seen_together() {
    let world = World::new();
    let seen = Seen::default();
    let controller = Controller::of::<ConfigMap>(&world.server).debounce(Duration::from_secs(1));
    let _running = run(&world, controller, noting(&seen));
    create(&world, "configmaps", "shop");
    for at in 0..3 {
        world.pass(Duration::from_millis(300));
        patch(
            &world,
            "configmaps",
            "shop",
            json!({"data": {"at": at.to_string()}}),
        );
    }
    assert!(seen.take().is_empty());
    world.pass(Duration::from_millis(100));
    assert_eq!(seen.take().len(), 1);
    world.pass(Duration::from_secs(10));
    assert!(seen.take().is_empty());
}

#[test]
fn changes_come_before_the_initial_state() {
    let world = World::new();
    for at in 10..30 {
        create(&world, "configmaps", &format!("old-{at}"));
    }
    let seen = Seen::default();
    let noted = seen.clone();
    let clock = world.clock.clone();
    let controller = Controller::of::<ConfigMap>(&world.server).max_concurrent(1);
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        noted.note(map.key().name());
        let clock = clock.clone();
        async move {
            world::sleep(&clock, Duration::from_secs(1)).await;
            Ok(Next::Done)
        }
    });
    patch(&world, "configmaps", "old-20", json!({"data": {"a": "b"}}));
    for at in 10..30 {
        create(&world, "configmaps", &format!("new-{at}"));
    }
    world.pass(Duration::from_secs(60));
    let mut order = seen.take();
    assert_eq!(order.len(), 40);
    assert_eq!(order.remove(1), "old-20");
    // The one that has changed does not come again.
    assert!(!order.contains(&"old-20".to_owned()));
    // The first was begun before any change.
    let is_old = |name: &String| name.starts_with("old");
    assert!(is_old(&order[0]));
    assert!(!order[1..21].iter().any(is_old), "{order:?}");
}

#[test]
fn an_initial_state_comes_however_many_changes_there_are() {
    let world = World::new();
    create(&world, "configmaps", "first");
    create(&world, "configmaps", "second");
    let seen = Seen::default();
    let (noted, server) = (seen.clone(), world.server.clone());
    let controller = Controller::of::<ConfigMap>(&world.server).max_concurrent(1);
    let running = run(&world, controller, move |map: Context<ConfigMap>| {
        noted.note(map.key().name());
        // Each reconciliation makes a change, so that there is always one.
        let change = json!({"data": {"at": map.object().version()}});
        let changed = server.with(|server| server.patch("configmaps", "web/first", change));
        let clock = server.clock().clone();
        async move {
            changed.unwrap();
            world::sleep(&clock, Duration::from_secs(1)).await;
            Ok(Next::Done)
        }
    });
    world.pass(Duration::from_secs(60));
    assert!(seen.take().contains(&"second".to_owned()));
    running.stop.give();
    world.pass(Duration::from_secs(2));
}

#[test]
fn a_shutdown_lets_reconciliations_finish() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    create(&world, "configmaps", "next");
    let seen = Seen::default();
    let (noted, clock) = (seen.clone(), world.clock.clone());
    let controller = Controller::of::<ConfigMap>(&world.server).max_concurrent(1);
    let running = run(&world, controller, move |map: Context<ConfigMap>| {
        let (noted, clock) = (noted.clone(), clock.clone());
        async move {
            world::sleep(&clock, Duration::from_secs(10)).await;
            noted.note(map.key());
            Ok(Next::Done)
        }
    });
    running.stop.give();
    world.pass(Duration::from_secs(9));
    assert_eq!(running.ended(), None);
    world.pass(Duration::from_secs(20));
    // What was begun is finished, and nothing else is begun.
    assert_eq!(seen.take().len(), 1);
    assert_eq!(running.ended(), Some(Ok(())));
}

#[test]
fn a_reconciliation_that_takes_too_long_is_dropped_and_named() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let controller = Controller::of::<ConfigMap>(&world.server).grace(Duration::from_secs(5));
    let running = run(&world, controller, |_| pending());
    running.stop.give();
    world.pass(Duration::from_secs(4));
    assert_eq!(running.ended(), None);
    world.pass(Duration::from_secs(2));
    let Some(Err(RunError::Unfinished(error))) = running.ended() else {
        panic!("{:?}", running.ended());
    };
    assert_eq!(error.keys, [ObjectKey::new("web", "shop")]);
}

#[test]
fn a_worker_that_does_not_return_is_named_in_the_status() {
    let world = World::new();
    let controller: Controller<ObjectKey> = Controller::new(world.runtime.clone());
    controller.work(2, |_| pending::<Outcome>()).unwrap();
    controller.queue().add(ObjectKey::new("web", "shop"));
    world.pass(Duration::from_secs(300));
    let status = controller.status();
    assert_eq!(status.working[0].time, Duration::from_secs(300));
    assert_eq!(
        status.to_string(),
        "0 keys queued, 0 delayed; 1 of 2 workers busy; the worker of \"web/shop\" has not returned for 300s"
    );
}

#[test]
fn a_busy_worker_is_not_woken_by_other_keys() {
    let world = World::new();
    let polls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&polls);
    let controller: Controller<u32> = Controller::new(world.runtime.clone());
    controller
        .work(1, move |_| {
            let counted = Arc::clone(&counted);
            poll_fn(move |_| {
                *counted.lock().unwrap() += 1;
                Poll::<Outcome>::Pending
            })
        })
        .unwrap();
    for key in 0..100 {
        controller.queue().add(key);
        world.settle();
    }
    assert_eq!(*polls.lock().unwrap(), 1);
}

#[test]
fn an_informer_that_ends_ends_the_controller() {
    let world = World::new();
    let controller = Controller::of::<ConfigMap>(&world.server).with(|informer| {
        informer.index("fragile", |map: &informer::Object<ConfigMap>| {
            assert_ne!(map.key().name(), "bad", "an index function panics");
            None::<String>
        })
    });
    let running = run(&world, controller, |_| async { Ok(Next::Done) });
    create(&world, "configmaps", "good");
    assert_eq!(running.ended(), None);
    create(&world, "configmaps", "bad");
    let ended = running.ended();
    let Some(Err(RunError::Ended(StartError::Ended { reason, .. }))) = &ended else {
        panic!("{ended:?}");
    };
    assert!(reason.contains("an index function panics"), "{reason}");
}

#[test]
fn what_is_not_followed_is_named() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let seen = Seen::default();
    let noted = seen.clone();
    let controller = Controller::of::<ConfigMap>(&world.server).watches::<Node>(|_| Vec::new());
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        noted.note(map.lister::<Secret>().map(drop).unwrap_err());
        noted.note(map.owned::<Node>().map(drop).unwrap_err());
        noted.note(map.lister::<Node>().unwrap().len());
        async { Ok(Next::Done) }
    });
    let said = seen.take();
    assert!(
        said[0].contains("follows no objects of the type controller_of::Secret"),
        "{said:?}"
    );
    assert!(
        said[1].contains("owns no objects of the type controller_of::Node"),
        "{said:?}"
    );
    assert_eq!(said[2], "0");
}

#[test]
fn an_owner_may_have_no_namespace() {
    let world = World::new();
    let node = json!({"metadata": {"name": "node-1"}});
    let node = world
        .server
        .with(|server| server.create("nodes", node))
        .unwrap();
    let seen = Seen::default();
    let noted = seen.clone();
    let controller = Controller::of::<Node>(&world.server).owns::<Secret>();
    let _running = run(&world, controller, move |node: Context<Node>| {
        noted.note(node.owned::<Secret>().unwrap().len());
        async { Ok(Next::Done) }
    });
    let uid = &node.value()["metadata"]["uid"];
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": uid, "controller": true});
    let secret = json!({"metadata": {"namespace": "web", "name": "s", "ownerReferences": [owner]}});
    world
        .server
        .with(|server| server.create("secrets", secret))
        .unwrap();
    world.settle();
    assert_eq!(seen.take(), ["0", "1"]);
}

#[test]
fn all_owned_kinds_of_a_form_are_found() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let map = world
        .server
        .with(|server| server.get("configmaps", "web/shop").cloned())
        .unwrap();
    let uid = &map.value()["metadata"]["uid"];
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "uid": uid, "controller": true});
    for kind in ["secrets", "pods", "configmaps"] {
        let object =
            json!({"metadata": {"namespace": "web", "name": "o", "ownerReferences": [owner]}});
        world
            .server
            .with(|server| server.create(kind, object))
            .unwrap();
    }
    let seen = Seen::default();
    let noted = seen.clone();
    let lean = |plural| InformerBuilder::lean_at(Target::new("", "v1", plural));
    let controller = Controller::of::<ConfigMap>(&world.server)
        .owns_with(lean("secrets"))
        .owns_with(lean("pods"))
        .owns::<ConfigMap>();
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        if map.key().name() == "shop" {
            let lean = map.owned::<LeanBody>().unwrap().len();
            noted.note(format!(
                "{lean} {}",
                map.owned::<ConfigMap>().unwrap().len()
            ));
        }
        async { Ok(Next::Done) }
    });
    assert_eq!(seen.take()[0], "2 1");
}

/// The cache of another form shows the write, too; one that selects other objects is not waited for.
#[test]
fn an_applied_object_is_waited_for_where_it_can_be_seen() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let forms = [
        InformerBuilder::<Secret>::packed(),
        InformerBuilder::<Secret>::packed().labels("app=other"),
    ];
    for (informer, owned) in forms.into_iter().zip(["1", "0"]) {
        let seen = Seen::default();
        let noted = seen.clone();
        let controller = Controller::of::<ConfigMap>(&world.server).owns_with(informer);
        let running = run(&world, controller, move |map: Context<ConfigMap>| {
            let noted = noted.clone();
            async move {
                let secret = Secret {
                    metadata: json!({"name": map.key().name()}),
                    data: Value::Null,
                };
                map.apply(&secret).await?;
                noted.note(map.owned::<PackedBody<Secret>>()?.len());
                Ok(Next::Done)
            }
        });
        assert_eq!(seen.take()[0], owned);
        running.stop.give();
        world.settle();
    }
}

#[test]
fn keys_behind_come_while_a_worker_is_free() {
    let world = World::new();
    let seen = Seen::default();
    let noted = seen.clone();
    let controller: Controller<&str> = Controller::new(world.runtime.clone());
    controller
        .work(2, move |key| {
            noted.note(key);
            async move {
                if key == "busy" {
                    pending::<()>().await;
                }
                Outcome::Ok(Next::Done)
            }
        })
        .unwrap();
    controller.queue().add("busy");
    world.settle();
    controller.queue().add_behind("busy");
    controller.queue().add_behind("next");
    world.settle();
    assert_eq!(seen.take(), ["busy", "next"]);
}

/// Panics when it is displayed, or dropped.
#[derive(Debug)]
struct Fragile;

impl std::fmt::Display for Fragile {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("in an error")
    }
}

impl Error for Fragile {}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a dropped future");
    }
}

#[test]
fn a_worker_survives_errors_and_futures_that_panic() {
    let world = World::new();
    let seen = Seen::default();
    let noted = seen.clone();
    let controller: Controller<&str> = Controller::new(world.runtime.clone());
    controller
        .work(1, move |key| {
            noted.note(key);
            async move {
                if key == "hangs" {
                    let _bomb = Bomb;
                    pending::<()>().await;
                }
                match key {
                    "fragile" => Err(Fragile),
                    _ => Ok(Next::Done),
                }
            }
        })
        .unwrap();
    controller.queue().add("fragile");
    controller.queue().add("next");
    world.pass(Duration::from_millis(7));
    assert_eq!(seen.take(), ["fragile", "next", "fragile"]);
    controller.queue().add("hangs");
    world.settle();
    let unfinished = world.wait(controller.stop_within(Duration::from_secs(1)));
    // It panicked while it was dropped, so nobody can say whether it had finished.
    assert_eq!(unfinished, Ok(()));
    assert_eq!(controller.status().workers, 0);
}

#[test]
fn a_handle_says_what_a_controller_does() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let controller = Controller::of::<ConfigMap>(&world.server).max_concurrent(0);
    let handle = controller.handle();
    assert_eq!(handle.status(), None);
    let _running = run(&world, controller, |_| pending());
    world.pass(Duration::from_secs(90));
    let status = handle.status().unwrap();
    // There is at least one worker.
    assert_eq!(status.workers, 1);
    assert_eq!(status.working[0].key, ObjectKey::new("web", "shop"));
    assert!(handle.queue().is_some());
}

#[test]
fn one_namespace_is_enough() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let other = json!({"metadata": {"namespace": "other", "name": "shop"}});
    world
        .server
        .with(|server| server.create("configmaps", other))
        .unwrap();
    let seen = Seen::default();
    let controller = Controller::of::<ConfigMap>(&world.server)
        .namespace("web")
        .owns::<Secret>();
    let _running = run(&world, controller, noting(&seen));
    assert_eq!(seen.take(), ["web/shop"]);
}

/// Two replicas of a controller on one server, each with its own election.
fn replica(world: &World, name: &str) -> Election {
    ElectionBuilder::new(ObjectKey::new("web", "copy"))
        .identity(name)
        .seed(7)
        .start_on(&world.server, &world.runtime)
        .unwrap()
}

#[test]
fn only_the_leader_works_and_the_next_one_knows_what_to_do() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let (seen, elections) = (
        Seen::default(),
        ["one", "two"].map(|name| replica(&world, name)),
    );
    let running = elections.each_ref().map(|election| {
        let (noted, name) = (seen.clone(), election.identity().to_owned());
        let controller = Controller::of::<ConfigMap>(&world.server).led_by(election);
        run(&world, controller, move |map: Context<ConfigMap>| {
            noted.note(format!("{name} {}", map.key()));
            assert!(map.fencing_token().is_some());
            async { Ok(Next::Done) }
        })
    });
    world.pass(Duration::from_secs(60));
    assert_eq!(seen.take(), ["one web/shop"]);
    create(&world, "configmaps", "late");
    assert_eq!(seen.take(), ["one web/late"]);
    // The first replica ends in good order; the other has kept all keys.
    running[0].stop.give();
    world.settle();
    assert_eq!(running[0].ended(), Some(Ok(())));
    world.wait(elections[0].stop());
    world.pass(Duration::from_secs(5));
    // The change comes before what was there from the beginning.
    assert_eq!(seen.take(), ["two web/late", "two web/shop"]);
    running[1].stop.give();
    world.settle();
    assert_eq!(running[1].ended(), Some(Ok(())));
}

#[test]
fn a_reconciliation_is_dropped_when_leadership_is_lost_and_comes_again() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let election = replica(&world, "one");
    let seen = Seen::default();
    let (noted, clock) = (seen.clone(), world.clock.clone());
    let controller = Controller::of::<ConfigMap>(&world.server).led_by(&election);
    let running = run(&world, controller, move |_| {
        noted.note("begun");
        let (noted, clock) = (noted.clone(), clock.clone());
        async move {
            world::sleep(&clock, Duration::from_secs(30)).await;
            noted.note("done");
            Ok(Next::Done)
        }
    });
    world.pass(Duration::from_secs(5));
    assert_eq!(seen.take(), ["begun"]);
    // The server cannot be reached: the renew deadline is 10 s.
    world.server.set_faults(FaultPlan::always(Fault::Refuse));
    world.pass(Duration::from_secs(60));
    assert!(!election.is_leader());
    assert!(seen.take().is_empty());
    world.server.set_faults(FaultPlan::none());
    world.pass(Duration::from_secs(60));
    assert_eq!(seen.take(), ["begun", "done"]);
    // Nobody will lead any more, so the controller ends and says why.
    world.wait(election.stop());
    world.settle();
    let ended = running.ended();
    let Some(Err(RunError::Election(stopped))) = &ended else {
        panic!("{ended:?}");
    };
    assert_eq!(stopped.lease, ObjectKey::new("web", "copy"));
}

#[test]
fn a_token_belongs_to_the_term_of_its_reconciliation() {
    let world = World::new();
    create(&world, "configmaps", "shop");
    let election = replica(&world, "one");
    let kept: Arc<Mutex<Vec<Context<ConfigMap>>>> = Arc::default();
    let keeping = Arc::clone(&kept);
    let controller = Controller::of::<ConfigMap>(&world.server).led_by(&election);
    let _running = run(&world, controller, move |map: Context<ConfigMap>| {
        keeping.lock().unwrap().push(map);
        async { Ok(Next::Done) }
    });
    world.pass(Duration::from_secs(30));
    let first = kept.lock().unwrap()[0].clone();
    assert!(first.fencing_token().is_some());
    assert!(first.guard().unwrap().holds());
    // Another one takes the lease for a while.
    let other = json!({"spec": {"holderIdentity": "other", "leaseTransitions": 7}});
    let lease = |server: &mut informer_transport_mock::Server| {
        server.patch("leases.coordination.k8s.io", "web/copy", other)
    };
    world.server.with(lease).unwrap();
    world.pass(Duration::from_secs(120));
    assert!(election.is_leader());
    assert_eq!(first.fencing_token(), None);
}
