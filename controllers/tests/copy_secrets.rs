//! The controller of the guide, on the mock in virtual time: through the loss of leadership in the middle of a
//! reconciliation, a conflict, an expired version and a restart. It has forty lines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../src/bin/copy_secrets.rs"]
#[allow(dead_code, reason = "the program has a `main`")]
mod copy_secrets;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::election::{Election, ElectionBuilder};
use informer::informer_core::transport::{Call, Caller, Calling, Unanswered};
use informer::informer_transport_mock::fault::Fault;
use informer::informer_transport_mock::transport::MockTransport;
use informer::informer_transport_mock::{MockServer, Server, ServerConfig, VirtualClock};
use informer::runtime::{Manual, Runtime as _};
use informer::{Calls, Connect, ConnectError, Failure, ObjectKey, Target};
use serde_json::{Value, json};

struct World {
    clock: VirtualClock,
    server: MockServer,
    runtime: Manual,
}

impl World {
    fn new() -> Self {
        let clock = VirtualClock::new();
        Self {
            server: MockServer::new(ServerConfig::new(1), clock.clone()),
            runtime: Manual::new(Arc::new(clock.clone())),
            clock,
        }
    }

    /// Lets time pass, deadline by deadline.
    fn pass(&self, time: Duration) {
        self.runtime.run_until_idle();
        let end = self.clock.now().after(time);
        while self.clock.next_deadline().is_some_and(|next| next < end) {
            self.clock.advance_to_next();
            self.runtime.run_until_idle();
        }
        self.clock.set(end);
        self.runtime.run_until_idle();
    }

    fn put(&self, colour: &str) {
        let map = json!({
            "metadata": {"namespace": "web", "name": "shop", "labels": {"copy-to": "secret"}},
            "data": {"colour": colour},
        });
        self.server
            .with(|server| match server.get("configmaps", "web/shop") {
                None => server.create("configmaps", map).map(drop).unwrap(),
                Some(_) => server.update("configmaps", map).map(drop).unwrap(),
            });
    }

    /// The Secret, and its colour in Base64.
    fn secret(&self) -> Option<(String, Value)> {
        self.server.with(|server| {
            let secret = server.get("secrets", "web/shop")?;
            let data = secret.value().get("data").unwrap();
            let colour = data.get("colour").unwrap().clone();
            Some((secret.version().to_string(), colour))
        })
    }
}

/// The client of one replica, whose writes can be cut off.
#[derive(Clone)]
struct Line {
    server: MockServer,
    is_cut: Arc<AtomicBool>,
}

impl Connect for Line {
    type Transport = MockTransport;

    fn connect(&self, target: &Target) -> Result<MockTransport, ConnectError> {
        Ok(self.server.transport(target, 0))
    }
}

