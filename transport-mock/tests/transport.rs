//! The server as a transport: its bytes, pieces and failures, and each fault once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::num::NonZeroU32;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer_core::decode::{Decoder, Dynamic};
use informer_core::reflector::{FirstState, Phase};
use informer_core::storage::Heap;
use informer_core::transport::{Command, Content, Signal, Target, Transport};
use informer_core::{Failure, Informer, InformerConfig, Instant};
use informer_test_support::Woken;
use informer_transport_mock::answer::AnswerBody;
use informer_transport_mock::fault::{Fault, FaultPlan};
use informer_transport_mock::request::{ApiRequest, Headers};
use informer_transport_mock::transport::MockTransport;
use informer_transport_mock::watch::Polled;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::{Value, json};

/// The signals of a transport, with adjacent pieces joined.
#[derive(PartialEq, Debug)]
enum Shown {
    Opened,
    Body(String),
    Closed,
    Failed(Failure, String),
}

/// A server, a transport, and an informer that makes the requests.
struct Bench {
    clock: VirtualClock,
    server: MockServer,
    transport: MockTransport,
    informer: Informer<Decoder<Dynamic>, Heap>,
    pieces: Vec<usize>,
    woken: Arc<Woken>,
}

impl Bench {
    fn new(first_state: FirstState, faults: impl IntoIterator<Item = Option<Fault>>) -> Self {
        Self::seeded(first_state, 1, faults)
    }

    fn seeded(
        first_state: FirstState,
        seed: u64,
        faults: impl IntoIterator<Item = Option<Fault>>,
    ) -> Self {
        let clock = VirtualClock::new();
        let server = MockServer::new(ServerConfig::new(7), clock.clone());
        for name in ["a", "b", "c"] {
            server.with(|server| server.create("pods", pod(name)).unwrap());
        }
        server.set_faults(FaultPlan::script(faults));
        let mut config = InformerConfig::new();
        config.reflector.first_state = first_state;
        let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
        informer.start(clock.now());
        Self {
            transport: server.transport(&Target::new("", "v1", "pods"), seed),
            clock,
            server,
            informer,
            pieces: Vec::new(),
            woken: Arc::default(),
        }
    }

    /// Sends the next request and returns it.
    fn ask(&mut self) -> Option<String> {
        self.informer.advance(self.clock.now());
        let mut asked = None;
        while let Some(command) = self.informer.poll_command(self.clock.now()) {
            if let Command::Open { request, .. } = command {
                asked = Some(Target::new("", "v1", "pods").request(request));
            }
            self.transport.execute(command);
        }
        asked
    }

    /// Takes every signal that is available now and passes it to the informer.
    fn take(&mut self) -> Vec<Shown> {
        let waker = Waker::from(Arc::clone(&self.woken));
        let mut cx = Context::from_waker(&waker);
        let mut out = Vec::new();
        while let Poll::Ready((exchange, signal)) = self.transport.poll_signal(&mut cx) {
            match signal {
                Signal::Opened(_) => out.push(Shown::Opened),
                Signal::Bytes(bytes) => {
                    self.pieces.push(bytes.len());
                    let text = std::str::from_utf8(bytes).unwrap();
                    match out.last_mut() {
                        Some(Shown::Body(body)) => body.push_str(text),
                        _ => out.push(Shown::Body(text.to_owned())),
                    }
                }
                Signal::Closed => out.push(Shown::Closed),
                Signal::Failed { failure, message } => {
                    out.push(Shown::Failed(failure, message.to_owned()));
                }
            }
            let used = self.informer.signal(exchange, signal, self.clock.now());
            self.transport.consume(used.unwrap());
        }
        out
    }

    fn ask_and_take(&mut self) -> Vec<Shown> {
        self.ask().unwrap();
        self.take()
    }

    /// The body that the server itself sends now.
    fn body(&self, target: &str) -> String {
        let (path, query) = target.split_once('?').unwrap();
        let request = ApiRequest::parse("GET", path, query, Headers::default()).unwrap();
        self.server.with(|server| {
            let now = Instant::default();
            match server.handle(&request, b"", now).body {
                AnswerBody::Complete(bytes) => String::from_utf8(bytes).unwrap(),
                AnswerBody::Watch(mut watch) => {
                    let mut lines = String::new();
                    while let Polled::Frame(frame) = watch.poll(server, now) {
                        lines += std::str::from_utf8(&frame.to_bytes()).unwrap();
                    }
                    lines
                }
            }
        })
    }

    fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.informer.store().keys().map(|key| key.name()).collect();
        names.sort_unstable();
        names
    }
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "annotations": {"note": "a \"quoted\" }{"}}})
}

fn reset() -> Shown {
    Shown::Failed(Failure::Broken, "connection reset by peer".to_owned())
}

/// The lines of a body, shortened.
fn events(shown: &[Shown]) -> Vec<String> {
    let bodies = shown.iter().filter_map(|shown| match shown {
        Shown::Body(body) => Some(body.lines()),
        _ => None,
    });
    bodies
        .flatten()
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            let name = event["object"]["metadata"]["name"].as_str();
            format!(
                "{} {}",
                event["type"].as_str().unwrap(),
                name.unwrap_or("-")
            )
        })
        .collect()
}

#[test]
fn lists_and_watches_are_the_servers_bytes_in_seeded_pieces() {
    for first_state in [FirstState::Listed, FirstState::Streamed] {
        let mut all_pieces = Vec::new();
        for seed in [1, 1, 2, 3, 4, 5] {
            let mut bench = Bench::seeded(first_state, seed, []);
            let target = bench.ask().unwrap();
            let expected = Shown::Body(bench.body(&target));
            let shown = bench.take();
            assert_eq!(&shown[..2], &[Shown::Opened, expected]);
            assert_eq!(bench.names(), ["a", "b", "c"]);
            all_pieces.push(bench.pieces);
        }
        assert_eq!(all_pieces[0], all_pieces[1]);
        assert!(all_pieces.iter().any(|pieces| *pieces != all_pieces[0]));
        assert!(all_pieces.iter().any(|pieces| pieces.len() > 3));
    }
}

#[test]
fn a_signal_is_shown_until_it_is_used_and_the_rest_of_a_piece_comes_first() {
    let mut bench = Bench::new(FirstState::Listed, []);
    let target = bench.ask().unwrap();
    let expected = bench.body(&target);
    let mut cx = Context::from_waker(Waker::noop());
    let mut body = Vec::new();
    for n in 0.. {
        let polled = bench.transport.poll_signal(&mut cx);
        let Poll::Ready((_, signal)) = polled else {
            panic!()
        };
        let (first, used) = match signal {
            Signal::Bytes(bytes) => {
                let used = n % (bytes.len() + 1);
                body.extend_from_slice(&bytes[..used]);
                (bytes.to_vec(), used)
            }
            Signal::Closed => break,
            _ => (Vec::new(), 0),
        };
        let again = bench.transport.poll_signal(&mut cx);
        if let Poll::Ready((_, Signal::Bytes(bytes))) = again {
            assert_eq!(bytes, first);
        }
        bench.transport.consume(used);
    }
    assert_eq!(String::from_utf8(body).unwrap(), expected);
}

#[test]
fn a_write_and_the_clock_wake_waiting_transports() {
    let mut bench = Bench::new(FirstState::Streamed, []);
    bench.ask_and_take();
    assert_eq!(bench.woken.times(), 0);
    bench
        .server
        .with(|server| server.create("pods", pod("d")).unwrap());
    assert_eq!(bench.woken.times(), 1);
    assert_eq!(events(&bench.take()), ["ADDED d"]);
    bench.pass(Duration::from_secs(61));
    assert_eq!(bench.woken.times(), 2);
    assert_eq!(events(&bench.take()), ["BOOKMARK -"]);
    // The end of the watch, which no event announces.
    bench.pass(Duration::from_secs(600));
    assert_eq!(bench.take().last(), Some(&Shown::Closed));
}

#[test]
fn an_error_status_gives_the_same_failure_as_over_http() {
    let clock = VirtualClock::new();
    let server = MockServer::new(ServerConfig::new(7), clock.clone());
    for (target, failure) in [
        (Target::new("", "v1", "nosuch"), Failure::NotFound),
        (
            Target::new("", "v1", "pods").with_labels("a in"),
            Failure::Invalid,
        ),
    ] {
        let mut transport = server.transport(&target, 1);
        let mut bench = Bench::new(FirstState::Listed, []);
        while let Some(command) = bench.informer.poll_command(clock.now()) {
            transport.execute(command);
        }
        bench.transport = transport;
        let shown = bench.take();
        let [Shown::Failed(shown, message)] = &shown[..] else {
            panic!("{shown:?}")
        };
        assert_eq!(*shown, failure);
        assert!(!message.is_empty());
    }
}

