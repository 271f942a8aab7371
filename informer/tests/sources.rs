//! Informers with several sources: namespaces and selectors that come and go.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use informer::{
    Backlog, BuildError, Connect, ConnectError, Failure, ListenerConfig, ObjectKey, Phase, Resync,
    SharedInformer, SharedInformerFactory, StartError, Target, Transport,
};
use informer_core::transport::{Command, ExchangeId, Signal};
use informer_transport_mock::MockServer;
use informer_transport_mock::fault::FaultPlan;
use informer_transport_mock::transport::MockTransport;
use serde_json::{Value, json};
use world::logged::{logged, saying};
use world::random::Random;
use world::{Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);
const DENIED: &str = "pods is forbidden";

/// A client whose rights can be taken away, and that knows which of its transports are alive.
#[derive(Clone)]
struct Rights {
    server: MockServer,
    denied: Arc<Mutex<BTreeSet<String>>>,
    /// Targets from which nothing arrives.
    held: Arc<Mutex<BTreeSet<String>>>,
    alive: Arc<AtomicUsize>,
}

struct Guarded {
    inner: MockTransport,
    name: String,
    namespace: String,
    rights: Rights,
    refused: Option<ExchangeId>,
}

impl Rights {
    fn new(world: &World) -> Self {
        Self {
            server: world.server.clone(),
            denied: Arc::default(),
            held: Arc::default(),
            alive: Arc::default(),
        }
    }

    fn deny(&self, namespace: &str) {
        self.denied.lock().unwrap().insert(namespace.to_owned());
    }

    fn allow(&self, namespace: &str) {
        self.denied.lock().unwrap().remove(namespace);
    }

    fn transports(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }
}

impl Connect for Rights {
    type Transport = Guarded;