impl Calls for Line {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Caller for Line {
    fn call(&self, call: Call) -> Calling {
        if !self.is_cut.load(Ordering::Relaxed) {
            return self.server.call(call);
        }
        if call.path.contains("/leases/") {
            let error = Unanswered::new(Failure::Unreachable, "cut");
            return Box::pin(async { Err(error) });
        }
        // A write that hangs: the reconciliation is in the middle of it.
        Box::pin(std::future::pending())
    }
}

/// A replica of the program.
struct Replica {
    line: Line,
    election: Election,
    ended: Arc<Mutex<Option<String>>>,
}

fn start(world: &World, name: &str) -> Replica {
    let line = Line {
        server: world.server.clone(),
        is_cut: Arc::default(),
    };
    let election = ElectionBuilder::new(ObjectKey::new("copy-secrets", "copy-secrets"))
        .identity(name)
        .seed(1)
        .start_on(&line, &world.runtime)
        .unwrap();
    let controller = copy_secrets::controller(&line, &election);
    let running = controller.run_on(world.runtime.clone(), copy_secrets::reconcile);
    let ended: Arc<Mutex<Option<String>>> = Arc::default();
    let end = Arc::clone(&ended);
    let task = async move {
        let ended = format!("{:?}", running.await);
        *end.lock().unwrap() = Some(ended);
    };
    world.runtime.spawn(Box::pin(task)).unwrap();
    world.pass(Duration::from_secs(3));
    Replica {
        line,
        election,
        ended,
    }
}

const RED: &str = "cmVk";
const BLUE: &str = "Ymx1ZQ==";

#[test]
fn a_secret_follows_its_config_map() {
    let world = World::new();
    world.put("red");
    let replica = start(&world, "one");
    let (version, colour) = world.secret().unwrap();
    assert_eq!(colour, RED);
    // Nothing is written if nothing is to be done.
    world.pass(Duration::from_secs(600));
    assert_eq!(world.secret().unwrap().0, version);
    world.put("blue");
    world.pass(Duration::from_secs(1));
    assert_eq!(world.secret().unwrap().1, BLUE);
    // What others change is put right.
    let change = json!({"data": {"colour": RED}});
    world
        .server
        .with(|server| server.patch("secrets", "web/shop", change))
        .unwrap();
    world.pass(Duration::from_secs(1));
    assert_eq!(world.secret().unwrap().1, BLUE);
    world
        .server
        .with(|server| server.delete("secrets", "web/shop"))
        .unwrap();
    world.pass(Duration::from_secs(1));
    assert_eq!(world.secret().unwrap().1, BLUE);
    assert_eq!(*replica.ended.lock().unwrap(), None);
}

#[test]
fn leadership_is_lost_in_the_middle_of_a_reconciliation() {
    let world = World::new();
    let (one, two) = (start(&world, "one"), start(&world, "two"));
    assert!(one.election.is_leader());
    one.line.is_cut.store(true, Ordering::Relaxed);
    world.put("red");
    world.pass(Duration::from_secs(9));
    assert!(world.secret().is_none());
    // Nobody leads before somebody else does.
    world.pass(Duration::from_secs(3));
    assert!(!one.election.is_leader() && !two.election.is_leader());
    world.pass(Duration::from_secs(15));
    assert!(two.election.is_leader());
    assert_eq!(world.secret().unwrap().1, RED);
    // The first one comes back, and only follows.
    one.line.is_cut.store(false, Ordering::Relaxed);
    world.put("blue");
    world.pass(Duration::from_secs(30));
    assert!(!one.election.is_leader() && two.election.is_leader());
    assert_eq!(world.secret().unwrap().1, BLUE);
}

#[test]
fn a_conflict_is_retried() {
    let world = World::new();
    let _replica = start(&world, "one");
    world.server.inject(Fault::Conflict);
    world.put("red");
    world.runtime.run_until_idle();
    assert!(world.secret().is_none());
    assert_eq!(world.server.fault_counts().get("conflict"), Some(&1));
    world.pass(Duration::from_secs(1));
    assert_eq!(world.secret().unwrap().1, RED);
}

#[test]
fn an_expired_version_loses_nothing() {
    let world = World::new();
    world.put("red");
    let _replica = start(&world, "one");
    // The watches are cut, and the server forgets the changes that they have not seen.
    world.server.with(Server::restart);
    world.put("blue");
    world.server.with(Server::forget_changes);
    world.pass(Duration::from_secs(60));
    assert_eq!(world.secret().unwrap().1, BLUE);
}

#[test]
fn a_new_process_takes_up_the_work() {
    let world = World::new();
    world.put("red");
    let replica = start(&world, "one");
    let version = world.secret().unwrap().0;
    // The process is killed: it no longer renews, and releases nothing.
    replica.line.is_cut.store(true, Ordering::Relaxed);
    let _next = start(&world, "two");
    world.pass(Duration::from_secs(60));
    // What is right is not written again.
    assert_eq!(world.secret().unwrap().0, version);
    world.put("blue");
    world.pass(Duration::from_secs(1));
    assert_eq!(world.secret().unwrap().1, BLUE);
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn the_guide_shows_forty_lines() {
    let program = read("src/bin/copy_secrets.rs");
    let (_, after_imports) = program.split_once("\n\ntype Failure").unwrap();
    let lines = after_imports.lines().count();
    assert!(lines <= 40, "{lines}");
    let guide = read("../docs/guide.md");
    assert!(
        guide.contains(program.trim()),
        "the guide has another program"
    );
}
