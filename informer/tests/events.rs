//! Events on the mock, in virtual time: what the server gets, and what happens if it does not.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// A mock API server, virtual time and log events.
mod world;

use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use informer::events::{NewEvent, Recorder, RecorderBuilder, RecorderError, Reference};
use informer::informer_core::transport::{Call, Caller, Calling, Reply};
use informer::informer_transport_mock::fault::{Fault, FaultPlan};
use informer::runtime::{Manual, Runtime, RuntimeError, Task};
use informer::{Calls, Clock, ConnectError, Kind, Object, ObjectKey};
use serde_json::{Value, json};
use world::World;
use world::logged::{Line, logged, saying};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const EVENTS: &str = "events.events.k8s.io";

#[derive(serde::Deserialize)]
struct Deployment {}

impl Kind for Deployment {
    const GROUP: &'static str = "apps";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Deployment";
    const PLURAL: &'static str = "deployments";
}

fn shop() -> Object<Deployment> {
    Object::builder(ObjectKey::new("web", "shop"))
        .uid("u-1")
        .version("7")
        .body(Deployment {})
}

/// Its times begin with 2025.
fn recorder(world: &World, client: &impl Calls) -> Recorder {
    let clock = world.clock.clone();
    RecorderBuilder::new("example.com/scaler")
        .instance("scaler-1")
        .wall_clock(move || {
            let passed = Duration::from_micros(clock.now().as_micros());
            UNIX_EPOCH + Duration::from_secs(1_735_689_600) + passed
        })
        .build(client, world.runtime.clone())
        .unwrap()
}

/// The Events of the server, without what the server adds.
fn stored(world: &World) -> Vec<Value> {
    world.server.with(|server| {
        let objects = server.objects(EVENTS);
        objects
            .map(|event| {
                let mut event: Value = serde_json::from_slice(event.json()).unwrap();
                let members = event.as_object_mut().unwrap();
                members.retain(|key, _| !key.starts_with("deprecated"));
                let metadata = event["metadata"].as_object_mut().unwrap();
                metadata.retain(|key, _| key == "name" || key == "namespace");
                event
            })
            .collect()
    })
}

fn counts_of(world: &World) -> Vec<u64> {
    let events = stored(world);
    events
        .iter()
        .map(|event| event["series"]["count"].as_u64().unwrap_or(1))
        .collect()
}

/// A client that answers itself, if it likes, and else asks the server.
#[derive(Clone)]
struct Scripted {
    world: Arc<dyn Caller>,
    answers: Arc<Mutex<Answers>>,
    sent: Arc<Mutex<Vec<&'static str>>>,
}

type Answers = Box<dyn FnMut(&Call) -> Option<Reply> + Send>;

impl Scripted {
    fn new(world: &World, answers: impl FnMut(&Call) -> Option<Reply> + Send + 'static) -> Self {
        Self {
            world: world.server.caller().unwrap(),
            answers: Arc::new(Mutex::new(Box::new(answers))),
            sent: Arc::default(),
        }
    }

    fn take_sent(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }
}

impl Calls for Scripted {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Caller for Scripted {
    fn call(&self, call: Call) -> Calling {
        self.sent.lock().unwrap().push(call.method.as_str());
        let answer = (self.answers.lock().unwrap())(&call);
        match answer {
            Some(reply) => Box::pin(async { Ok(reply) }),
            None => self.world.call(call),
        }
    }
}

fn refusal(code: u16, reason: &str, causes: &[&str]) -> Reply {
    let causes: Vec<_> = causes
        .iter()
        .map(|cause| json!({"reason": cause}))
        .collect();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
        "message": "no", "details": {"causes": causes},
    });
    Reply {
        status: code,
        retry_after: None,
        body: status.to_string().into_bytes(),
    }
}

#[test]
fn the_first_event_is_whole() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    let pod = Reference::new("v1", "Pod", &ObjectKey::new("web", "shop-1")).uid("u-2");
    recorder.publish(NewEvent::normal(&shop(), "Scaled", "Scale", "scaled to 3").related(&pod));
    world.settle();
    let expected = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": "web", "name": format!("shop.{:x}", 1_735_689_600_000_000_000_u64)},
        "eventTime": "2025-01-01T00:00:00.000000Z",
        "reportingController": "example.com/scaler",
        "reportingInstance": "scaler-1",
        "action": "Scale",
        "reason": "Scaled",
        "regarding": {
            "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "web", "name": "shop",
            "uid": "u-1", "resourceVersion": "7",
        },
        "related": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "web", "name": "shop-1", "uid": "u-2",
        },
        "note": "scaled to 3",
        "type": "Normal",
    });
    assert_eq!(stored(&world), [expected]);
}

