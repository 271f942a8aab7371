//! Finalizers: added, cleaned up once, removed; those of others stay.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::{Arc, Mutex};

use informer::finalizer::{Duty, Ensured, Finalizer, FinalizerError};
use informer::informer_core::decode::form::{As, Typed};
use informer::informer_core::decode::{Dynamic, Fields, Lean, MetadataOnly, decode_object};
use informer::informer_core::transport::{Call, Caller, Calling, Method};
use informer::informer_transport_mock::fault::{Fault, FaultPlan};
use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use informer::{Api, ApiErrorKind, Calls, ConnectError, Kind, Object, ObjectKey, Target};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const OURS: &str = "example.com/cleanup";
const THEIRS: &str = "example.org/backup";

/// As users write their own types: nothing is said of finalizers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: std::collections::BTreeMap<String, String>,
}

impl Kind for ConfigMap {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "ConfigMap";
    const PLURAL: &'static str = "configmaps";
}

/// A server whose requests are counted, and on which others write before a request is carried out.
#[derive(Clone)]
struct Busy {
    server: MockServer,
    before: Arc<Mutex<Before>>,
    sent: Arc<Mutex<Vec<&'static str>>>,
}

type Before = Box<dyn FnMut(&MockServer, &Call) + Send>;

impl Busy {
    fn new() -> Self {
        Self {
            server: MockServer::new(ServerConfig::new(1), VirtualClock::new()),
            before: Arc::new(Mutex::new(Box::new(|_, _| {}))),
            sent: Arc::default(),
        }
    }

    /// Does this before each request.
    fn before(&self, act: impl FnMut(&MockServer, &Call) + Send + 'static) {
        *self.before.lock().unwrap() = Box::new(act);
    }

    fn take_sent(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }

    fn api(&self) -> Api<Value> {
        Api::dynamic_at(self, Target::new("", "v1", "configmaps")).unwrap()
    }

    /// Creates the object with these finalizers.
    fn create(&self, finalizers: &[&str]) -> Object<Value> {
        let object = json!({"metadata": {
            "namespace": "web", "name": "shop", "finalizers": finalizers,
        }});
        self.server
            .with(|server| server.create("configmaps", object))
            .unwrap();
        self.object()
    }

    /// The object as a cache would have it now.
    fn object(&self) -> Object<Value> {
        decode_object(&mut Dynamic, self.json().to_string().as_bytes()).unwrap()
    }

    fn json(&self) -> Value {
        let found = self.server.with(|server| {
            let object = server.get("configmaps", "web/shop");
            object.map(|object| serde_json::from_slice(object.json()).unwrap())
        });
        found.unwrap()
    }

    fn exists(&self) -> bool {
        self.server
            .with(|server| server.get("configmaps", "web/shop").is_some())
    }

    fn finalizers(&self) -> Value {
        self.json()["metadata"]["finalizers"].clone()
    }

    fn delete(&self) {
        self.server
            .with(|server| server.delete("configmaps", "web/shop"))
            .unwrap();
    }

    fn patch(&self, change: Value) {
        patch(&self.server, change);
    }
}

fn patch(server: &MockServer, change: Value) {
    server
        .with(|server| server.patch("configmaps", "web/shop", change))
        .unwrap();
}

impl Calls for Busy {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Caller for Busy {
    fn call(&self, call: Call) -> Calling {
        (self.before.lock().unwrap())(&self.server, &call);
        self.sent.lock().unwrap().push(call.method.as_str());
        self.server.call(call)
    }
}

fn ours() -> Finalizer {
    Finalizer::new(OURS).unwrap()
}

/// Runs the finalizer and says what it asked for.
async fn run(busy: &Busy, object: &Object<Value>) -> Result<Option<&'static str>, FinalizerError> {
    ours()
        .run(&busy.api(), object, |duty| {
            // The finalizer is stored before anything is done.
            assert!(
                busy.json()["metadata"]["finalizers"]
                    .to_string()
                    .contains(OURS)
            );
            async move {
                Ok::<_, &str>(match duty {
                    Duty::Apply(_) => "apply",
                    Duty::CleanUp(_) => "clean up",
                })
            }
        })
        .await
}

