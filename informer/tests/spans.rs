//! Spans of lists, watches and reconciliations. They are created, entered and closed without any lock.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use informer::controller::{Controller, Next, enqueue};
use informer::{FirstState, InformerBuilder, InformerConfig, ObjectKey, Target};
use informer_transport_mock::fault::{Fault, FaultPlan};
use serde_json::json;
use world::spanned::{Recorded, ask, begin, end, recorded};
use world::{World, pods};

const SECOND: Duration = Duration::from_secs(1);

/// In real time, far longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

/// Runs something that may deadlock, on its own thread.
fn ends(what: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        what();
        tell.send(()).unwrap();
    });
    match told.recv_timeout(LONG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("deadlock"),
        _ => thread.join().unwrap(),
    }
}

/// The spans in order: name, cause, exchange, and whether they are still open.
fn told(recorded: &Recorded) -> Vec<String> {
    let tell = |span: &world::spanned::Span| {
        let get = |field| span.get(field).unwrap_or("none");
        let open = if span.is_open() { ", open" } else { "" };
        let streamed = if span.get("streamed") == Some("true") {
            ", streamed"
        } else {
            ""
        };
        let (name, cause, exchange) = (span.name, get("cause"), get("exchange"));
        format!("{name} {exchange}: {cause}{streamed}{open}")
    };
    recorded.spans.iter().map(tell).collect()
}

#[test]
fn a_subscriber_may_ask_from_every_call() {
    ends(|| {
        begin();
        let world = World::new();
        world.create("a");
        let informer = pods()
            .namespace("web")
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        let controller = Controller::new(world.runtime.clone()).named("shop");
        let queue = controller.queue();
        let (asked, of) = (informer.clone(), controller.queue());
        ask(move || {
            assert_eq!(asked.status().name, "pods.v1 in web");
            assert!(of.len() < 9);
        });
        let _registration = informer.on(enqueue::this(queue)).unwrap();
        controller
            .work(1, |_: ObjectKey| async { Err::<Next, _>("not now") })
            .unwrap();
        informer.start().unwrap();
        world.pass(3 * SECOND);
        assert_eq!(
            told(&recorded())[..2],
            ["list 1: first, streamed", "watch 1: state_read, open"]
        );
        // The server restarts with a change that the informer has not seen.
        world.touch("a");
        world.server.with(|server| server.restart());
        world.pass(60 * SECOND);
        informer.stop();
        world.settle();

        let recorded = end();
        let exchanges: Vec<_> = told(&recorded)
            .into_iter()
            .filter(|span| !span.starts_with("reconcile"))
            .collect();
        assert_eq!(
            exchanges,
            [
                "list 1: first, streamed",
                "watch 1: state_read",
                "watch 2: broken",
                "relist 3: expired, streamed",
                "watch 3: state_read",
            ]
        );
        let relist = recorded.named("relist")[0];
        assert_eq!(relist.get("informer"), Some("pods.v1 in web"));
        assert_eq!(relist.get("resource"), Some("pods"));
        assert_eq!(relist.get("namespace"), Some("web"));
        assert!(recorded.spans.iter().all(|span| span.entered > 0));
        assert!(recorded.spans.iter().all(|span| span.parent.is_none()));
        assert!(recorded.asked > 50, "{}", recorded.asked);

        let failed = recorded.events.iter();
        let failed: Vec<_> = failed
            .filter(|(message, _)| message == "list or watch failed")
            .map(|(_, around)| around.unwrap())
            .collect();
        assert_eq!(failed, ["watch", "watch"]);

        let reconciled = recorded.named("reconcile");
        assert!(reconciled.len() > 3, "{}", reconciled.len());
        for (number, span) in reconciled.iter().enumerate().take(3) {
            assert_eq!(span.get("controller"), Some("shop"));
            assert_eq!(span.get("key"), Some("\"web/a\""));
            assert_eq!(span.get("attempt"), Some(&*(number + 1).to_string()));
        }
        let logged = |(message, around): &(String, Option<&str>)| {
            message == "a reconciliation failed" && *around == Some("reconcile")
        };
        assert!(recorded.events.iter().any(logged));
    });
}

