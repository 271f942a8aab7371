//! Scripted transports: expectations, replies, and messages about mismatches.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::task::{Context, Poll, Waker};

use informer_core::decode::{Decoder, Dynamic};
use informer_core::reflector::FirstState;
use informer_core::storage::Heap;
use informer_core::transport::Target;
use informer_core::transport::Transport;
use informer_core::{Failure, Informer, InformerConfig, Instant};
use informer_transport_mock::script::{Reply, Script};

type Pods = Informer<Decoder<Dynamic>, Heap>;

const ADDED: &str =
    r#"{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"x","resourceVersion":"7"}}}"#;
const END: &str = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;

fn script() -> Script {
    Script::new(Target::new("", "v1", "pods"))
}

fn informer(first_state: FirstState) -> Pods {
    let mut config = InformerConfig::new();
    config.reflector.first_state = first_state;
    let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    informer.start(Instant::default());
    informer
}

/// Drives both until they are idle, then advances to the next deadline, `times` times.
fn drive(informer: &mut Pods, script: &mut Script, times: usize) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut now = Instant::default();
    for _ in 0..=times {
        informer.advance(now);
        loop {
            while let Some(command) = informer.poll_command(now) {
                script.execute(command);
            }
            let Poll::Ready((exchange, signal)) = script.poll_signal(&mut cx) else {
                break;
            };
            let used = informer.signal(exchange, signal, now).unwrap();
            script.consume(used);
        }
        now = informer.next_deadline().unwrap_or(now);
    }
}

#[test]
fn an_informer_follows_a_script() {
    let mut informer = informer(FirstState::Streamed);
    let mut script = script()
        .expect("GET /api/v1/pods?resourceVersion=", Reply::refused())
        .expect(
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            Reply::watch([ADDED, END]).then_break(),
        )
        // A watch that breaks at once is suspicious and causes a relist.
        .expect(
            "sendInitialEvents=true&resourceVersion=8",
            Reply::status(410, r#"{"kind":"Status","code":410,"reason":"Expired"}"#),
        )
        .expect(
            "sendInitialEvents=true&resourceVersion=",
            Reply::watch([ADDED, END]),
        );
    drive(&mut informer, &mut script, 2);
    script.finish().unwrap();
    assert!(informer.is_synced());
    assert_eq!(informer.store().len(), 1);
}

#[test]
fn lists_and_throttling() {
    let mut informer = informer(FirstState::Listed);
    let list = r#"{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"n"}}]}"#;
    let mut script = script()
        .expect(
            "limit=500&resourceVersion=0",
            Reply::status(429, "").retry_after(7),
        )
        .expect("watch=&limit=500", Reply::body(list))
        .expect(
            "watch=true&resourceVersion=9&sendInitialEvents=",
            Reply::watch([]),
        );
    drive(&mut informer, &mut script, 0);
    let failure = informer.status().last_failure.unwrap().failure;
    assert!(
        matches!(failure, Failure::Throttled { retry_after: Some(wait) } if wait.as_secs() == 7)
    );
    drive(&mut informer, &mut script, 1);
    assert_eq!(informer.store().len(), 1);
    script.finish().unwrap();
}

#[test]
fn an_unexpected_request_fails_and_finish_reports_it() {
    for (expected, why) in [
        (
            "GET /api/v1/nodes?watch=true",
            "GET /api/v1/nodes?watch=true was expected: the path is /api/v1/pods",
        ),
        (
            "limit=7",
            "GET /api/v1/pods?limit=7 was expected: limit is \"500\", not \"7\"",
        ),
        (
            "watch=true",
            "GET /api/v1/pods?watch=true was expected: watch is missing",
        ),
        (
            "resourceVersion=",
            "GET /api/v1/pods?resourceVersion= was expected: resourceVersion is \"0\", not \"\"",
        ),
    ] {
        let mut informer = informer(FirstState::Listed);
        let mut script = script().expect(expected, Reply::refused());
        drive(&mut informer, &mut script, 1);
        let text = format!("GET /api/v1/pods?limit=500&resourceVersion=0 came, but {why}");
        assert_eq!(script.finish().unwrap_err().to_string(), text);
        assert_eq!(informer.status().last_failure.unwrap().message, text);
    }
    let mut script = script();
    drive(&mut informer(FirstState::Listed), &mut script, 0);
    assert_eq!(
        script.finish().unwrap_err().to_string(),
        "GET /api/v1/pods?limit=500&resourceVersion=0 came, but no further request was expected"
    );
}

#[test]
fn finish_reports_requests_that_never_came() {
    let mut script = script()
        .expect(
            "limit=500",
            Reply::body(r#"{"metadata":{"resourceVersion":"9"},"items":[]}"#),
        )
        .expect("resourceVersion=9", Reply::watch([]).then_silence())
        .expect("resourceVersion=10", Reply::body("").then_close());
    drive(&mut informer(FirstState::Listed), &mut script, 0);
    assert_eq!(
        script.finish().unwrap_err().to_string(),
        "1 expected request never came: GET /api/v1/pods?resourceVersion=10"
    );
}
