//! A mock API server, virtual time, and informers between them, all driven by hand.
#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

// A server that is faster than any client.
pub mod flood;

// Captured log events.
pub mod logged;

// A strict reader of metrics.
pub mod openmetrics;

// Seeded random numbers.
pub mod random;

// Captured spans.
pub mod spanned;

// Bodies that count how many are alive.
pub mod tracked;

// The objects of a server.
pub mod view;

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::runtime::Manual;
use informer::{Notification, Object, SharedInformer, Target};
use informer_test_support::{View, words};
use informer_transport_mock::transport::MockTransport;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::{Value, json};

pub type Pod = Object<Value>;

/// Waits in virtual time.
pub async fn sleep(clock: &VirtualClock, time: Duration) {
    let deadline = clock.now().after(time);
    poll_fn(|cx| clock.poll_until(deadline, cx)).await;
}

pub struct World {
    pub clock: VirtualClock,
    pub server: MockServer,
    pub runtime: Manual,
}

impl World {
    pub fn new() -> Self {
        let clock = VirtualClock::new();
        Self {
            server: MockServer::new(ServerConfig::new(1), clock.clone()),
            runtime: Manual::new(Arc::new(clock.clone())),
            clock,
        }
    }

    pub fn connect(&self) -> impl Fn(&Target) -> MockTransport + Clone + use<> {
        self.server.connect()
    }

    /// Runs all tasks that can run now.
    pub fn settle(&self) {
        self.runtime.run_until_idle();
    }

    /// Lets time pass in steps, so that every task runs at its own deadline.
    pub fn pass(&self, time: Duration) {
        self.settle();
        let end = self.clock.now().after(time);
        while self.clock.next_deadline().is_some_and(|next| next < end) {
            self.clock.advance_to_next();
            self.settle();
        }
        self.clock.set(end);
        self.settle();
    }

    /// Runs a future to its end, and lets time pass as needed.
    pub fn wait<R>(&self, future: impl Future<Output = R>) -> R {
        let mut future = Box::pin(future);
        loop {
            future = match self.runtime.run(future) {
                Ok(output) => return output,
                Err(future) => future,
            };
            assert!(
                self.clock.advance_to_next().is_some(),
                "the future would wait for ever"
            );
        }
    }

    /// Creates a pod and returns its version.
    pub fn create(&self, name: &str) -> String {
        self.server.with(|server| {
            let pod =
                json!({"metadata": {"namespace": "web", "name": name, "labels": {"app": name}}});
            server.create("pods", pod).unwrap();
            server.version().to_string()
        })
    }

    pub fn touch(&self, name: &str) -> String {
        self.server.with(|server| {
            let version = server.version();
            let change = json!({"spec": {"touched": version}});
            server
                .patch("pods", &format!("web/{name}"), change)
                .unwrap();
            server.version().to_string()
        })
    }

    /// The objects of the server.
    pub fn view(&self) -> View {
        self.server.with(|server| view::view_of(server))
    }

    pub fn delete(&self, name: &str) {
        self.server
            .with(|server| server.delete("pods", &format!("web/{name}")).unwrap());
    }
}

pub fn pods() -> informer::InformerBuilder<Value> {
    informer::InformerBuilder::dynamic_at(Target::new("", "v1", "pods")).seed(1)
}

/// The notifications of a handler, as text.
#[derive(Clone, Default)]
pub struct Told(pub Arc<Mutex<Vec<String>>>);

impl Told {
    pub fn handler(&self) -> impl FnMut(Notification<Pod>) + Send + 'static + use<> {
        let told = self.clone();
        move |notification| told.0.lock().unwrap().push(words(&notification))
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

pub fn keys(informer: &SharedInformer<Value>) -> Vec<String> {
    let mut keys: Vec<_> = informer
        .snapshot()
        .keys()
        .map(ToString::to_string)
        .collect();
    keys.sort();
    keys
}
