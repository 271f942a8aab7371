//! Replicas, their lines to the server, and time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer::election::{Election, ElectionBuilder, ElectionConfig, Guard};
use informer::informer_core::transport::{Call, Caller, Calling, Reply, Unanswered};
use informer::runtime::{Manual, Runtime as _};
use informer::{Calls, ConnectError, Failure, Instant, ObjectKey};
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::Value;

pub(crate) const LEASE: &str = "web/shop";
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);
pub(crate) const DURATION: Duration = Duration::from_secs(15);
/// The longest wait of a follower between two attempts.
pub(crate) const RETRY: Duration = Duration::from_millis(4_400);

/// The answer of a server that forbids writes.
pub(crate) const FORBIDDEN: &str = r#"{"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":
"leases.coordination.k8s.io is forbidden: User \"shop\" cannot create resource \"leases\""}"#;

/// A server, the network, and the replicas.
pub(crate) struct Place {
    pub(crate) clock: VirtualClock,
    pub(crate) server: MockServer,
    /// Carries requests. What a replica has sent arrives, even if the replica does not wait for it.
    network: Manual,
    /// Those that run.
    replicas: RefCell<BTreeMap<usize, Manual>>,
    started: Cell<usize>,
}

/// One replica, and its line to the server.
pub(crate) struct Replica {
    pub(crate) election: Election,
    pub(crate) line: Line,
    runtime: Manual,
    number: usize,
}

/// What happens to a request on its way.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Open,
    /// It arrives this much later.
    Slow(Duration),
    /// It does not arrive.
    Cut,
    /// Another one answers writes.
    Writes(u16, &'static str),
}

#[derive(Clone)]
pub(crate) struct Line {
    way: Arc<Mutex<Way>>,
    server: MockServer,
    network: Manual,
    sent: Arc<Mutex<usize>>,
}

impl Line {
    pub(crate) fn set(&self, way: Way) {
        *self.way.lock().unwrap() = way;
    }

    /// How many requests have been sent.
    pub(crate) fn sent(&self) -> usize {
        *self.sent.lock().unwrap()
    }
}

impl Calls for Line {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Caller for Line {
    fn call(&self, call: Call) -> Calling {
        *self.sent.lock().unwrap() += 1;
        let (send, answer) = tokio::sync::oneshot::channel();
        let (server, clock) = (self.server.clone(), self.server.clock().clone());
        let way = self.way.lock().unwrap().clone();
        let task = async move {
            let answer = match way {
                Way::Cut => std::future::pending().await,
                Way::Writes(status, body) if !call.body.is_empty() => Ok(Reply {
                    status,
                    retry_after: None,
                    body: body.as_bytes().to_vec(),
                }),
                Way::Slow(by) => {
                    let due = clock.now().after(by);
                    std::future::poll_fn(|cx| clock.poll_until(due, cx)).await;
                    server.call(call).await
                }
                Way::Open | Way::Writes(..) => server.call(call).await,
            };
            // The replica may have stopped waiting.
            let _ = send.send(answer);
        };
        self.network.spawn(Box::pin(task)).unwrap();
        Box::pin(async move {
            let gone = |_| Err(Unanswered::new(Failure::Broken, "the network is gone"));
            answer.await.unwrap_or_else(gone)
        })
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        let clock = VirtualClock::new();
        Self {
            server: MockServer::new(ServerConfig::new(1), clock.clone()),
            network: Manual::new(Arc::new(clock.clone())),
            clock,
            replicas: RefCell::default(),
            started: Cell::new(0),
        }
    }

    pub(crate) fn replica(&self, identity: &str) -> Replica {
        self.replica_with(identity, ElectionConfig::new())
    }

    pub(crate) fn replica_with(&self, identity: &str, config: ElectionConfig) -> Replica {
        let runtime = Manual::new(Arc::new(self.clock.clone()));
        let line = self.line();
        let election = ElectionBuilder::new(key())
            .identity(identity)
            .config(config)
            .seed(identity.bytes().map(u64::from).sum())
            .start_on(&line, &runtime)
            .unwrap();
        let number = self.started.get();
        self.started.set(number + 1);
        self.replicas.borrow_mut().insert(number, runtime.clone());
        Replica {
            election,
            line,
            runtime,
            number,
        }
    }

    pub(crate) fn line(&self) -> Line {
        Line {
            way: Arc::new(Mutex::new(Way::Open)),
            server: self.server.clone(),
            network: self.network.clone(),
            sent: Arc::default(),
        }
    }

    /// A replica stops running, like a process under SIGSTOP.
    pub(crate) fn pause(&self, replica: &Replica) {
        self.replicas.borrow_mut().remove(&replica.number);
    }

    /// A replica that was paused goes on.
    pub(crate) fn resume(&self, replica: &Replica) {
        let runtime = replica.runtime.clone();
        self.replicas.borrow_mut().insert(replica.number, runtime);
    }

    /// Lets everything happen that is due.
    pub(crate) fn settle(&self) {
        // An attempt has three requests at most.
        for _ in 0..8 {
            for replica in self.replicas.borrow().values() {
                replica.run_until_idle();
            }
            self.network.run_until_idle();
        }
    }

    /// Goes on to the next thing that is due, at most until then.
    pub(crate) fn step(&self, limit: Instant) -> bool {
        let next = self.clock.next_deadline().filter(|next| *next <= limit);
        self.clock.set(next.unwrap_or(limit));
        self.settle();
        next.is_some()
    }

    pub(crate) fn pass(&self, time: Duration) {
        let limit = self.clock.now().after(time);
        self.settle();
        while self.step(limit) {}
    }

    /// Lets time pass until this holds, and returns how long it took.
    pub(crate) fn until(&self, limit: Duration, holds: impl Fn() -> bool) -> Duration {
        let began = self.clock.now();
        let limit = began.after(limit);
        self.settle();
        while !holds() {
            assert!(self.clock.now() < limit, "it did not come to pass");
            self.step(limit);
        }
        self.clock.now().since(began)
    }

    /// The Lease as the server has it.
    pub(crate) fn lease(&self) -> Option<Value> {
        self.server.with(|server| {
            let object = server.get("leases", LEASE)?;
            Some(serde_json::from_slice(object.json()).unwrap())
        })
    }

    pub(crate) fn spec(&self) -> Value {
        self.lease().unwrap()["spec"].clone()
    }

    /// Passes time until just after the leader has renewed its lease. Returns the time.
    pub(crate) fn until_renewed(&self) -> Instant {
        let before = self.spec()["renewTime"].clone();
        self.until(DEADLINE, || self.spec()["renewTime"] != before);
        self.clock.now()
    }
}

impl Replica {
    pub(crate) fn guard(&self) -> Guard {
        self.election.guard().unwrap()
    }
}

pub(crate) fn key() -> ObjectKey {
    ObjectKey::new("web", "shop")
}

/// Polls a future once, without anybody to wake.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}