/// A limited list at a version means exactly that version by default. The watch after such a list
/// would be as expired as the watch before it.
#[test]
fn one_paged_list_is_enough_after_an_expired_watch() {
    let mut bench = Bench::new(FirstState::Listed, []);
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    config.reflector.page_size = NonZeroU32::new(2);
    bench.informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    bench.informer.start(bench.clock.now());
    while bench.ask().is_some() {
        bench.take();
    }
    bench.server.with(|server| {
        server.create("pods", pod("d")).unwrap();
        server.restart();
    });
    bench.pass(Duration::from_secs(2));
    bench.take();
    bench.ask_and_take();
    bench.pass(Duration::from_secs(2));
    let target = bench.ask().unwrap();
    assert!(
        target.ends_with("resourceVersion=4&resourceVersionMatch=NotOlderThan"),
        "{target}"
    );
    bench.take();
    while bench.ask().is_some() {
        bench.take();
    }
    assert_eq!(bench.names(), ["a", "b", "c", "d"]);
    let status = bench.informer.status();
    assert_eq!(status.counts.full_states, 2);
    assert_eq!(status.phase, Phase::Watching);
}

#[test]
fn metadata_alone() {
    let mut bench = Bench::new(FirstState::Listed, []);
    let target = Target::new("", "v1", "pods").with_content(Content::Metadata);
    bench.transport = bench.server.transport(&target, 1);
    let shown = bench.ask_and_take();
    let Shown::Body(body) = &shown[1] else {
        panic!()
    };
    assert!(
        body.starts_with(r#"{"kind":"PartialObjectMetadataList""#),
        "{body}"
    );
    assert_eq!(bench.names(), ["a", "b", "c"]);
}

#[test]
fn an_aborted_exchange_sends_no_more_signals() {
    let mut bench = Bench::new(FirstState::Listed, []);
    bench.ask();
    bench.informer.stop(bench.clock.now());
    assert_eq!(bench.ask(), None);
    assert_eq!(bench.take(), []);
}

#[test]
fn a_restart_cuts_watches() {
    let mut bench = Bench::new(FirstState::Streamed, []);
    bench.ask_and_take();
    bench.server.with(|server| server.restart());
    assert_eq!(bench.take(), [reset()]);
    bench.pass(Duration::from_secs(2));
    bench.ask_and_take();
    bench.transport.reset();
    assert_eq!(bench.take(), [reset()]);
}

#[test]
fn refuse_throttle_expire_fail() {
    let faults = [
        Fault::Refuse,
        Fault::Throttle { retry_after: 9 },
        Fault::Expire,
        Fault::Fail,
    ];
    let mut bench = Bench::new(FirstState::Listed, faults.map(Some));
    let mut failures = Vec::new();
    for _ in faults {
        let shown = bench.ask_and_take();
        let [Shown::Failed(failure, _)] = &shown[..] else {
            panic!("{shown:?}")
        };
        failures.push(*failure);
        bench.pass(Duration::from_secs(60));
    }
    let retry_after = Some(Duration::from_secs(9));
    let expected = [
        Failure::Unreachable,
        Failure::Throttled { retry_after },
        Failure::Expired,
        Failure::Internal,
    ];
    assert_eq!(failures, expected);
    bench.ask_and_take();
    assert_eq!(bench.names(), ["a", "b", "c"]);
    let counts = bench.server.fault_counts();
    for fault in faults {
        assert_eq!(counts.get(fault.name()), Some(&1), "{fault:?}");
    }
}

#[test]
fn delay() {
    let by = Duration::from_secs(5);
    let mut bench = Bench::new(FirstState::Listed, [Some(Fault::Delay(by))]);
    assert_eq!(bench.ask_and_take(), []);
    assert_eq!(
        bench.clock.advance_to_next(),
        Some(Instant::default().after(by))
    );
    assert_eq!(bench.woken.times(), 1);
    assert_eq!(bench.take()[0], Shown::Opened);
    assert_eq!(bench.names(), ["a", "b", "c"]);
}

#[test]
fn reset_and_stall_in_the_middle_of_something() {
    for (fault, end) in [
        (Fault::Reset { after: 100 }, Some(reset())),
        (Fault::Stall { after: 100 }, None),
    ] {
        for first_state in [FirstState::Listed, FirstState::Streamed] {
            let mut bench = Bench::new(first_state, [Some(fault)]);
            let target = bench.ask().unwrap();
            let body = bench.body(&target)[..100].to_owned();
            let mut expected = vec![Shown::Opened, Shown::Body(body)];
            expected.extend(match fault {
                Fault::Reset { .. } => Some(reset()),
                _ => None,
            });
            assert_eq!(bench.take(), expected);
            assert_eq!(bench.transport.is_stalled(), end.is_none());
            bench.pass(Duration::from_secs(1_000));
            assert_eq!(bench.take(), []);
        }
    }
}

#[test]
fn close_ends_a_watch_cleanly() {
    let mut bench = Bench::new(FirstState::Streamed, [Some(Fault::Close { after: 2 })]);
    let shown = bench.ask_and_take();
    assert_eq!(events(&shown), ["ADDED a", "ADDED b"]);
    assert_eq!(shown.last(), Some(&Shown::Closed));
}

#[test]
fn bookmarks_are_dropped_or_the_end_bookmark_is_missing() {
    let minute = Duration::from_secs(61);
    for (fault, at_once, later) in [
        (Fault::DropBookmarks, 4, vec![]),
        (Fault::NoEndBookmark, 3, vec!["BOOKMARK -".to_owned()]),
    ] {
        let mut bench = Bench::new(FirstState::Streamed, [Some(fault)]);
        assert_eq!(events(&bench.ask_and_take()).len(), at_once);
        bench.server.with(|server| server.skip_version());
        bench.pass(minute);
        assert_eq!(events(&bench.take()), later);
        assert_eq!(bench.server.fault_counts()[fault.name()], 1);
        assert_eq!(bench.informer.is_synced(), fault == Fault::DropBookmarks);
    }
}

#[test]
fn one_object_is_unreadable_and_the_others_are_readable() {
    for first_state in [FirstState::Listed, FirstState::Streamed] {
        for nameless in [false, true] {
            let fault = Fault::Corrupt { nth: 1, nameless };
            let mut bench = Bench::new(first_state, [Some(fault)]);
            bench.ask_and_take();
            assert_eq!(bench.names(), ["a", "c"]);
            let rejected = bench.informer.poll_rejected().unwrap();
            assert_eq!(rejected.key.is_none(), nameless, "{rejected:?}");
            assert_eq!(bench.server.take_corrupted(), ["default/b"]);
        }
    }
}

#[test]
fn duplicate_repeats_initial_objects_and_bookmarks() {
    let mut bench = Bench::new(FirstState::Streamed, [Some(Fault::Duplicate)]);
    let shown = events(&bench.ask_and_take());
    let twice = ["ADDED a", "ADDED b", "ADDED c", "BOOKMARK -"].map(|line| [line, line]);
    assert_eq!(shown, twice.concat());
    bench
        .server
        .with(|server| server.create("pods", pod("d")).unwrap());
    assert_eq!(
        events(&bench.take()),
        ["ADDED d"],
        "later events arrive once"
    );
}

#[test]
fn reorder_changes_the_order_of_lists() {
    for first_state in [FirstState::Listed, FirstState::Streamed] {
        let fault = Fault::Reorder { seed: 3 };
        let mut bench = Bench::new(first_state, [Some(fault)]);
        let target = bench.ask().unwrap();
        let (shown, expected) = (bench.take(), bench.body(&target));
        let Shown::Body(body) = &shown[1] else {
            panic!()
        };
        assert_ne!(*body, expected);
        let sorted = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.sort_unstable();
            bytes
        };
        assert_eq!(sorted(body), sorted(&expected));
        assert_eq!(bench.names(), ["a", "b", "c"]);
    }
}

#[test]
fn a_drawn_plan_is_the_same_every_time() {
    let run = |seed| {
        let mut bench = Bench::new(FirstState::Streamed, []);
        bench.server.set_faults(FaultPlan::drawn(seed, 1));
        let mut all = Vec::new();
        for _ in 0..30 {
            bench.ask();
            all.extend(bench.take());
            bench.pass(Duration::from_secs(50));
        }
        (all, bench.server.fault_counts())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).1, run(2).1);
    assert!(!run(1).1.is_empty());
}

#[test]
fn it_can_be_shared_between_threads() {
    const fn check<T: Send>() {}
    const fn check_shared<T: Send + Sync + Clone>() {}
    check::<MockTransport>();
    check_shared::<MockServer>();
    check_shared::<VirtualClock>();
}