/// The error of a run whose work fails.
async fn failing(busy: &Busy, object: &Object<Value>, why: &'static str) -> FinalizerError {
    let ran = ours()
        .run(&busy.api(), object, |_| async move { Err::<(), _>(why) })
        .await;
    ran.unwrap_err()
}

#[test]
fn names_are_a_domain_and_a_name() {
    for bad in [
        "",
        "cleanup",
        "example.com/",
        "Example.com/x",
        "example.com/a/b",
    ] {
        let error = Finalizer::new(bad).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{bad:?} is not the name of a finalizer: ")),
            "{error}"
        );
    }
    assert_eq!(ours().name(), OURS);
    assert_eq!(ours().to_string(), OURS);
}

#[tokio::test]
async fn a_life_from_the_first_apply_to_the_clean_up() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    assert_eq!(run(&busy, &object).await.unwrap(), Some("apply"));
    assert_eq!(busy.take_sent(), ["GET", "PATCH"]);
    assert_eq!(busy.finalizers(), json!([OURS]));

    // It is in the object: the server need not be asked.
    assert_eq!(run(&busy, &busy.object()).await.unwrap(), Some("apply"));
    assert!(busy.take_sent().is_empty());

    busy.delete();
    let deleted = busy.object();
    assert_eq!(run(&busy, &deleted).await.unwrap(), Some("clean up"));
    assert!(!busy.exists());
    // The cache may not know it yet.
    assert_eq!(run(&busy, &deleted).await.unwrap(), None);
    assert_eq!(run(&busy, &object).await.unwrap(), None);
}

#[tokio::test]
async fn it_is_added_once() {
    let busy = Busy::new();
    let object = busy.create(&[THEIRS]);
    let added = ours().ensure(&busy.api(), &object).await.unwrap();
    let version = busy.object().version().to_owned();
    assert_eq!(
        added,
        Ensured::Added {
            version: version.clone()
        }
    );
    assert_eq!(busy.finalizers(), json!([THEIRS, OURS]));
    // A cache that lags behind does not add it again.
    let again = ours().ensure(&busy.api(), &object).await.unwrap();
    assert_eq!(again, Ensured::Present);
    assert_eq!(busy.object().version(), version);
}

#[tokio::test]
async fn it_is_never_added_to_an_object_that_is_being_deleted() {
    let busy = Busy::new();
    let object = busy.create(&[THEIRS]);
    busy.delete();
    for object in [object, busy.object()] {
        let ensured = ours().ensure(&busy.api(), &object).await.unwrap();
        assert_eq!(ensured, Ensured::Deleting);
        assert_eq!(run(&busy, &object).await.unwrap(), None);
    }
    assert_eq!(busy.finalizers(), json!([THEIRS]));
}

/// The deletion comes between our reading and our writing.
#[tokio::test]
async fn a_deletion_may_come_first() {
    for finalizers in [&[THEIRS][..], &[]] {
        let busy = Busy::new();
        let object = busy.create(finalizers);
        let mut is_first = true;
        busy.before(move |server, call| {
            if call.method == Method::Patch && std::mem::take(&mut is_first) {
                server
                    .with(|server| server.delete("configmaps", "web/shop"))
                    .unwrap();
            }
        });
        let ensured = ours().ensure(&busy.api(), &object).await.unwrap();
        let expected = if finalizers.is_empty() {
            Ensured::Gone
        } else {
            Ensured::Deleting
        };
        assert_eq!(ensured, expected);
        assert_eq!(run(&busy, &object).await.unwrap(), None);
    }
}

#[tokio::test]
async fn what_is_not_there_is_removed() {
    let busy = Busy::new();
    let object = busy.create(&[THEIRS]);
    let version = object.version().to_owned();
    ours().remove(&busy.api(), &object).await.unwrap();
    assert_eq!(busy.object().version(), version, "nothing was written");
    busy.patch(json!({"metadata": {"finalizers": null}}));
    busy.delete();
    ours().remove(&busy.api(), &object).await.unwrap();
    assert_eq!(
        ours().ensure(&busy.api(), &object).await.unwrap(),
        Ensured::Gone
    );
}

#[tokio::test]
async fn only_ours_is_removed() {
    let busy = Busy::new();
    let object = busy.create(&["a.example.com/x", OURS, THEIRS]);
    ours().remove(&busy.api(), &object).await.unwrap();
    assert_eq!(busy.finalizers(), json!(["a.example.com/x", THEIRS]));
}

