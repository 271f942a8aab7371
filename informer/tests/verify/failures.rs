//! Why a cache cannot be compared.

use std::time::Duration;

use informer::informer_core::transport::Signal;
use informer::runtime::Runtime as _;
use informer::{Failure, NotVerified, SharedInformer};
use informer_transport_mock::fault::Fault;
use serde_json::Value;

use crate::clients::{Nothing, canned, endless};
use crate::rig::{LONG, SOON, synced, verify, with_pods};
use crate::world::pods;

#[test]
fn failures_of_the_list_are_errors_with_a_class_and_a_message() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    let said = "missing permission to list pods in the whole cluster (grant it with RBAC)";
    let forbidden = canned(&[Signal::Failed {
        failure: Failure::Forbidden,
        message: said,
    }]);
    let error = world.wait(informer.verify(&forbidden, SOON)).unwrap_err();
    assert!(
        matches!(&error, NotVerified::Failed { failure: Failure::Forbidden, message, version, .. }
            if message == said && version == "2"),
        "{error:?}"
    );
    assert!(error.to_string().ends_with(&format!("({said})")), "{error}");

    let faults = [
        (Fault::Refuse, Failure::Unreachable),
        (Fault::Fail, Failure::Internal),
        (
            Fault::Throttle { retry_after: 7 },
            Failure::Throttled {
                retry_after: Some(Duration::from_secs(7)),
            },
        ),
        (Fault::Reset { after: 60 }, Failure::Broken),
        (
            Fault::Corrupt {
                nth: 0,
                nameless: true,
            },
            Failure::Undecodable,
        ),
    ];
    for (fault, expected) in faults {
        world.server.inject(fault);
        let error = verify(&world, &informer, SOON).unwrap_err();
        let NotVerified::Failed { failure, .. } = &error else {
            unreachable!("{fault:?}: {error}");
        };
        assert_eq!(*failure, expected, "{fault:?}: {error}");
    }
    // None of this touches the informer.
    assert_eq!(informer.status().counts.failures, 0);
    assert!(verify(&world, &informer, SOON).unwrap().is_consistent());
}

#[test]
fn lists_that_do_not_end_are_given_up() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    for (changes, why) in [
        (false, "a page leads to itself"),
        (true, "too many of its pages have no objects"),
    ] {
        let error = world
            .wait(informer.verify(&endless(changes), SOON))
            .unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    world.server.inject(Fault::Stall { after: 60 });
    let before = world.clock.now();
    let error = verify(&world, &informer, SOON).unwrap_err();
    assert!(
        matches!(&error, NotVerified::InTime { waited: SOON, .. }),
        "{error}"
    );
    assert_eq!(world.clock.now().since(before), SOON);
}

#[test]
fn a_server_that_answers_with_another_version_is_noticed() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    let newer = br#"{"kind":"PodList","metadata":{"resourceVersion":"99"},"items":[]}"#;
    let client = canned(&[Signal::Bytes(newer), Signal::Closed]);
    let error = world.wait(informer.verify(&client, SOON)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods.v1 cannot be compared with the server: it was asked for version 2 and answered with \
         version \"99\"; it does not support `resourceVersionMatch=Exact`"
    );
}

#[test]
fn a_list_that_ends_early_is_not_taken_for_a_short_one() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    let half = br#"{"kind":"PodList","metadata":{"resourceVersion":"2"},"items":["#;
    for answer in [
        &[Signal::Bytes(half), Signal::Closed][..],
        &[Signal::Closed],
    ] {
        let error = world
            .wait(informer.verify(&canned(answer), SOON))
            .unwrap_err();
        assert!(matches!(error, NotVerified::Failed { .. }), "{error}");
    }
}

#[test]
fn an_informer_without_a_state_cannot_be_compared() {
    let world = with_pods(&["a"]);
    let reason = |informer: &SharedInformer<Value>| {
        let error = verify(&world, informer, SOON).unwrap_err();
        match error {
            NotVerified::NoState {
                reason,
                expired: None,
                ..
            } => reason,
            error => unreachable!("{error}"),
        }
    };
    let idle = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    assert_eq!(reason(&idle), "it was not started; call `start`");
    let stopped = synced(&world, &pods());
    stopped.stop();
    let before = world.clock.now();
    assert_eq!(reason(&stopped), "it was stopped");
    // A verification that waits is told as well.
    let informer = idle.clone();
    let stop = async move { informer.stop() };
    world.runtime.spawn(Box::pin(stop)).unwrap();
    let error = verify(&world, &idle, LONG).unwrap_err();
    assert!(matches!(error, NotVerified::NoState { .. }), "{error}");
    assert_eq!(
        world.clock.now(),
        before,
        "nobody waits for an informer that has ended"
    );

    let error = world.wait(stopped.verify(&Nothing, SOON)).unwrap_err();
    assert_eq!(error.to_string(), "no runtime");
}
