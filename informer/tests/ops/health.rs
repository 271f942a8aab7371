//! `/livez` and `/readyz`.

use informer::controller::{Controller, Next};
use informer::election::ElectionBuilder;
use informer::runtime::Tokio;
use informer::{InformerBuilder, Kind, LeanBody, Object, ObjectKey};
use informer_transport_mock::fault::{Fault, FaultPlan};
use std::time::Duration;

use crate::place::{LONG, at, create, get, here, lean, server};

#[tokio::test]
async fn a_program_whose_informers_follow_is_alive_and_ready() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    for path in ["/livez", "/readyz", "/readyz?within=60", "/livez?verbose=1"] {
        let answer = get(&port, path).await;
        assert_eq!((answer.status, &*answer.body), (200, "ok\n"), "{path}");
        assert!(answer.has_header("content-type: text/plain; charset=utf-8"));
    }
}

#[tokio::test]
async fn an_informer_without_a_server_is_alive_but_not_ready_and_says_why() {
    let server = server();
    server.set_faults(FaultPlan::script([Some(Fault::Refuse); 50]));
    let pods = InformerBuilder::lean_at(at("pods"))
        .start(&server.connect())
        .unwrap();
    let seen = pods.status();
    pods.status_change(&seen).await;
    let port = here().add(&pods).start().await.unwrap();
    assert_eq!(get(&port, "/livez").await.status, 200);
    let answer = get(&port, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.starts_with("pods.v1: "), "{}", answer.body);
    assert!(answer.body.contains("It is not synced"), "{}", answer.body);
    assert_eq!(answer.body.lines().count(), 1, "{}", answer.body);
}

#[tokio::test]
async fn silence_is_told_by_the_limit_of_the_probe_or_of_the_port() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let answer = get(&port, "/readyz?within=0").await;
    assert_eq!(answer.status, 503);
    assert!(
        answer.body.contains("it may be for 0 s."),
        "{}",
        answer.body
    );
    let strict = here().add(&pods).fresh_within(Duration::ZERO).start().await;
    assert_eq!(get(&strict.unwrap(), "/readyz").await.status, 503);
    for wrong in ["soon", "-1", "1e300", "NaN"] {
        let answer = get(&port, &format!("/readyz?within={wrong}")).await;
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.error().contains("number of seconds"), "{wrong}");
    }
}

#[tokio::test]
async fn an_informer_that_a_panic_has_ended_is_not_alive() {
    let server = server();
    let pods = InformerBuilder::lean_at(at("pods"))
        .index("node", |_: &Object<LeanBody>| -> Option<String> {
            panic!("no such node")
        })
        .start(&server.connect())
        .unwrap();
    create(&server, "a");
    pods.synced(LONG).await.unwrap_err();
    let port = here().add(&pods).start().await.unwrap();
    for path in ["/livez", "/readyz"] {
        let answer = get(&port, path).await;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.body.contains("no such node"), "{}", answer.body);
    }
}

#[test]
fn an_informer_whose_runtime_has_ended_is_not_alive() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let (first, second) = (runtime(), runtime());
    let server = server();
    let pods = first.block_on(lean(&server, "pods"));
    drop(first);
    second.block_on(async {
        let port = here().add(&pods).start().await.unwrap();
        let answer = get(&port, "/livez").await;
        assert_eq!(answer.status, 503);
        assert!(answer.body.contains("runtime"), "{}", answer.body);
    });
}

#[tokio::test]
async fn a_controller_is_ready_while_it_has_workers_and_is_not_stopped() {
    let controller = Controller::<String>::new(Tokio::current().unwrap());
    let port = here().add(&controller).start().await.unwrap();
    let answer = get(&port, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(
        answer.body.contains("It has no workers yet"),
        "{}",
        answer.body
    );
    assert_eq!(get(&port, "/livez").await.status, 200);
    let work = |_: String| async { Ok::<_, std::convert::Infallible>(Next::Done) };
    controller.work(1, work).unwrap();
    assert_eq!(get(&port, "/readyz").await.status, 200);
    controller.stop().await;
    let answer = get(&port, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("stopped"), "{}", answer.body);
}

/// One of two replicas does not lead. Both are ready, until they end.
#[derive(serde::Deserialize)]
struct ConfigMap {}

impl Kind for ConfigMap {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "ConfigMap";
    const PLURAL: &'static str = "configmaps";
}

#[tokio::test]
async fn a_controller_that_has_not_begun_is_not_ready() {
    let server = server();
    let controller = Controller::of::<ConfigMap>(&server);
    let port = here().add(&controller.handle()).start().await.unwrap();
    let answer = get(&port, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("no workers yet"), "{}", answer.body);
    // Nobody will run it any more.
    drop(controller);
    assert_eq!(get(&port, "/readyz").await.status, 200);
}

/// A key is a type of the program, and its `Debug` is code of the program.
#[tokio::test]
async fn a_key_whose_debug_panics_harms_nobody() {
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Odd;
    impl std::fmt::Debug for Odd {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("on purpose")
        }
    }

    let controller = Controller::new(Tokio::current().unwrap());
    let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let work = move |_: Odd| {
        begun.send(()).unwrap();
        std::future::pending::<Result<Next, String>>()
    };
    controller.work(1, work).unwrap();
    controller.queue().add(Odd);
    has_begun.recv().await.unwrap();
    let port = here().add(&controller).start().await.unwrap();
    let status = get(&port, "/status").await;
    assert_eq!(status.status, 200);
    let body = &status.body;
    assert!(body.contains("a key whose `Debug` panics"), "{body}");
}

#[tokio::test]
async fn a_replica_that_does_not_lead_is_ready_and_one_that_has_ended_is_not() {
    let server = server();
    let replica = |name: &str| {
        let builder = ElectionBuilder::new(ObjectKey::new("web", "shop")).identity(name);
        builder.start(&server).unwrap()
    };
    let first = replica("first");
    let _guard = first.leading().await.unwrap();
    let second = replica("second");
    let port = here().add(&first).add(&second).start().await.unwrap();
    assert_eq!(get(&port, "/readyz").await.status, 200);
    second.stop().await;
    let answer = get(&port, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("second, has ended"), "{}", answer.body);
}
