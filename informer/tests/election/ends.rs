//! What happens at the end of a replica.

use std::task::Poll;
use std::time::Duration;

use informer::election::ElectionBuilder;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};

use crate::place::{DEADLINE, DURATION, Place, RETRY, Way, key, poll};

#[test]
fn the_last_handle_gives_the_lease_up() {
    let place = Place::new();
    let (a, b) = (place.replica("a"), place.replica("b"));
    place.pass(Duration::from_secs(30));
    let guard = a.guard();
    let other = a.election.clone();
    drop(a.election);
    place.pass(DURATION);
    assert!(guard.holds());
    drop(other);
    assert!(!guard.holds());
    let waited = place.until(DURATION, || b.election.is_leader());
    assert!(waited <= RETRY, "{waited:?}");
}

#[test]
fn a_stopped_replica_says_so_to_all_that_wait() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    let b = place.replica("b");
    place.settle();
    let (mut leading, mut lost) = (b.election.leading(), a.election.lost());
    assert!(poll(&mut leading).is_pending());
    assert!(poll(&mut lost).is_pending());
    drop((a.election.stop(), b.election.stop()));
    assert!(poll(&mut lost).is_ready());
    let Poll::Ready(Err(stopped)) = poll(&mut leading) else {
        panic!("{}", b.election.status());
    };
    assert_eq!(
        stopped.to_string(),
        "the election for Lease web/shop has ended here: it was stopped"
    );
    assert!(matches!(
        poll(&mut a.election.leading()),
        Poll::Ready(Err(_))
    ));
    // A follower has nothing to give up.
    place.settle();
    let sent = b.line.sent();
    place.pass(DURATION);
    assert_eq!(b.line.sent(), sent);
}

#[test]
fn a_release_that_is_not_answered_is_waited_for_until_the_deadline() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    a.line.set(Way::Cut);
    let mut stopped = a.election.stop();
    let waited = place.until(DURATION, || a.election.status().ended.is_some());
    assert_eq!(waited, Duration::ZERO);
    place.pass(DEADLINE / 4);
    assert!(poll(&mut stopped).is_pending());
    place.pass(DEADLINE);
    assert!(poll(&mut stopped).is_ready());
    assert_eq!(place.spec()["holderIdentity"], "a");
}

#[test]
fn a_stop_is_waited_for_until_the_deadline_even_if_nothing_runs() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    place.pause(&a);
    let mut stopped = a.election.stop();
    assert!(poll(&mut stopped).is_pending());
    place.pass(DEADLINE);
    assert!(poll(&mut stopped).is_ready());
    assert!(!a.election.is_leader());
}

/// A renewal that was sent before the stop arrives after the release was asked for.
#[test]
fn a_late_renewal_does_not_undo_a_release() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    a.line.set(Way::Slow(Duration::from_secs(1)));
    let sent = a.line.sent();
    place.until(DEADLINE, || a.line.sent() > sent);
    a.line.set(Way::Open);
    drop(a.election.stop());
    place.pass(DURATION);
    assert_eq!(place.spec().get("holderIdentity"), None);
}

#[test]
fn a_runtime_that_ends_ends_the_replica() {
    let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (election, guard) = runtime.block_on(async {
        let election = ElectionBuilder::new(key()).start(&server).unwrap();
        let guard = election.leading().await.unwrap();
        (election, guard)
    });
    assert!(guard.holds());
    drop(runtime);
    assert!(!guard.holds());
    let Poll::Ready(Err(stopped)) = poll(&mut election.leading()) else {
        panic!("{}", election.status());
    };
    assert_eq!(stopped.reason, "its runtime has ended");
    assert!(poll(&mut election.lost()).is_ready());
    assert!(poll(&mut election.stop()).is_ready());
}

#[tokio::test]
async fn a_client_that_panics_ends_the_replica() {
    use informer::informer_core::transport::{Call, Caller, Calling};
    struct Panics;
    impl Caller for Panics {
        fn call(&self, _: Call) -> Calling {
            panic!("no such luck");
        }
    }
    impl informer::Calls for Panics {
        fn caller(&self) -> Result<std::sync::Arc<dyn Caller>, informer::ConnectError> {
            Ok(std::sync::Arc::new(Self))
        }
    }
    let election = ElectionBuilder::new(key()).start(&Panics).unwrap();
    let stopped = election.leading().await.unwrap_err();
    assert_eq!(stopped.reason, "it panicked: no such luck");
}
