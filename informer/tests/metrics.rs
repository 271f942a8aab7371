//! Metrics of a world with failures, read by a strict parser.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::time::Duration;

use informer::controller::{Controller, Next, Permanent};
use informer::election::{Election, ElectionBuilder};
use informer::{
    Failure, FirstState, InformerBuilder, InformerConfig, Metrics, ObjectKey, SharedInformer,
    SharedInformerFactory,
};
use informer_transport_mock::fault::{Fault, FaultPlan};
use prometheus_client::registry::Registry;
use serde_json::Value;
use world::openmetrics::Exposition;
use world::{World, pods};

const SECOND: Duration = Duration::from_secs(1);

fn read(metrics: &Metrics) -> Exposition {
    Exposition::read(&metrics.text())
}

fn running(world: &World, builder: InformerBuilder<Value>) -> SharedInformer<Value> {
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(60 * SECOND)).unwrap();
    informer
}

fn elected(world: &World) -> Election {
    let election = ElectionBuilder::new(ObjectKey::new("web", "shop"))
        .identity("a")
        .start_on(&world.server, &world.runtime)
        .unwrap();
    world.settle();
    election
}

#[test]
fn an_informer_with_failures() {
    let world = World::new();
    world.create("a");
    world.create("b");
    let metrics = Metrics::new();
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    metrics.add(&informer);
    let of = [("informer", "pods.v1")];
    let idle = [("informer", "pods.v1"), ("phase", "idle")];
    assert_eq!(read(&metrics).get("informer_phase", &idle), Some(1.0));
    assert_eq!(
        read(&metrics).get("informer_last_byte_age_seconds", &of),
        None
    );

    let _registration = informer.on(|_| ()).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(60 * SECOND)).unwrap();
    world.pass(3 * SECOND);
    // The server restarts with a change that the informer has not seen: a relist. The second time, it is
    // busy, too.
    for busy in [false, true] {
        world.touch("a");
        world.server.with(|server| server.restart());
        if busy {
            world.server.inject(Fault::Throttle { retry_after: 1 });
        }
        world.pass(60 * SECOND);
    }
    world.touch("a");
    world.pass(2 * SECOND);

    let status = informer.status();
    let all = read(&metrics);
    let whole = [
        ("informer_objects", status.objects as f64),
        ("informer_objects_size_bytes", status.bytes as f64),
        (
            "informer_phase_duration_seconds",
            status.phase_for.as_secs_f64(),
        ),
        ("informer_synced", 1.0),
        ("informer_following", 1.0),
        ("informer_fresh", 1.0),
        ("informer_stalled", 0.0),
        (
            "informer_last_byte_age_seconds",
            status.last_byte.unwrap().as_secs_f64(),
        ),
        ("informer_last_event_age_seconds", 2.0),
        ("informer_queued_items", 0.0),
        (
            "informer_full_states_total",
            status.counts.full_states as f64,
        ),
        ("informer_bookmarks_total", status.counts.bookmarks as f64),
        ("informer_received_bytes_total", status.counts.bytes as f64),
        (
            "informer_received_objects_total",
            status.counts.objects as f64,
        ),
        (
            "informer_suppressed_updates_total",
            status.counts.suppressed as f64,
        ),
        ("informer_rejected_objects_total", 0.0),
        ("informer_snapshots_total", status.snapshots as f64),
    ];
    for (name, value) in whole {
        assert_eq!(all.get(name, &of), Some(value), "{name}");
    }
    assert!(status.snapshots >= 3, "{status:?}");
    assert_eq!(status.counts.full_states, 3);
    let age = status.last_bookmark.map(|age| age.as_secs_f64());
    assert_eq!(all.get("informer_last_bookmark_age_seconds", &of), age);
    for phase in [
        "idle",
        "listing",
        "streaming",
        "watching",
        "waiting",
        "stopped",
    ] {
        let labels = [("informer", "pods.v1"), ("phase", phase)];
        let is_it = f64::from(u8::from(phase == "watching"));
        assert_eq!(all.get("informer_phase", &labels), Some(is_it), "{phase}");
    }

    // Failures and relists are those of the status, and no others.
    let history = status.requests;
    let failures: u64 = history.failures.iter().map(|it| it.1).sum();
    assert_eq!(failures, status.counts.failures);
    let relists: u64 = history.relists.iter().map(|it| it.1).sum();
    assert_eq!(relists, status.counts.full_states - 1);
    assert!(history.relists.of(Failure::Expired) == 2, "{history:?}");
    assert!(
        history
            .failures
            .of(Failure::Throttled { retry_after: None })
            >= 1
    );
    for (name, label, tally) in [
        ("informer_failures_total", "class", history.failures),
        ("informer_relists_total", "cause", history.relists),
    ] {
        for (failure, count) in tally.iter() {
            let labels = [("informer", "pods.v1"), (label, failure.name())];
            assert_eq!(all.get(name, &labels), Some(count as f64), "{failure:?}");
        }
        let family = &all.families[name.strip_suffix("_total").unwrap()];
        assert_eq!(family.samples.len(), tally.iter().count());
    }

    let name = [("name", "pods.v1")];
    let get = |metric| all.get(metric, &name);
    assert_eq!(get("reflector_lists_total"), Some(history.lists as f64));
    assert_eq!(get("reflector_watches_total"), Some(history.watches as f64));
    assert!(history.watches >= 3, "{history:?}");
    assert_eq!(get("reflector_short_watches_total"), Some(0.0));
    let states = Some(status.counts.full_states as f64);
    assert_eq!(get("reflector_list_duration_seconds_count"), states);
    assert_eq!(get("reflector_items_per_list_count"), states);
    assert_eq!(
        get("reflector_items_per_list_sum"),
        states.map(|it| it * 2.0)
    );
    let version = status.version.unwrap().parse().ok();
    assert_eq!(get("reflector_last_resource_version"), version);
    assert!(all.get("informer_decode_duration_seconds_count", &of) >= Some(3.0));
    assert_eq!(all.families["informer_received_bytes"].unit, "bytes");
}