/// Another controller adds and removes its finalizers between our reading and our writing.
#[tokio::test]
async fn finalizers_of_others_survive_races() {
    let busy = Busy::new();
    let object = busy.create(&["a.example.com/x"]);
    let races = |add: Value| {
        let mut is_first = true;
        busy.before(move |server, call| {
            if call.method == Method::Patch && std::mem::take(&mut is_first) {
                patch(server, json!({"metadata": {"finalizers": add}}));
            }
        });
    };
    races(json!(["a.example.com/x", THEIRS]));
    ours().ensure(&busy.api(), &object).await.unwrap();
    assert_eq!(busy.finalizers(), json!(["a.example.com/x", THEIRS, OURS]));
    assert_eq!(busy.take_sent(), ["GET", "PATCH", "GET", "PATCH"]);

    races(json!([THEIRS, OURS]));
    ours().remove(&busy.api(), &object).await.unwrap();
    assert_eq!(busy.finalizers(), json!([THEIRS]));

    // They remove ours for us.
    patch(
        &busy.server,
        json!({"metadata": {"finalizers": [THEIRS, OURS]}}),
    );
    races(json!([THEIRS]));
    ours().remove(&busy.api(), &object).await.unwrap();
    assert_eq!(busy.finalizers(), json!([THEIRS]));
}

#[tokio::test]
async fn an_object_that_changes_all_the_time_is_a_conflict() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    let mut number = 0;
    busy.before(move |server, call| {
        if call.method == Method::Patch {
            number += 1;
            patch(server, json!({"data": {"number": number.to_string()}}));
        }
    });
    let error = ours().ensure(&busy.api(), &object).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Conflict);
    assert_eq!(busy.take_sent().len(), 10, "five tries");
    let error = run(&busy, &object).await.unwrap_err();
    assert!(
        matches!(error, FinalizerError::Api(_)),
        "nothing was applied: {error}"
    );
    assert_eq!(busy.finalizers(), json!(null));
}

/// The cache has the object that was deleted, and the server another one of the same name.
#[tokio::test]
async fn another_object_of_the_same_name_is_left_alone() {
    let busy = Busy::new();
    let old = busy.create(&[]);
    busy.delete();
    busy.create(&[OURS]);
    assert_eq!(
        ours().ensure(&busy.api(), &old).await.unwrap(),
        Ensured::Gone
    );
    ours().remove(&busy.api(), &old).await.unwrap();
    assert_eq!(busy.finalizers(), json!([OURS]));
    busy.delete();
    let old = Object::builder(ObjectKey::new("web", "shop"))
        .uid(old.uid())
        .deletion_time("2025-01-01T00:00:00Z")
        .body(json!({}));
    assert_eq!(run(&busy, &old).await.unwrap(), None);
    assert!(busy.exists());
}

#[tokio::test]
async fn a_clean_up_that_fails_keeps_the_finalizer() {
    let busy = Busy::new();
    busy.create(&[OURS]);
    busy.delete();
    let object = busy.object();
    let error = failing(&busy, &object, "the bucket is full").await;
    assert_eq!(error.to_string(), "the clean-up failed: the bucket is full");
    assert!(matches!(error, FinalizerError::CleanUp(_)));
    assert_eq!(busy.finalizers(), json!([OURS]));
    assert_eq!(run(&busy, &object).await.unwrap(), Some("clean up"));
    assert!(!busy.exists());
}

#[tokio::test]
async fn an_apply_that_fails_keeps_the_finalizer() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    let error = failing(&busy, &object, "no room").await;
    assert_eq!(error.to_string(), "no room");
    assert_eq!(busy.finalizers(), json!([OURS]));
}

/// The answer to the removal is lost. The next run finds the object gone and does not clean up again.
#[tokio::test]
async fn a_lost_answer_does_not_repeat_the_clean_up() {
    let busy = Busy::new();
    busy.create(&[OURS]);
    busy.delete();
    let object = busy.object();
    // The object is read, read again and written.
    let lost = FaultPlan::script([None, None, Some(Fault::Reset { after: 0 })]);
    busy.server.set_faults(lost);
    let error = run(&busy, &object).await.unwrap_err();
    let FinalizerError::Api(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.kind, ApiErrorKind::Unanswered);
    assert!(!busy.exists());
    assert_eq!(run(&busy, &object).await.unwrap(), None);
}