#[test]
fn each_page_has_a_span_and_a_wait_has_none() {
    begin();
    let world = World::new();
    for number in 0..7 {
        world.create(&format!("p{number}"));
    }
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    let informer = pods()
        .preset(config)
        .page_size(3)
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    // The first list waits after a failure. The second one is asked for again, at the newest version, which
    // the server reads in pages.
    let faults = [Some(Fault::Refuse), Some(Fault::Expire)];
    world.server.set_faults(FaultPlan::script(faults));
    informer.start().unwrap();
    world.settle();
    assert_eq!(told(&recorded()), ["list 1: first"]);
    world.pass(60 * SECOND);
    assert_eq!(
        told(&end()),
        [
            "list 1: first",
            "list 2: unreachable",
            "list 3: expired",
            "list 4: next_page",
            "list 5: next_page",
            "watch 6: state_read, open",
        ]
    );
}

#[test]
fn a_watch_that_ends_is_followed_by_another() {
    begin();
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    // The server ends it after five to ten minutes.
    for _ in 0..15 {
        world.touch("a");
        world.pass(60 * SECOND);
    }
    assert_eq!(
        told(&end()),
        [
            "list 1: first, streamed",
            "watch 1: state_read",
            "watch 2: ended, open"
        ]
    );
}

/// Not even of objects that cannot be used.
#[test]
fn nothing_of_an_object_is_in_a_span_or_an_event() {
    begin();
    let world = World::new();
    let hidden = "aGlkZGVuIGZyb20gbG9ncw";
    world.server.with(|server| {
        for name in ["a", "b"] {
            let secret = json!({
                "metadata": {"namespace": "web", "name": name, "annotations": {"note": hidden}},
                "data": {"password": hidden},
            });
            server.create("secrets", secret).unwrap();
        }
    });
    let corrupt = Fault::Corrupt {
        nth: 0,
        nameless: false,
    };
    world.server.inject(corrupt);
    let informer = InformerBuilder::dynamic_at(Target::new("", "v1", "secrets"))
        .transform(|secret| match secret.key().name() {
            "b" => Err(informer::TransformError::new("it is refused")),
            _ => Ok(()),
        })
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let controller = Controller::new(world.runtime.clone());
    let _registration = informer.on(enqueue::this(controller.queue())).unwrap();
    controller
        .work(1, |_: ObjectKey| async { Ok::<_, String>(Next::Done) })
        .unwrap();
    informer.start().unwrap();
    world.pass(5 * SECOND);
    world.server.with(|server| {
        let change = json!({"data": {"other": hidden}});
        server.patch("secrets", "web/a", change).unwrap();
        server.restart();
    });
    world.pass(60 * SECOND);
    assert!(informer.status().counts.rejected > 0);
    let recorded = end();
    assert!(recorded.spans.len() > 3 && recorded.events.len() > 3);
    assert!(recorded.text.contains("it is refused"));
    assert!(!recorded.text.contains(hidden), "{}", recorded.text);
}

#[cfg(feature = "hyper")]
#[tokio::test]
async fn a_token_is_in_no_span_and_in_no_event() {
    use informer::{Client, Config};
    use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
    use informer_transport_mock::{Server, ServerConfig};

    begin();
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let mut http = HttpConfig::new();
    http.token = Some("let-me-in".to_owned());
    let running = serve(server, http).await.unwrap();
    let connect = |token: &str| {
        let config = Config::new(running.url()).unwrap();
        Client::new(config.with_token(token.into()).with_credentials_over_http()).unwrap()
    };
    let pods = || InformerBuilder::lean_at(Target::new("", "v1", "pods"));
    let right = pods().start(&connect("let-me-in")).unwrap();
    right.synced(LONG).await.unwrap();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let _wrong = pods()
        .on_failure(move |last| tell.send(last.failure).unwrap())
        .start(&connect("open-sesame"))
        .unwrap();
    assert_eq!(told.recv().await, Some(informer::Failure::Unauthorized));
    let recorded = end();
    assert!(recorded.spans.len() > 2, "{:?}", recorded.spans);
    for token in ["let-me-in", "open-sesame"] {
        assert!(!recorded.text.contains(token), "{}", recorded.text);
    }
}