#[test]
fn a_list_that_waits_counts_its_time_and_its_pages_once() {
    let world = World::new();
    for number in 0..7 {
        world.create(&format!("p{number}"));
    }
    // The second list asks for the newest version, which the server reads in pages.
    let faults = [Some(Fault::Expire), Some(Fault::Delay(3 * SECOND))];
    world.server.set_faults(FaultPlan::script(faults));
    let metrics = Metrics::new();
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    let informer = pods()
        .preset(config)
        .page_size(3)
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    metrics.add(&informer);
    informer.start().unwrap();
    world.wait(informer.synced(60 * SECOND)).unwrap();
    let all = read(&metrics);
    let get = |metric| all.get(metric, &[("name", "pods.v1")]).unwrap();
    assert_eq!(get("reflector_lists_total"), 2.0);
    assert_eq!(get("reflector_watches_total"), 1.0);
    assert_eq!(get("reflector_items_per_list_sum"), 7.0);
    assert_eq!(get("reflector_list_duration_seconds_sum"), 3.0);
    let state = informer.status().requests.full_state.unwrap();
    assert_eq!((state.items, state.took), (7, 3 * SECOND));
}

/// Decoding includes the transform; delivery is the time until a handler takes its notifications.
#[test]
fn decode_and_delivery_are_timed() {
    let world = World::new();
    world.create("a");
    let clock = world.clock.clone();
    let metrics = Metrics::new();
    let informer = pods()
        .transform(move |_| {
            clock.advance(Duration::from_millis(20));
            Ok(())
        })
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    metrics.add(&informer);
    let mut stream = informer.stream().unwrap();
    informer.start().unwrap();
    world.pass(SECOND);
    let of = [("informer", "pods.v1")];
    let sum = |metrics: &Metrics, of_what: &str| {
        let name = format!("informer_{of_what}_duration_seconds_sum");
        read(metrics).get(&name, &of).unwrap()
    };
    assert_eq!(sum(&metrics, "decode"), 0.02);
    let count = |metrics: &Metrics| {
        let name = "informer_delivery_duration_seconds_count";
        read(metrics).get(name, &of).unwrap()
    };
    assert_eq!((count(&metrics), sum(&metrics, "delivery")), (0.0, 0.0));
    world.pass(4 * SECOND);
    // Taken five seconds after the sync.
    assert!(world.wait(stream.next()).is_some());
    assert_eq!(count(&metrics), 1.0);
    let waited = sum(&metrics, "delivery");
    // The time to decode counts.
    assert!((5.01..=5.021).contains(&waited), "{waited}");
    // Nothing is left, so the time begins again with the next notification.
    world.pass(60 * SECOND);
    world.touch("a");
    world.pass(SECOND);
    assert!(world.wait(stream.next()).is_some());
    let waited = sum(&metrics, "delivery") - waited;
    assert_eq!(count(&metrics), 2.0);
    assert!((0.92..=1.021).contains(&waited), "{waited}");
}