#[test]
fn the_second_event_begins_a_series() {
    let world = World::new();
    let client = Scripted::new(&world, |_| None);
    let recorder = recorder(&world, &client);
    recorder.warning(&shop(), "NoRoom", "Schedule", "no node has room");
    world.pass(Duration::from_micros(1_500_000));
    // Its version makes no difference.
    let later = Reference::from(&shop()).version("8");
    recorder.warning(later, "NoRoom", "Schedule", "no node has room");
    world.settle();
    let [event] = &stored(&world)[..] else {
        panic!("{:?}", stored(&world));
    };
    let series = json!({"count": 2, "lastObservedTime": "2025-01-01T00:00:01.500000Z"});
    assert_eq!(event["series"], series);
    assert_eq!(event["eventTime"], "2025-01-01T00:00:00.000000Z");
    assert_eq!(event["type"], "Warning");
    assert_eq!(event["regarding"]["resourceVersion"], "7");
    assert_eq!(client.take_sent(), ["POST", "PATCH"]);

    // Further ones are counted, and written when the series is over.
    for _ in 0..10 {
        world.pass(SECOND);
        recorder.warning(&shop(), "NoRoom", "Schedule", "no node has room");
    }
    world.pass(6 * MINUTE - SECOND);
    assert!(client.take_sent().is_empty());
    world.pass(SECOND);
    assert_eq!(client.take_sent(), ["PATCH"]);
    let series = json!({"count": 12, "lastObservedTime": "2025-01-01T00:00:11.500000Z"});
    assert_eq!(stored(&world)[0]["series"], series);
    world.pass(60 * MINUTE);
    assert!(client.take_sent().is_empty());
    assert_eq!(recorder.counts().counted, 11);
}

#[test]
fn cluster_scoped_objects_have_theirs_in_default() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    let node = Reference::new("v1", "Node", &ObjectKey::new("", "node-1"));
    recorder.normal(node, "Ready", "Check", "");
    world.settle();
    let event = &stored(&world)[0];
    assert_eq!(event["metadata"]["namespace"], "default");
    assert_eq!(event["regarding"].get("namespace"), None);
}

#[test]
fn a_long_note_is_cut() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    recorder.normal(&shop(), "Scaled", "Scale", "é".repeat(5_000));
    world.settle();
    let events = stored(&world);
    let note = events[0]["note"].as_str().unwrap();
    assert_eq!(note.len(), 1023);
    assert!(note.ends_with("é…"));
}

/// Nothing is written in the call: it only wakes the task.
#[test]
fn recording_does_not_wait() {
    let world = World::new();
    let client = Scripted::new(&world, |_| None);
    let recorder = recorder(&world, &client);
    world.settle();
    for number in 0..20 {
        recorder.normal(&shop(), "Scaled", "Scale", number.to_string());
    }
    assert!(client.take_sent().is_empty());
    world.settle();
    assert_eq!(client.take_sent().len(), 20);
}

#[test]
fn a_server_that_is_away_gets_them_later() {
    for fault in [
        Fault::Refuse,
        Fault::Fail,
        Fault::Throttle { retry_after: 3 },
        Fault::Delay(5 * SECOND),
    ] {
        let world = World::new();
        let recorder = recorder(&world, &world.server);
        world
            .server
            .set_faults(FaultPlan::script([Some(fault), Some(fault)]));
        recorder.normal(&shop(), "Scaled", "Scale", "");
        world.pass(30 * SECOND);
        assert_eq!(counts_of(&world), [1], "{fault:?}");
        assert_eq!(recorder.counts().failed, 0);
    }
}

/// The answers are lost after the writes.
#[test]
fn lost_answers_make_no_second_event() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    for count in 1..=2 {
        world.server.inject(Fault::Reset { after: 0 });
        recorder.normal(&shop(), "Scaled", "Scale", "");
        world.settle();
        assert_eq!(counts_of(&world), [count], "it was carried out");
        world.pass(MINUTE);
        assert_eq!(counts_of(&world), [count]);
    }
    assert_eq!(recorder.counts().written, 2);
}

