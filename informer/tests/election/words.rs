//! What people read: status and errors. Logs: `election_logs.rs`.

use std::sync::Arc;
use std::time::Duration;

use informer::ObjectKey;
use informer::election::{ElectionBuilder, ElectionConfig, ElectionError};
use informer::runtime::Manual;

use crate::place::{DURATION, FORBIDDEN, Place, RETRY, Way, key};

const NO_NAMESPACE: &str = r#"{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":
"namespaces \"web\" not found"}"#;

#[test]
fn a_missing_permission_shows_in_the_status_until_it_is_granted() {
    let place = Place::new();
    let a = place.replica("a");
    a.line.set(Way::Writes(403, FORBIDDEN));
    place.settle();
    let status = a.election.status();
    assert_eq!(
        status.to_string(),
        "nobody holds Lease web/shop; a does not lead; 1 request failed, the last one 0ms ago: cannot \
         create leases.coordination.k8s.io web/shop: leases.coordination.k8s.io is forbidden: User \
         \"shop\" cannot create resource \"leases\"; grant the permission with RBAC: an election needs get, \
         create and update on leases.coordination.k8s.io in that namespace"
    );
    place.pass(Duration::from_secs(60));
    let failure = a.election.status().failure.unwrap();
    assert!((10..=32).contains(&failure.count), "{failure:?}");
    a.line.set(Way::Open);
    place.until(RETRY, || a.election.is_leader());
    assert_eq!(a.election.status().failure, None);
}

#[test]
fn a_missing_namespace_shows_in_the_status() {
    let place = Place::new();
    let a = place.replica("a");
    a.line.set(Way::Writes(404, NO_NAMESPACE));
    place.settle();
    let status = a.election.status().to_string();
    assert!(status.ends_with("namespaces \"web\" not found"), "{status}");
}

#[test]
fn a_server_that_does_not_answer_shows_in_the_status() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    a.line.set(Way::Cut);
    place.pass(Duration::from_secs(7));
    let status = a.election.status();
    assert!(status.leads, "{status}");
    let failure = status.failure.unwrap().message;
    assert_eq!(failure, "the server has not answered for 5s");
    a.line.set(Way::Open);
    place.pass(DURATION);
    assert_eq!(a.election.status().failure, None);
}

#[test]
fn the_status_says_who_leads_and_since_when() {
    let place = Place::new();
    let (a, b) = (place.replica("a"), place.replica("b"));
    place.settle();
    let since = place.spec()["acquireTime"].as_str().unwrap().to_owned();
    assert_eq!(
        a.election.status().to_string(),
        format!("a holds Lease web/shop since {since}; a leads, with token 0")
    );
    place.pass(RETRY);
    assert_eq!(
        b.election.status().to_string(),
        format!("a holds Lease web/shop since {since}; b does not lead")
    );
    drop(b.election.stop());
    let status = b.election.status().to_string();
    assert!(status.ends_with("b has ended: it was stopped"), "{status}");
}

#[test]
fn settings_that_do_not_fit_have_typed_errors() {
    let place = Place::new();
    let line = place.line();
    let runtime = Manual::new(Arc::new(place.clock));
    let start = |builder: ElectionBuilder| builder.start_on(&line, &runtime).unwrap_err();

    let mut config = ElectionConfig::new();
    config.renew_deadline = config.lease_duration;
    let error = start(ElectionBuilder::new(key()).config(config));
    assert!(matches!(error, ElectionError::Settings(_)), "{error}");
    let error = start(ElectionBuilder::new(key()).identity(""));
    assert!(matches!(error, ElectionError::Settings(_)), "{error}");
    for (namespace, name, text) in [
        (
            "",
            "shop",
            r#""shop" cannot be a Lease: a Lease has a namespace: that of the program"#,
        ),
        (
            "web",
            "",
            r#""web/" cannot be a Lease: choose a name, such as that of the program"#,
        ),
        (
            "Web",
            "shop",
            "\"Web/shop\" cannot be a Lease: \"Web\" cannot be a namespace; write lower-case letters, digits \
             and `-`, at most 63, such as `kube-system`",
        ),
    ] {
        let error = start(ElectionBuilder::new(ObjectKey::new(namespace, name)));
        assert!(matches!(error, ElectionError::Lease { .. }), "{error}");
        assert_eq!(error.to_string(), text);
    }
    let error = ElectionBuilder::new(key()).start(&line).unwrap_err();
    assert!(matches!(error, ElectionError::Runtime(_)), "{error}");
}