#[test]
fn handlers_that_lag_and_panic() {
    let world = World::new();
    world.create("a");
    let metrics = Metrics::new();
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    metrics.add(&informer);
    let clock = world.clock.clone();
    let slow = informer
        .on_async(move |_| {
            let clock = clock.clone();
            async move { world::sleep(&clock, 100 * SECOND).await }
        })
        .unwrap();
    let panics = informer.on(|_| panic!("on purpose")).unwrap();
    informer.start().unwrap();
    world.pass(12 * SECOND);
    let all = read(&metrics);
    let label = |registration: &informer::Registration<Value>| {
        registration.status().unwrap().name.to_owned()
    };
    let get = |of: &str, name: &str| {
        let labels = [("informer", "pods.v1"), ("handler", of)];
        all.get(&format!("informer_handler_{name}"), &labels)
    };
    let of = label(&slow);
    assert_eq!(get(&of, "pending"), Some(1.0));
    assert_eq!(get(&of, "delivered_total"), Some(0.0));
    assert_eq!(get(&of, "behind_seconds"), Some(12.0));
    assert_eq!(get(&of, "in_call_seconds"), Some(12.0));
    assert_eq!(get(&of, "panics_total"), Some(0.0));
    // Both are closures of this test, so they have the same name.
    let of = format!("{} #2", label(&panics));
    assert_eq!(get(&of, "delivered_total"), Some(1.0));
    assert_eq!(get(&of, "behind_seconds"), Some(0.0));
    assert_eq!(get(&of, "in_call_seconds"), Some(0.0));
    assert_eq!(get(&of, "panics_total"), Some(1.0));
    assert_eq!(get(&of, "coalesced_total"), Some(0.0));
    assert_eq!(all.values_of("handler").len(), 2);
}

