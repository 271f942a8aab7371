//! An informer that is checked against the server.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::informer_core::reflector::{BackoffConfig, ReflectorConfig};
use informer::{
    Connect, Failure, FirstState, InformerBuilder, InformerConfig, LeanBody, Notification,
    Notifications, QueueKind, SharedInformer, Target,
};
use informer_test_support::{Folded, Strictness, view};
use informer_transport_mock::http::SharedServer;
use informer_transport_mock::{Server, ServerConfig};
use serde_json::json;
use tokio::task::JoinSet;

use crate::client;
use crate::view::view_of;

/// Far longer than any step of a test takes.
const LONG: Duration = Duration::from_secs(60).saturating_add(client::REREADS_WITHIN);

/// How the informer reads the first state, and which queue it uses.
pub(crate) type Way = (FirstState, QueueKind);

pub(crate) const LISTED: Way = (FirstState::Listed, QueueKind::InOrder);
pub(crate) const WAYS: [Way; 2] = [(FirstState::Streamed, QueueKind::DeltaFifo), LISTED];

/// Runs a test in every way, all at the same time: some clients read files once a minute.
pub(crate) async fn in_every_way<T>(test: impl Fn(Way) -> T)
where
    T: Future<Output = ()> + Send + 'static,
{
    let tests: JoinSet<()> = WAYS.into_iter().map(test).collect();
    tests.join_all().await;
}

/// A server with four pods. The last one never changes.
pub(crate) fn server() -> SharedServer {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    server.with(|server| {
        for name in ["a", "b", "c", "still"] {
            let pod = json!({"metadata": {"namespace": "web", "name": name}});
            server.create("pods", pod).unwrap();
        }
    });
    server
}

/// Changes a pod.
pub(crate) fn touch(server: &SharedServer, name: &str) {
    server.with(|server| {
        let touched = server.version().to_string();
        let change = json!({"metadata": {"annotations": {"touched": touched}}});
        server
            .patch("pods", &format!("web/{name}"), change)
            .unwrap();
    });
}

/// Changes a pod, deletes one, replaces one by a new one with the same name, and adds one.
pub(crate) fn change(server: &SharedServer, added: &str) {
    touch(server, "a");
    server.with(|server| {
        let pod = |name: &str| json!({"metadata": {"namespace": "web", "name": name}});
        server.delete("pods", "web/b").unwrap();
        server.delete("pods", "web/c").unwrap();
        server.create("pods", pod("c")).unwrap();
        server.create("pods", pod(added)).unwrap();
    });
}

/// The default configuration with short back-off.
pub(crate) fn impatient((first_state, queue): Way) -> InformerConfig {
    InformerConfig {
        reflector: ReflectorConfig {
            first_state,
            backoff: BackoffConfig {
                base: Duration::from_millis(2),
                cap: Duration::from_millis(20),
                ..BackoffConfig::new()
            },
            ..ReflectorConfig::new()
        },
        queue,
        ..InformerConfig::new()
    }
}

pub(crate) struct Followed {
    pub(crate) informer: SharedInformer<LeanBody>,
    told: Notifications<LeanBody>,
    folded: Folded,
    deleted: BTreeSet<String>,
    failures: Arc<Mutex<Vec<Failure>>>,
}

impl Followed {
    pub(crate) fn new(client: &impl Connect, behaviour: InformerConfig) -> Self {
        let failures = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&failures);
        let informer = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
            .preset(behaviour)
            .on_failure(move |last| noted.lock().unwrap().push(last.failure))
            .start(client)
            .unwrap();
        Self {
            told: informer.stream().unwrap(),
            informer,
            folded: Folded::new(Strictness::Once),
            deleted: BTreeSet::new(),
            failures,
        }
    }

    /// Waits until the notifications add up to the state of the server, and checks them.
    pub(crate) async fn catches_up(&mut self, server: &SharedServer, what: &str) {
        let wanted = server.with(|server| view_of(server));
        let told = async {
            while self.folded.view() != wanted {
                let notification = self.told.next().await.unwrap();
                if let Notification::Deleted { key, .. } = &notification {
                    self.deleted.insert(key.to_string());
                }
                self.folded.tell(&notification);
            }
        };
        if tokio::time::timeout(LONG, told).await.is_err() {
            let status = self.informer.status();
            panic!("{what}: the informer does not catch up: {status:#?}");
        }
        let version = server.with(|server| server.version().to_string());
        let store = self.informer.reached(&version, LONG).await.unwrap();
        assert_eq!(view(store.iter()), wanted, "{what}");
        assert_eq!(self.folded.faults(), [""; 0], "{what}");
        assert_eq!(self.told.status().unwrap().pending, 0, "{what}");
    }

    /// Checks that each object that [`change`] removed was reported as deleted.
    pub(crate) fn knows_who_vanished(&self, what: &str) {
        let vanished: Vec<&str> = self.deleted.iter().map(String::as_str).collect();
        assert_eq!(vanished, ["web/b", "web/c"], "{what}");
    }

    pub(crate) fn has_failed(&self, failure: Failure) -> bool {
        let same =
            |seen: &Failure| std::mem::discriminant(seen) == std::mem::discriminant(&failure);
        self.failures.lock().unwrap().iter().any(same)
    }

    pub(crate) fn forget_failures(&self) {
        self.failures.lock().unwrap().clear();
    }

    /// Waits for a failure of this class.
    pub(crate) async fn fails(&self, failure: Failure, what: &str) {
        let mut status = self.informer.status();
        let failed = async {
            while !self.has_failed(failure) {
                status = self.informer.status_change(&status).await.unwrap();
            }
        };
        if tokio::time::timeout(LONG, failed).await.is_err() {
            panic!(
                "{what}: no {failure:?}: {:?}",
                self.failures.lock().unwrap()
            );
        }
    }
}