/// No answer comes, and the connection stays open.
#[test]
fn no_answer_is_waited_for_for_ever() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    world.server.inject(Fault::Stall { after: 0 });
    recorder.normal(&shop(), "Scaled", "Scale", "a");
    recorder.normal(&shop(), "Scaled", "Scale", "b");
    world.pass(29 * SECOND);
    assert_eq!(recorder.counts().written, 0);
    world.pass(15 * SECOND);
    assert_eq!(recorder.counts().written, 2);
    assert_eq!(counts_of(&world), [1, 1]);
}

#[test]
fn an_event_that_the_server_forgot_is_created_again() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    recorder.normal(&shop(), "Scaled", "Scale", "");
    world.settle();
    let name = stored(&world)[0]["metadata"]["name"].clone();
    let key = format!("web/{}", name.as_str().unwrap());
    world
        .server
        .with(|server| server.delete(EVENTS, &key).unwrap());
    recorder.normal(&shop(), "Scaled", "Scale", "");
    world.settle();
    assert_eq!(counts_of(&world), [2]);
    assert_eq!(stored(&world)[0]["metadata"]["name"], name);
}

#[test]
fn after_twelve_tries_an_event_is_lost() {
    let world = World::new();
    let lines = logged(|| {
        let recorder = recorder(&world, &world.server);
        world.server.set_faults(FaultPlan::always(Fault::Refuse));
        recorder.normal(&shop(), "Scaled", "Scale", "");
        world.pass(11 * 10 * SECOND - SECOND);
        assert_eq!(recorder.counts().failed, 0);
        world.pass(30 * SECOND);
        assert_eq!(recorder.counts().failed, 1);
        assert_eq!(world.server.fault_counts()["refuse"], 12);
        world.server.set_faults(FaultPlan::none());
        recorder.normal(&shop(), "Scaled", "Scale", "");
        world.settle();
        assert_eq!(counts_of(&world), [1]);
    });
    assert_eq!(saying(&lines, "an event is lost").len(), 1);
}

fn forbidden_lines(lines: &[Line]) -> Vec<&Line> {
    let text = "events are lost: allow the controller to `create` and `patch` the resource `events` of the API \
                group `events.k8s.io`";
    saying(lines, text)
}

#[test]
fn a_missing_permission_is_named_once() {
    let world = World::new();
    let is_allowed = Arc::new(Mutex::new(false));
    let allowed = Arc::clone(&is_allowed);
    let client = Scripted::new(&world, move |_| {
        (!*allowed.lock().unwrap()).then(|| refusal(403, "Forbidden", &[]))
    });
    let lines = logged(|| {
        let recorder = recorder(&world, &client);
        for number in 0..5 {
            recorder.normal(&shop(), "Scaled", "Scale", number.to_string());
        }
        world.pass(MINUTE);
        assert_eq!(client.take_sent().len(), 5, "nothing is tried again");
        assert_eq!(recorder.counts().failed, 5);
    });
    let said = forbidden_lines(&lines);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].get("controller"), Some("example.com/scaler"));

    // The right is granted and lost again.
    let lines = logged(|| {
        let recorder = recorder(&world, &client);
        for (number, is_granted) in [false, false, true, false, false].into_iter().enumerate() {
            *is_allowed.lock().unwrap() = is_granted;
            recorder.normal(&shop(), "Scaled", "Scale", format!("again {number}"));
            world.settle();
        }
        assert_eq!(recorder.counts().written, 1);
    });
    assert_eq!(forbidden_lines(&lines).len(), 2);
}

#[test]
fn what_the_server_refuses_is_not_tried_again() {
    for (reply, lines_expected) in [
        (refusal(422, "Invalid", &[]), 1),
        (refusal(404, "NotFound", &[]), 1),
        (refusal(403, "Forbidden", &["NamespaceTerminating"]), 0),
    ] {
        let world = World::new();
        let client = Scripted::new(&world, move |_| Some(reply.clone()));
        let lines = logged(|| {
            let recorder = recorder(&world, &client);
            recorder.normal(&shop(), "Scaled", "Scale", "");
            world.pass(MINUTE);
            assert_eq!(client.take_sent(), ["POST"]);
            assert_eq!(recorder.counts().failed, 1);
        });
        assert_eq!(saying(&lines, "an event is lost").len(), lines_expected);
        assert!(forbidden_lines(&lines).is_empty());
    }
}