#[test]
fn a_controller_with_failing_keys() {
    let world = World::new();
    let metrics = Metrics::new();
    let controller = Controller::new(world.runtime.clone()).named("shop");
    metrics.add(&controller);
    let clock = world.clock.clone();
    let queue = controller.queue();
    for key in ["good", "later", "bad", "hopeless", "panics", "stuck"] {
        queue.add(key);
    }
    queue.add("good");
    world.pass(2 * SECOND);
    let reconcile = move |key: &'static str| {
        let clock = clock.clone();
        async move {
            match key {
                "later" => return Ok(Next::After(Duration::from_secs(1_000))),
                "bad" => return Err("not now".into()),
                "hopeless" => return Err(Permanent::new("never").into()),
                "panics" => panic!("on purpose"),
                "stuck" => world::sleep(&clock, 1_000 * SECOND).await,
                _ => world::sleep(&clock, SECOND).await,
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Next::Done)
        }
    };
    controller.work(3, reconcile).unwrap();
    world.pass(10 * SECOND);
    let status = controller.status();
    let all = read(&metrics);
    let queue = |name: &str| all.get(&format!("workqueue_{name}"), &[("name", "shop")]);
    assert_eq!(queue("depth"), Some(status.queued as f64));
    assert_eq!(queue("adds_total"), Some(status.adds as f64));
    assert_eq!(queue("retries_total"), Some(status.retries as f64));
    assert_eq!(queue("unfinished_work_seconds"), Some(10.0));
    assert_eq!(queue("longest_running_processor_seconds"), Some(10.0));
    // Six were added; the others are retries that were due.
    let done = (status.succeeded + status.failed) as f64;
    assert_eq!(queue("work_duration_seconds_count"), Some(done));
    assert_eq!(queue("work_duration_seconds_sum"), Some(1.0));
    assert_eq!(queue("queue_duration_seconds_count"), Some(done + 1.0));
    assert_eq!(
        queue("queue_duration_seconds_sum"),
        Some(12.0),
        "six times two seconds"
    );
    assert_eq!(status.adds as f64, done + 1.0);
    assert_eq!(
        (status.succeeded, status.requeued, status.given_up),
        (2, 1, 1)
    );
    assert!(status.failed > 4 && status.panics > 1, "{status:?}");
    assert_eq!(status.retries, status.failed - 1 + 1);

    let controller_label = ("controller", "shop");
    let get = |name: &str| all.get(&format!("controller_runtime_{name}"), &[controller_label]);
    let result = |result| {
        let labels = [controller_label, ("result", result)];
        all.get("controller_runtime_reconcile_total", &labels)
    };
    assert_eq!(result("success"), Some(1.0));
    assert_eq!(result("requeue_after"), Some(1.0));
    assert_eq!(result("error"), Some(status.failed as f64));
    assert_eq!(get("reconcile_errors_total"), Some(status.failed as f64));
    assert_eq!(get("terminal_reconcile_errors_total"), Some(1.0));
    assert_eq!(get("reconcile_panics_total"), Some(status.panics as f64));
    assert_eq!(get("reconcile_time_seconds_count"), Some(done));
    assert_eq!(get("reconcile_time_seconds_sum"), Some(1.0));
    assert_eq!(get("active_workers"), Some(1.0));
    assert_eq!(get("max_concurrent_reconciles"), Some(3.0));
    // A key is never a label.
    assert!(!metrics.text().contains("hopeless"));
    drop(controller);
    world.pass(1_000 * SECOND);
}

#[test]
fn an_election() {
    let world = World::new();
    let metrics = Metrics::new();
    let election = elected(&world);
    metrics.add(&election);
    let leads = || read(&metrics).get("leader_election_master_status", &[("name", "web/shop")]);
    assert_eq!(leads(), Some(1.0));
    drop(election.stop());
    assert_eq!(leads(), Some(0.0));
    drop(election);
    world.pass(SECOND);
    assert_eq!(leads(), None);
}

#[test]
fn what_is_dropped_has_no_series_and_nothing_is_there_twice() {
    let world = World::new();
    let metrics = Metrics::new();
    let (first, second) = (running(&world, pods()), running(&world, pods()));
    for _ in 0..3 {
        metrics.add(&first);
        metrics.add(&second.clone());
    }
    let all = read(&metrics);
    assert_eq!(
        all.values_of("informer").into_iter().collect::<Vec<_>>(),
        ["pods.v1", "pods.v1 #2"]
    );
    drop(first);
    world.settle();
    assert_eq!(read(&metrics).values_of("informer").len(), 1);
    drop(second);
    world.settle();
    assert_eq!(metrics.text(), "# EOF\n");
}