    fn connect(&self, target: &Target) -> Result<Guarded, ConnectError> {
        self.alive.fetch_add(1, Ordering::Relaxed);
        Ok(Guarded {
            inner: self.server.transport(target, 0),
            name: target.to_string(),
            namespace: match target.plural.as_str() {
                "namespaces" => "namespaces".to_owned(),
                _ => target.namespace.clone().unwrap_or_default(),
            },
            rights: self.clone(),
            refused: None,
        })
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.rights.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Transport for Guarded {
    fn execute(&mut self, command: Command<'_>) {
        let denied = self.rights.denied.lock().unwrap();
        match command {
            Command::Open { exchange, .. } if denied.contains(&self.namespace) => {
                self.refused = Some(exchange);
            }
            command => self.inner.execute(command),
        }
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        if self.rights.held.lock().unwrap().contains(&self.name) {
            return Poll::Pending;
        }
        if let Some(exchange) = self.refused {
            let failure = Failure::Forbidden;
            let message = DENIED;
            return Poll::Ready((exchange, Signal::Failed { failure, message }));
        }
        self.inner.poll_signal(cx)
    }

    fn consume(&mut self, bytes: usize) {
        if self.refused.take().is_none() {
            self.inner.consume(bytes);
        }
    }
}

fn create(world: &World, namespace: &str, name: &str, labels: &Value) {
    let pod = json!({"metadata": {"namespace": namespace, "name": name, "labels": labels}});
    world
        .server
        .with(|server| server.create("pods", pod))
        .unwrap();
}

fn pod(world: &World, namespace: &str, name: &str) {
    create(world, namespace, name, &json!({}));
}

fn patch(world: &World, key: &str, change: Value) {
    world
        .server
        .with(|server| server.patch("pods", key, change))
        .unwrap();
}

fn in_namespace(namespace: &str) -> Target {
    Target::new("", "v1", "pods").in_namespace(namespace)
}

fn labelled(labels: &str) -> Target {
    Target::new("", "v1", "pods").with_labels(labels)
}

/// An informer on three namespaces with a pod each, and what its handler was told of.
fn three(world: &World, rights: &Rights) -> (SharedInformer<Value>, Told) {
    for namespace in ["a", "b", "c", "d"] {
        pod(world, namespace, &format!("in-{namespace}"));
    }
    let informer = pods()
        .namespaces(["a", "b", "c", "b"])
        .build(rights, world.runtime.clone())
        .unwrap();
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    (informer, told)
}

#[test]
fn several_namespaces_share_a_cache_and_the_handlers() {
    let world = World::new();
    let rights = Rights::new(&world);
    let (informer, told) = three(&world, &rights);
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(keys(&informer), ["a/in-a", "b/in-b", "c/in-c"]);
    let mut added = told.take();
    added.sort();
    assert_eq!(
        added,
        [
            "add in-a initial Relist",
            "add in-b initial Relist",
            "add in-c initial Relist"
        ]
    );
    pod(&world, "c", "later");
    pod(&world, "d", "elsewhere");
    world.settle();
    assert_eq!(told.take(), ["add later Watch"]);

    let status = informer.status();
    assert_eq!(status.name, "pods.v1 in a and 2 more");
    assert_eq!(status.version, None, "each source has its own");
    assert!(status.synced && status.following && informer.is_fresh(2 * MINUTE));
    let names: Vec<_> = status.sources.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["pods.v1 in a", "pods.v1 in b", "pods.v1 in c"]);
    assert!(status.sources.iter().all(|it| it.synced && it.following));
    assert_eq!(status.counts.full_states, 3);
    assert_eq!(status.requests.watches, 3);
    let said = status.explain();
    assert_eq!(said[0], "3 of 3 sources follow the server.");
    assert!(
        said[1].starts_with("The cache follows the server: 4 objects;"),
        "{said:?}"
    );
    assert_eq!(rights.transports(), 3);
}

#[test]
fn a_single_namespace_is_a_single_source() {
    let world = World::new();
    pod(&world, "a", "in-a");
    let informer = pods()
        .namespaces(["a"])
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let status = informer.status();
    assert_eq!(status.name, "pods.v1 in a");
    assert!(status.version.is_some());
    assert!(status.explain()[0].starts_with("It has been watching for"));
}

#[test]
fn an_object_of_several_selectors_is_one_object() {
    let world = World::new();
    create(
        &world,
        "web",
        "both",
        &json!({"app": "shop", "tier": "front"}),
    );
    create(&world, "web", "one", &json!({"app": "shop"}));
    create(&world, "web", "none", &json!({}));
    let informer = pods()
        .labels("app=shop")
        .source(labelled("tier = front"))
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    let mut added = told.take();
    added.sort();
    assert_eq!(added, ["add both initial Relist", "add one initial Relist"]);
    let key = ObjectKey::new("web", "both");
    let of = |key: &ObjectKey| informer.lister().sources_of(key).len();
    assert_eq!(of(&key), 2);
    assert_eq!(of(&ObjectKey::new("web", "one")), 1);
    assert_eq!(of(&ObjectKey::new("web", "none")), 0);

    // It leaves one selection, and then the other.
    patch(
        &world,
        "web/both",
        json!({"metadata": {"labels": {"app": null}}}),
    );
    world.settle();
    assert_eq!(told.take(), ["update both Watch"]);
    assert_eq!(of(&key), 1);
    patch(
        &world,
        "web/both",
        json!({"metadata": {"labels": {"tier": null}}}),
    );
    world.settle();
    assert_eq!(told.take(), ["delete both Observed Watch"]);
    let verified = world.wait(informer.verify(&world.connect(), SOON)).unwrap();
    assert!(verified.is_consistent(), "{verified}");
}

#[test]
fn sources_come_and_go_and_leave_nothing_behind() {
    let world = World::new();
    let rights = Rights::new(&world);
    let (informer, told) = three(&world, &rights);
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    told.take();
    let (tasks, before) = (world.runtime.tasks(), informer.status());

    let id = informer.add_source(&rights, in_namespace("d")).unwrap();
    assert!(!informer.is_synced(), "until the new source is");
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(told.take(), ["add in-d initial Relist"]);
    assert_eq!((world.runtime.tasks(), rights.transports()), (tasks + 1, 4));
    pod(&world, "d", "later");
    world.settle();
    assert_eq!(told.take(), ["add later Watch"]);
    let with = informer.status();

    assert!(informer.remove_source(id));
    assert!(!informer.remove_source(id), "it is gone already");
    world.settle();
    let mut deleted = told.take();
    deleted.sort();
    assert_eq!(
        deleted,
        [
            "delete in-d Inferred SourceRemoved",
            "delete later Inferred SourceRemoved"
        ]
    );
    assert_eq!((world.runtime.tasks(), rights.transports()), (tasks, 3));
    assert_eq!(informer.sources().len(), 3);
    assert_eq!(keys(&informer), ["a/in-a", "b/in-b", "c/in-c"]);
    pod(&world, "d", "too-late");
    world.pass(MINUTE);
    assert_eq!(told.take(), Vec::<String>::new());
    // Counters do not go back.
    let after = informer.status();
    assert!(after.counts.objects >= with.counts.objects);
    assert!(with.counts.objects > before.counts.objects);
    assert!(after.requests.watches >= with.requests.watches);
    assert!(after.counts.full_states >= with.counts.full_states);

    informer.stop();
    world.wait(informer.join());
    assert_eq!(world.runtime.tasks(), 0);
    assert_eq!(rights.transports(), 0);
}

#[test]
fn the_last_source_can_be_removed_and_another_one_added() {
    let world = World::new();
    pod(&world, "a", "in-a");
    pod(&world, "b", "in-b");
    let rights = Rights::new(&world);
    let informer = pods()
        .namespaces(["a"])
        .resync(MINUTE)
        .build(&rights, world.runtime.clone())
        .unwrap();
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    let first = informer.sources()[0].id;
    informer.remove_source(first);
    world.settle();
    assert_eq!(
        told.take(),
        [
            "add in-a initial Relist",
            "delete in-a Inferred SourceRemoved"
        ]
    );
    assert_eq!(rights.transports(), 0);
    assert!(informer.is_synced() && !informer.is_stopped());
    let said = informer.status().explain();
    assert_eq!(said[0], "It has no source, so it follows nothing.");

    informer.add_source(&rights, in_namespace("b")).unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(told.take(), ["add in-b initial Relist"]);
    // The driver of the new source is responsible for resyncs now.
    world.pass(2 * MINUTE);
    let told = told.take();
    assert!(
        told.contains(&"update in-b same Resync".to_owned()),
        "{told:?}"
    );
}

#[test]
fn a_forbidden_namespace_does_not_stop_the_others() {
    let world = World::new();
    let rights = Rights::new(&world);
    rights.deny("b");
    let (informer, told) = three(&world, &rights);
    let error = world.wait(informer.synced(SOON)).unwrap_err().to_string();
    assert!(
        error.starts_with("pods.v1 in a and 2 more is not synced after 30s: pods.v1 in b: ")
            && error.contains(DENIED),
        "{error}"
    );
    assert_eq!(keys(&informer), ["a/in-a", "c/in-c"]);
    pod(&world, "c", "later");
    world.settle();
    assert!(told.take().contains(&"add later Watch".to_owned()));

    let status = informer.status();
    assert!(!status.synced && !status.following && !informer.is_fresh(2 * MINUTE));
    let states: Vec<_> = status
        .sources
        .iter()
        .map(|it| (it.synced, it.following))
        .collect();
    assert_eq!(states, [(true, true), (false, false), (true, true)]);
    assert!(matches!(
        status.phase,
        Phase::Waiting {
            cause: Failure::Forbidden,
            ..
        }
    ));
    let said = status.explain();
    assert_eq!(said[0], "2 of 3 sources follow the server.");
    assert!(
        said[1].starts_with("pods.v1 in b: It waits") && said[1].contains(DENIED),
        "{said:?}"
    );
    let data = serde_json::to_value(&status).unwrap();
    assert_eq!(data["sources"][1]["namespace"], "b");
    assert_eq!(data["sources"][1]["last_failure"]["failure"], "forbidden");
    assert_eq!(data["sources"][0]["last_failure"], Value::Null);

    rights.allow("b");
    world.wait(informer.synced(10 * MINUTE)).unwrap();
    world.settle();
    assert_eq!(keys(&informer), ["a/in-a", "b/in-b", "c/in-c", "c/later"]);
    assert!(informer.is_fresh(2 * MINUTE));
}

/// While a handler holds up everything, a removed source is still there, and its objects are not lost twice.
#[test]
fn a_source_can_be_removed_while_a_handler_stalls() {
    let world = World::new();
    for at in 0..300 {
        pod(&world, "a", &format!("a-{at}"));
        pod(&world, "b", &format!("b-{at}"));
    }
    let rights = Rights::new(&world);
    let informer = pods()
        .namespaces(["a", "b"])
        .build(&rights, world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let config = ListenerConfig {
        resync: Resync::Never,
        backlog: Backlog::Stall { at: 10 },
    };
    let registration = informer.on_with(told.handler(), config).unwrap();
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    assert_eq!(told.take().len(), 600);

    registration.pause();
    let b = informer.sources()[1].id;
    informer.remove_source(b);
    pod(&world, "a", "later");
    world.pass(MINUTE);
    let status = informer.status();
    assert!(status.stalled && status.sources[1].leaving);
    let said = status.explain().join(" ");
    assert!(said.contains("pods.v1 in b: It was removed"), "{said}");
    registration.resume();
    world.pass(MINUTE);
    let all = told.take();
    assert_eq!(
        all.iter()
            .filter(|it| it.ends_with("SourceRemoved"))
            .count(),
        300
    );
    assert!(all.contains(&"add later Watch".to_owned()));
    assert_eq!(informer.lister().len(), 301);
    assert_eq!((informer.sources().len(), rights.transports()), (1, 1));
    assert_eq!(world.runtime.tasks(), 2);
}

#[test]
fn all_sources_are_suspended_and_resumed() {
    let world = World::new();
    let rights = Rights::new(&world);
    let (informer, told) = three(&world, &rights);
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    told.take();
    informer.suspend();
    let added = informer.add_source(&rights, in_namespace("d")).unwrap();
    let removed = informer.sources()[0].id;
    informer.remove_source(removed);
    pod(&world, "b", "later");
    world.pass(MINUTE);
    assert_eq!(told.take(), Vec::<String>::new());
    assert!(
        informer
            .sources()
            .iter()
            .filter(|it| !it.leaving)
            .all(|it| it.phase == Phase::Suspended)
    );
    informer.resume();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    let mut all = told.take();
    all.sort();
    assert_eq!(
        all,
        [
            "add in-d initial Relist",
            "add later Relist",
            "delete in-a Inferred SourceRemoved"
        ]
    );
    assert_eq!(informer.sources()[2].id, added);
    assert_eq!(rights.transports(), 3);
}

#[test]
fn sources_change_before_the_start_and_not_after_the_end() {
    let world = World::new();
    pod(&world, "a", "in-a");
    pod(&world, "b", "in-b");
    let rights = Rights::new(&world);
    let informer = pods()
        .namespaces(["a"])
        .build(&rights, world.runtime.clone())
        .unwrap();
    let first = informer.sources()[0].id;
    informer.add_source(&rights, in_namespace("b")).unwrap();
    assert!(informer.remove_source(first));
    assert_eq!((informer.sources().len(), rights.transports()), (1, 1));
    assert!(!informer.is_stopped(), "its driver was not needed");
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    assert_eq!(keys(&informer), ["b/in-b"]);

    let of = |target| informer.add_source(&rights, target).unwrap_err();
    let kind = of(Target::new("", "v1", "secrets"));
    assert!(matches!(&kind, BuildError::OtherKind { .. }), "{kind:?}");
    assert!(
        kind.to_string()
            .starts_with("an informer on pods.v1 cannot follow secrets.v1:")
    );
    assert!(matches!(
        of(labelled("a==b==c")),
        BuildError::Selector { .. }
    ));
    assert!(matches!(of(in_namespace("No")), BuildError::Target(_)));
    let mixed = pods().source(Target::new("", "v1", "secrets"));
    assert!(matches!(mixed.targets(), Err(BuildError::OtherKind { .. })));
    informer.stop();
    let ended = of(in_namespace("a"));
    assert!(
        matches!(ended, BuildError::Start(StartError::Ended { .. })),
        "{ended:?}"
    );
    world.wait(informer.join());
    assert_eq!(rights.transports(), 0);
}

#[test]
fn a_factory_shares_by_the_set_of_targets() {
    let world = World::new();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let of = |namespaces: &[&str]| {
        let builder = pods().namespaces(namespaces.iter().copied());
        factory.informer(&builder).unwrap()
    };
    let both = of(&["a", "b"]);
    assert!(both.is_same(&of(&["b", "a", "b"])));
    assert!(!both.is_same(&of(&["a"])));
    assert!(!both.is_same(&of(&[])));
    let by_source = pods().namespace("a").source(in_namespace("b"));
    assert!(both.is_same(&factory.informer(&by_source).unwrap()));
    let one = factory.informer(&pods().namespace("a")).unwrap();
    assert!(one.is_same(&of(&["a"])));
    let other = Target::new("", "v1", "secrets");
    let other = informer::InformerBuilder::dynamic_at(other).without_sources();
    assert!(!of(&[]).is_same(&factory.informer(&other).unwrap()));
}

fn namespace(world: &World, name: &str, team: &str) {
    let object = json!({"metadata": {"name": name, "labels": {"team": team}}});
    world
        .server
        .with(|server| server.create("namespaces", object))
        .unwrap();
}

#[test]
fn namespaces_by_label_are_kept_in_step() {
    let world = World::new();
    for (name, team) in [("a", "shop"), ("b", "tools"), ("c", "shop")] {
        namespace(&world, name, team);
        pod(&world, name, &format!("in-{name}"));
    }
    let rights = Rights::new(&world);
    let informer = pods()
        .without_sources()
        .build(&rights, world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let registration = informer.on(told.handler()).unwrap();
    informer
        .follow_namespaces(rights.clone(), "team=shop")
        .unwrap();
    informer.start().unwrap();
    assert!(!informer.is_synced() && !registration.is_synced());
    world.wait(registration.synced(SOON)).unwrap();
    assert!(informer.is_synced());
    let mut added = told.take();
    added.sort();
    assert_eq!(
        added,
        ["add in-a initial Relist", "add in-c initial Relist"]
    );

    // One begins to match, one ceases to, one is changed, one is deleted.
    let relabel = |name: &str, team: &str| {
        let change = json!({"metadata": {"labels": {"team": team}}});
        world
            .server
            .with(|server| server.patch("namespaces", name, change))
            .unwrap();
    };
    relabel("b", "shop");
    world.settle();
    assert_eq!(told.take(), ["add in-b initial Relist"]);
    relabel("a", "tools");
    world.settle();
    assert_eq!(told.take(), ["delete in-a Inferred SourceRemoved"]);
    assert_eq!(informer.sources().len(), 2);
    assert!(informer.is_fresh(2 * MINUTE));
    assert_eq!(rights.transports(), 3, "two sources, and the namespaces");

    informer.stop();
    world.wait(informer.join());
    world.settle();
    assert_eq!((world.runtime.tasks(), rights.transports()), (0, 0));
}

#[test]
fn a_missing_right_to_list_namespaces_is_said() {
    let world = World::new();
    let rights = Rights::new(&world);
    rights.deny("namespaces");
    let informer = pods()
        .without_sources()
        .build(&rights, world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    informer
        .follow_namespaces(rights.clone(), "team=shop")
        .unwrap();
    let error = world.wait(informer.synced(SOON)).unwrap_err().to_string();
    assert!(
        error.contains("namespaces.v1 with labels team=shop: ") && error.contains(DENIED),
        "{error}"
    );
    assert!(!informer.is_fresh(2 * MINUTE));
    let status = informer.status();
    assert!(!status.namespaces[0].synced);
    let said = status.explain().join(" ");
    assert!(
        said.contains("namespaces.v1 with labels team=shop: It waits"),
        "{said}"
    );
    // Nobody needs the informer any more.
    drop(informer);
    world.settle();
    assert_eq!((world.runtime.tasks(), rights.transports()), (0, 0));
}

/// Sources come and go under faults. In the end, the cache is the union of what they show.
#[test]
fn churn_ends_in_the_union() {
    for seed in 0..20 {
        churn(seed);
    }
}

fn churn(seed: u64) {
    let world = World::new();
    world.server.set_faults(FaultPlan::drawn(seed, 3));
    let mut random = Random::new(seed);
    let rights = Rights::new(&world);
    let targets = [
        in_namespace("a"),
        in_namespace("b"),
        labelled("app=shop"),
        labelled("tier=front"),
        in_namespace("c").with_labels("app=shop"),
    ];
    let informer = pods()
        .without_sources()
        .build(&rights, world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    let (mut sources, mut created) = (Vec::new(), Vec::new());
    let labels = [
        json!({}),
        json!({"app": "shop"}),
        json!({"app": "shop", "tier": "front"}),
    ];
    for step in 0..120_usize {
        match random.below(6) {
            0 => {
                let target = targets[random.below(targets.len())].clone();
                let id = informer.add_source(&rights, target.clone()).unwrap();
                sources.push((id, target));
            }
            1 if !sources.is_empty() => {
                let at = random.below(sources.len());
                let (id, _) = sources.swap_remove(at);
                assert!(informer.remove_source(id));
            }
            2 => world.pass(Duration::from_secs(1)),
            _ => {
                let namespace = ["a", "b", "c"][random.below(3)];
                let labels = &labels[random.below(labels.len())];
                create(&world, namespace, &format!("pod-{step}"), labels);
                created.push(format!("{namespace}/pod-{step}"));
            }
        }
        world.settle();
    }
    world.server.set_faults(FaultPlan::none());
    world.pass(10 * MINUTE);
    // What arrived damaged is sent again.
    for key in &created {
        patch(
            &world,
            key,
            json!({"metadata": {"annotations": {"seen": "yes"}}}),
        );
    }
    world.wait(informer.synced(10 * MINUTE)).unwrap();
    let client = world.connect();
    let mut expected = BTreeSet::new();
    for (_, target) in &sources {
        let builder = informer::InformerBuilder::dynamic_at(target.clone());
        let alone = builder.build(&client, world.runtime.clone()).unwrap();
        alone.start().unwrap();
        world.wait(alone.synced(SOON)).unwrap();
        expected.extend(keys(&alone));
    }
    let expected: Vec<_> = expected.into_iter().collect();
    assert_eq!(keys(&informer), expected, "seed {seed}");
    assert_eq!(rights.transports(), sources.len(), "seed {seed}");
    if !sources.is_empty() {
        let verified = world.wait(informer.verify(&client, SOON)).unwrap();
        assert!(verified.is_consistent(), "seed {seed}: {verified}");
    }
}

/// Each source has series of its own where there are several, and none where there is only one.
#[test]
fn metrics_and_moments_name_the_source() {
    let world = World::new();
    let rights = Rights::new(&world);
    rights.deny("b");
    let (informer, _) = three(&world, &rights);
    world.pass(SOON);
    let metrics = informer::Metrics::new();
    metrics.add(&informer);
    let alone = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    alone.start().unwrap();
    world.wait(alone.synced(SOON)).unwrap();
    metrics.add(&alone);
    let text = metrics.text();
    let following = |source: &str, value: u8| {
        format!(
            "informer_source_following{{informer=\"pods.v1 in a and 2 more\",source=\"{source}\"}} {value}\n"
        )
    };
    assert!(text.contains(&following("pods.v1 in a", 1)), "{text}");
    assert!(text.contains(&following("pods.v1 in b", 0)), "{text}");
    assert_eq!(text.matches("informer_source_following{").count(), 3);

    let timeline = informer.timeline();
    let failed = timeline
        .iter()
        .filter(|it| matches!(it.kind, informer::MomentKind::Failure(_)));
    let failed: BTreeSet<_> = failed.map(|it| it.source.to_string()).collect();
    assert_eq!(failed.into_iter().collect::<Vec<_>>(), ["pods.v1 in b"]);
}

/// One watch may be behind another. What it will bring is no difference.
#[test]
fn sources_are_verified_at_versions_of_their_own() {
    let world = World::new();
    let rights = Rights::new(&world);
    create(&world, "a", "both", &json!({"app": "shop"}));
    create(&world, "b", "selected", &json!({"app": "shop"}));
    let informer = pods()
        .namespaces(["a"])
        .source(labelled("app=shop"))
        .build(&rights, world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let late = labelled("app=shop").to_string();
    rights.held.lock().unwrap().insert(late);
    patch(&world, "a/both", json!({"spec": {"changed": true}}));
    pod(&world, "a", "new");
    world.settle();
    let versions: BTreeSet<_> = informer
        .sources()
        .into_iter()
        .map(|it| it.version)
        .collect();
    assert_eq!(versions.len(), 2);
    let verified = world.wait(informer.verify(&world.connect(), SOON)).unwrap();
    assert!(verified.is_consistent(), "{verified}");
    assert_eq!(verified.objects, 4, "one of them in both sources");
    assert!(verified.version.contains(", "), "{verified}");
}

#[test]
fn a_source_without_objects_and_handlers_ends_at_once() {
    let world = World::new();
    let rights = Rights::new(&world);
    let informer = pods()
        .namespaces(["a", "b"])
        .build(&rights, world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    assert_eq!((world.runtime.tasks(), rights.transports()), (2, 2));
    // The server says nothing more.
    let names = informer.sources().into_iter().map(|it| it.name);
    rights.held.lock().unwrap().extend(names);
    for left in [1, 0] {
        informer.remove_source(informer.sources()[0].id);
        world.settle();
        assert_eq!((world.runtime.tasks(), rights.transports()), (left, left));
    }
}

/// The driver of the first source does what concerns no single source. When that is gone, the next one does it.
#[test]
fn resyncs_go_on_when_the_first_source_is_gone() {
    let world = World::new();
    let rights = Rights::new(&world);
    pod(&world, "b", "in-b");
    let informer = pods()
        .namespaces(["a", "b"])
        .resync(Duration::from_secs(10))
        .build(&rights, world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let registration = informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    informer.remove_source(informer.sources()[0].id);
    world.settle();
    told.take();
    world.pass(Duration::from_secs(25));
    assert_eq!(told.take(), vec!["update in-b same Resync"; 2]);
}

/// Log events name the source where there are several.
#[test]
fn logs_name_the_source() {
    let lines = logged(|| {
        let world = World::new();
        let rights = Rights::new(&world);
        rights.deny("b");
        let (informer, _) = three(&world, &rights);
        world.pass(SOON);
        informer.stop();
        world.settle();
    });
    let failed = saying(&lines, "list or watch failed");
    assert!(!failed.is_empty());
    for line in failed {
        assert_eq!(line.get("informer"), Some("pods.v1 in a and 2 more"));
        assert_eq!(line.get("source"), Some("pods.v1 in b"));
    }
    let lines = logged(|| {
        let world = World::new();
        let informer = pods()
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        informer.start().unwrap();
        world.settle();
        informer.stop();
    });
    let phases = saying(&lines, "phase");
    assert!(!phases.is_empty());
    assert!(phases.iter().all(|line| line.get("source").is_none()));
}