#[test]
fn a_full_queue_says_so_once() {
    let world = World::new();
    let overflow = |recorder: &Recorder| {
        for number in 0..1_010 {
            let pod = Reference::new(
                "v1",
                "Pod",
                &ObjectKey::new("web", &format!("pod-{number}")),
            );
            recorder.normal(
                pod,
                "Scaled",
                "Scale",
                world.clock.now().as_micros().to_string(),
            );
        }
    };
    let lines = logged(|| {
        let recorder = recorder(&world, &world.server);
        overflow(&recorder);
        let counts = recorder.counts();
        assert_eq!((counts.recorded, counts.dropped), (1_000, 10));
        overflow(&recorder);
        assert_eq!(recorder.counts().dropped, 20, "those that wait are counted");
        world.settle();
        assert_eq!(stored(&world).len(), 1_000);
    });
    assert_eq!(
        saying(&lines, "events are lost: the queue is full").len(),
        1
    );
    let lines = logged(|| {
        let recorder = recorder(&world, &world.server);
        overflow(&recorder);
        world.pass(SECOND);
        overflow(&recorder);
    });
    let said = saying(&lines, "events are lost: the queue is full");
    assert_eq!(said.len(), 2, "once each time");
}

#[test]
fn a_flush_waits_for_all_writes_and_counts() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    for _ in 0..3 {
        recorder.normal(&shop(), "Scaled", "Scale", "");
        world.settle();
    }
    assert_eq!(counts_of(&world), [2]);
    world.wait(recorder.flush(SECOND)).unwrap();
    assert_eq!(counts_of(&world), [3]);
    // It goes on.
    recorder.normal(&shop(), "Scaled", "Scale", "another");
    world.settle();
    assert_eq!(counts_of(&world), [3, 1]);
    world.wait(recorder.flush(SECOND)).unwrap();
}

#[test]
fn a_flush_ends_in_time() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    world.server.inject(Fault::Refuse);
    recorder.normal(&shop(), "Scaled", "Scale", "a");
    recorder.normal(&shop(), "Scaled", "Scale", "b");
    let before = world.clock.now();
    let error = world.wait(recorder.flush(5 * SECOND)).unwrap_err();
    assert_eq!(error.left, 2);
    assert_eq!(error.to_string(), "2 events could not be written within 5s");
    assert_eq!(world.clock.now().since(before), 5 * SECOND);
    // What is left is written later.
    world.wait(recorder.flush(MINUTE)).unwrap();
    assert_eq!(stored(&world).len(), 2);
}

#[test]
fn a_stop_writes_what_is_left() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    for _ in 0..3 {
        recorder.normal(&shop(), "Scaled", "Scale", "a");
        world.settle();
    }
    recorder.normal(&shop(), "Scaled", "Scale", "b");
    world.wait(recorder.stop(SECOND)).unwrap();
    assert_eq!(counts_of(&world), [3, 1]);
    world.settle();
    assert_eq!(world.runtime.tasks(), 0);
    // Afterwards, events are dropped.
    recorder.normal(&shop(), "Scaled", "Scale", "c");
    assert_eq!(recorder.counts().dropped, 1);
    world.wait(recorder.stop(SECOND)).unwrap();
}

#[test]
fn a_stop_ends_in_time() {
    for fault in [Fault::Refuse, Fault::Stall { after: 0 }] {
        let world = World::new();
        let lines = logged(|| {
            let recorder = recorder(&world, &world.server);
            world.server.set_faults(FaultPlan::always(fault));
            recorder.normal(&shop(), "Scaled", "Scale", "a");
            recorder.normal(&shop(), "Scaled", "Scale", "b");
            let before = world.clock.now();
            let error = world.wait(recorder.stop(5 * SECOND)).unwrap_err();
            assert_eq!(error.left, 2);
            assert_eq!(world.clock.now().since(before), 5 * SECOND);
            world.settle();
            assert_eq!(world.runtime.tasks(), 0, "{fault:?}");
            assert_eq!(recorder.counts().failed, 2);
        });
        let said = saying(&lines, "events are lost: the recorder has ended");
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].get("lost"), Some("2"));
    }
}