#[test]
fn a_factory_shows_what_it_makes_later() {
    let world = World::new();
    let metrics = Metrics::new();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    metrics.add(&factory);
    assert_eq!(metrics.text(), "# EOF\n");
    let _pods = factory.informer(&pods()).unwrap();
    assert_eq!(read(&metrics).values_of("informer").len(), 1);
}

/// A selector is text of the program, and may contain anything.
#[test]
fn label_values_are_escaped() {
    let world = World::new();
    let metrics = Metrics::new();
    let name = "a \"quoted\"\\ name\nin two lines";
    let controller: Controller<ObjectKey> = Controller::new(world.runtime).named(name);
    metrics.add(&controller);
    assert_eq!(
        read(&metrics).get("workqueue_depth", &[("name", name)]),
        Some(0.0)
    );
}

/// All values of labels come from the program or from enums, however many objects and failures there are.
#[test]
fn the_number_of_series_does_not_depend_on_objects() {
    let world = World::new();
    let metrics = Metrics::new();
    let informer = running(&world, pods());
    metrics.add(&informer);
    let series = || {
        let all = read(&metrics);
        let count = |family: &world::openmetrics::Family| family.samples.len();
        all.families.values().map(count).sum::<usize>()
    };
    world.create("a");
    world.pass(SECOND);
    let before = series();
    for number in 0..200 {
        world.create(&format!("p{number}"));
    }
    world.pass(SECOND);
    assert_eq!(series(), before);
    assert!(!metrics.text().contains("p199"));
}

#[test]
fn they_fit_into_a_registry() {
    let world = World::new();
    let metrics = Metrics::new();
    let informer = running(&world, pods());
    metrics.add(&informer);
    let mut registry = Registry::with_prefix("shop");
    registry.register_collector(Box::new(metrics));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let all = Exposition::read(&text);
    let of = [("informer", "pods.v1")];
    assert_eq!(all.get("shop_informer_synced", &of), Some(1.0));
}

#[cfg(feature = "hyper")]
#[tokio::test]
async fn a_client() {
    use informer::{Client, Config, Target};
    use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
    use informer_transport_mock::{Server, ServerConfig};

    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let mut http = HttpConfig::new();
    http.token = Some("let-me-in".to_owned());
    let running = serve(server, http).await.unwrap();
    let config = Config::new(running.url()).unwrap();
    let config = config
        .with_token("let-me-in".into())
        .with_credentials_over_http();
    let client = Client::new(config).unwrap();
    let metrics = Metrics::new();
    metrics.add(&client);
    metrics.add(&client.clone());
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .start(&client)
        .unwrap();
    pods.synced(60 * SECOND).await.unwrap();

    let of = [("client", running.url())];
    let all = read(&metrics);
    let get = |name: &str| all.get(&format!("informer_client_{name}"), &of);
    let status = client.status();
    assert_eq!(get("connects_total"), Some(1.0));
    assert_eq!(get("failed_connects_total"), Some(0.0));
    assert_eq!(get("streams"), Some(status.http2_streams as f64));
    assert_eq!(get("list_slots"), Some(8.0));
    assert_eq!(get("list_slots_in_use"), Some(0.0));
    assert_eq!(get("list_waits_total"), Some(0.0));
    assert_eq!(get("list_wait_seconds_total"), Some(0.0));
    for (protocol, count) in [
        ("http1", status.http1_connections),
        ("http2", status.http2_connections),
    ] {
        let labels = [of[0], ("protocol", protocol)];
        let connections = all.get("informer_client_connections", &labels);
        assert_eq!(connections, Some(count as f64), "{protocol}");
    }
    assert_eq!(status.http1_connections + status.http2_connections, 1);
    assert!(!metrics.text().contains("let-me-in"));

    // The transport of the informer keeps the client.
    drop(client);
    assert_eq!(read(&metrics).values_of("client").len(), 1);
    pods.stop();
    pods.join().await;
    assert!(read(&metrics).values_of("client").is_empty());
}