/// The same when it is added: the next run sees that it is there.
#[tokio::test]
async fn a_lost_answer_does_not_add_it_twice() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    busy.server
        .set_faults(FaultPlan::script([None, Some(Fault::Reset { after: 0 })]));
    assert!(run(&busy, &object).await.is_err());
    assert_eq!(run(&busy, &object).await.unwrap(), Some("apply"));
    assert_eq!(busy.finalizers(), json!([OURS]));
}

#[tokio::test]
async fn nothing_is_done_without_a_server() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    for fault in [
        Fault::Refuse,
        Fault::Fail,
        Fault::Throttle { retry_after: 1 },
    ] {
        for script in [vec![Some(fault)], vec![None, Some(fault)]] {
            busy.server.set_faults(FaultPlan::script(script));
            assert!(run(&busy, &object).await.is_err(), "{fault:?}");
        }
    }
    assert_eq!(busy.finalizers(), json!(null));
    busy.patch(json!({"metadata": {"finalizers": [OURS]}}));
    busy.delete();
    busy.server.inject(Fault::Refuse);
    let object = busy.object();
    assert!(run(&busy, &object).await.is_err(), "nothing was cleaned up");
    assert_eq!(run(&busy, &object).await.unwrap(), Some("clean up"));
}

/// Every form shows the finalizers, so that no request is needed to see that ours is there.
#[tokio::test]
async fn every_form_shows_them() {
    #[derive(Serialize, Deserialize)]
    struct Whole {
        metadata: Finalizers,
    }
    #[derive(Serialize, Deserialize)]
    struct Finalizers {
        finalizers: Vec<String>,
    }
    async fn is_present<B>(busy: &Busy, object: &Object<B>) -> usize
    where
        Object<B>: Fields,
    {
        let ensured = ours().ensure(&busy.api(), object).await.unwrap();
        assert_eq!(ensured, Ensured::Present);
        busy.take_sent().len()
    }
    let busy = Busy::new();
    busy.create(&[THEIRS, OURS]);
    let json = busy.json().to_string();
    let json = json.as_bytes();
    let requests = [
        is_present(&busy, &decode_object(&mut Lean, json).unwrap()).await,
        is_present(
            &busy,
            &decode_object(&mut As::<Lean, ConfigMap>::new(), json).unwrap(),
        )
        .await,
        is_present(&busy, &decode_object(&mut MetadataOnly, json).unwrap()).await,
        is_present(&busy, &decode_object(&mut Dynamic, json).unwrap()).await,
        is_present(
            &busy,
            &decode_object(&mut Typed::<Whole>::new(), json).unwrap(),
        )
        .await,
    ];
    assert_eq!(requests, [0; 5]);
    // This type does not show them. The server is asked, and those of others are safe.
    let map = decode_object(&mut Typed::<ConfigMap>::new(), json).unwrap();
    assert_eq!(is_present(&busy, &map).await, 1);
    busy.patch(json!({"metadata": {"finalizers": [THEIRS]}}));
    ours().ensure(&busy.api(), &map).await.unwrap();
    assert_eq!(busy.finalizers(), json!([THEIRS, OURS]));
}

/// The API of a status serves as well: finalizers belong to the whole object.
#[tokio::test]
async fn the_whole_object_is_changed_through_any_api() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    let api = Api::<ConfigMap>::new(&busy).unwrap();
    ours().ensure(&api.status(), &object).await.unwrap();
    assert_eq!(busy.finalizers(), json!([OURS]));
    ours().remove(&api.scale(), &object).await.unwrap();
    assert_eq!(busy.finalizers(), json!(null));
}

/// Workers of a controller run it in tasks.
#[tokio::test]
async fn a_run_is_a_task() {
    let busy = Busy::new();
    let object = busy.create(&[]);
    let api = busy.api();
    let done = tokio::spawn(async move {
        ours()
            .run(&api, &object, |duty| async move {
                matches!(duty, Duty::Apply(_))
                    .then_some(())
                    .ok_or("not that")
            })
            .await
    });
    assert_eq!(done.await.unwrap().unwrap(), Some(()));
}