#[test]
fn what_is_queued_is_written_after_the_last_handle_is_gone() {
    let world = World::new();
    let recorder = recorder(&world, &world.server);
    let clone = recorder.clone();
    recorder.normal(&shop(), "Scaled", "Scale", "a");
    drop(recorder);
    world.settle();
    assert_eq!(world.runtime.tasks(), 1, "there is another handle");
    clone.normal(&shop(), "Scaled", "Scale", "b");
    drop(clone);
    world.settle();
    assert_eq!(stored(&world).len(), 2);
    assert_eq!(world.runtime.tasks(), 0);
}

#[test]
fn nothing_is_tried_again_after_the_last_handle_is_gone() {
    for rests_first in [false, true] {
        let world = World::new();
        let lines = logged(|| {
            let recorder = recorder(&world, &world.server);
            world.server.inject(Fault::Refuse);
            recorder.normal(&shop(), "Scaled", "Scale", "a");
            if rests_first {
                world.settle();
            }
            drop(recorder);
            world.settle();
            assert_eq!(world.runtime.tasks(), 0);
        });
        let said = saying(&lines, "events are lost: the recorder has ended");
        assert_eq!(said.len(), 1);
    }
}

/// A runtime that ends drops the task.
#[test]
fn a_lost_task_says_so() {
    struct Keeping(Arc<Mutex<Vec<Task>>>, Manual);
    impl Runtime for Keeping {
        fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
            self.0.lock().unwrap().push(task);
            Ok(())
        }

        fn clock(&self) -> Arc<dyn Clock> {
            self.1.clock()
        }
    }
    let world = World::new();
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let runtime = Keeping(Arc::clone(&tasks), world.runtime.clone());
    let recorder = RecorderBuilder::new("scaler")
        .build(&world.server, runtime)
        .unwrap();
    // It has begun.
    let mut task = tasks.lock().unwrap().pop().unwrap();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(task.as_mut().poll(&mut cx).is_pending());
    recorder.normal(&shop(), "Scaled", "Scale", "a");
    let lines = logged(|| drop(task));
    assert_eq!(saying(&lines, "a recorder of events was lost").len(), 1);
    let error = world.wait(recorder.flush(SECOND)).unwrap_err();
    assert_eq!(error.left, 1);
    recorder.normal(&shop(), "Scaled", "Scale", "b");
    assert_eq!(recorder.counts().dropped, 1);
}

#[test]
fn names_are_checked() {
    let world = World::new();
    let build = |builder: RecorderBuilder| builder.build(&world.server, world.runtime.clone());
    for bad in ["", "my controller", "Example.com/x", "a/b/c"] {
        let error = build(RecorderBuilder::new(bad)).unwrap_err();
        assert!(matches!(error, RecorderError::Controller { .. }), "{error}");
    }
    for bad in ["", &"x".repeat(129)] {
        let error = build(RecorderBuilder::new("scaler").instance(bad)).unwrap_err();
        assert!(matches!(error, RecorderError::Instance { .. }), "{error}");
    }
    let recorder = build(RecorderBuilder::new("scaler")).unwrap();
    recorder.normal(&shop(), "Scaled", "Scale", "a");
    world.settle();
    let events = stored(&world);
    let instance = events[0]["reportingInstance"].as_str().unwrap();
    assert!(
        instance.starts_with("scaler-") && instance.len() > 7,
        "{instance}"
    );
}

#[tokio::test]
async fn it_runs_on_tokio() {
    let world = World::new();
    let recorder = Recorder::new(&world.server, "scaler").unwrap();
    recorder.normal(&shop(), "Scaled", "Scale", "a");
    recorder.stop(MINUTE).await.unwrap();
    let events = stored(&world);
    // The wall clock is that of the machine.
    assert!(events[0]["eventTime"].as_str().unwrap() > "2025-06-01T00:00:00.000000Z");
}

#[test]
fn it_does_not_start_without_a_runtime() {
    let world = World::new();
    let error = Recorder::new(&world.server, "scaler").unwrap_err();
    assert!(matches!(error, RecorderError::Runtime(_)), "{error}");
}
