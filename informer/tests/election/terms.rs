//! How leadership begins and ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer::election::{ElectionBuilder, ElectionConfig};
use informer_test_support::Woken;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};

use crate::place::{DEADLINE, DURATION, Place, RETRY, Way, key, poll};

const MICRO: Duration = Duration::from_micros(1);

#[test]
fn a_replica_acquires_renews_and_gives_up_the_lease() {
    let place = Place::new();
    let a = place.replica("a");
    assert!(!a.election.is_leader());
    place.settle();
    assert!(a.election.is_leader());
    assert_eq!(a.election.holder().as_deref(), Some("a"));
    let acquired = place.spec();
    assert_eq!(acquired["holderIdentity"], "a");
    assert_eq!(acquired["leaseDurationSeconds"], 15);
    assert_eq!(acquired["leaseTransitions"], 0);
    assert_eq!(acquired["acquireTime"], acquired["renewTime"]);

    let guard = a.guard();
    place.pass(Duration::from_secs(300));
    assert!(guard.holds());
    let renewed = place.spec();
    assert_eq!(renewed["acquireTime"], acquired["acquireTime"]);
    assert_ne!(renewed["renewTime"], acquired["renewTime"]);
    assert_eq!(renewed["leaseTransitions"], 0);
    // Every two seconds, and no oftener.
    assert!((148..=153).contains(&a.line.sent()), "{}", a.line.sent());

    let mut stopped = a.election.stop();
    assert!(!guard.holds());
    assert!(poll(&mut stopped).is_pending());
    place.settle();
    assert!(poll(&mut stopped).is_ready());
    let released = place.spec();
    assert_eq!(released.get("holderIdentity"), None);
    assert_eq!(released["leaseDurationSeconds"], 1);
    assert_eq!(released["leaseTransitions"], 0);
}

#[test]
fn another_replica_takes_over_at_once_after_a_release() {
    let place = Place::new();
    let (a, b) = (place.replica("a"), place.replica("b"));
    place.pass(Duration::from_secs(30));
    assert!(a.election.is_leader());
    assert!(!b.election.is_leader());
    assert_eq!(b.election.holder().as_deref(), Some("a"));
    let token = a.election.fencing_token().unwrap();
    drop(a.election.stop());
    let waited = place.until(DURATION, || b.election.is_leader());
    assert!(waited <= RETRY, "{waited:?}");
    assert!(b.election.fencing_token().unwrap() > token);
}

#[test]
fn another_replica_waits_for_the_lease_to_end_if_it_is_not_released() {
    let place = Place::new();
    let mut config = ElectionConfig::new();
    config.release_on_stop = false;
    let (a, b) = (place.replica_with("a", config), place.replica("b"));
    place.pass(Duration::from_secs(30));
    let renewed = place.until_renewed();
    let mut stopped = a.election.stop();
    assert!(poll(&mut stopped).is_ready());
    place.until(2 * DURATION, || b.election.is_leader());
    let waited = place.clock.now().since(renewed);
    assert!(waited >= DURATION, "{waited:?}");
    assert!(waited <= DURATION + 2 * RETRY, "{waited:?}");
}

#[test]
fn a_leader_that_cannot_renew_stops_at_the_deadline_exactly() {
    let place = Place::new();
    let (a, b) = (place.replica("a"), place.replica("b"));
    place.pass(Duration::from_secs(30));
    let renewed = place.until_renewed();
    let guard = a.guard();
    a.line.set(Way::Cut);
    // Nothing of this replica runs from here on.
    place.pause(&a);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    let mut lost = a.election.lost();
    let mut poll_lost = || std::pin::Pin::new(&mut lost).poll(&mut cx);
    assert_eq!(poll_lost(), Poll::Pending);

    let deadline = renewed.after(DEADLINE);
    while place.clock.next_deadline().unwrap() < deadline {
        place.step(deadline);
    }
    place.clock.set(renewed.after(DEADLINE - MICRO));
    assert!(guard.holds());
    assert!(a.election.is_leader());
    assert_eq!(poll_lost(), Poll::Pending);
    let before = woken.times();
    place.clock.set(deadline);
    assert!(woken.times() > before);
    assert!(!guard.holds());
    assert!(!a.election.is_leader());
    assert_eq!(a.election.fencing_token(), None);
    assert_eq!(poll_lost(), Poll::Ready(()));
    assert!(!b.election.is_leader());
    place.until(DURATION, || b.election.is_leader());
    assert!(place.clock.now() >= renewed.after(DURATION));
}

#[test]
fn a_guard_belongs_to_one_term() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    let first = a.guard();
    let mut lost = first.lost();
    a.line.set(Way::Cut);
    place.pass(DEADLINE);
    assert!(!first.holds());
    assert!(poll(&mut lost).is_ready());
    a.line.set(Way::Open);
    place.until(DURATION, || a.election.is_leader());
    let second = a.guard();
    assert!(second.holds());
    assert!(!first.holds());
    assert!(second.fencing_token() > first.fencing_token());
    assert_eq!(a.election.status().terms, 2);
    // Nobody else was there, but the token says that the work began anew.
    assert_eq!(place.spec()["leaseTransitions"], 1);
}

#[test]
fn an_answer_after_the_deadline_does_not_bring_leadership_back() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    let guard = a.guard();
    place.until_renewed();
    // Renewals arrive, but so late that the replica has stopped leading.
    a.line.set(Way::Slow(DEADLINE));
    place.until(DURATION, || !a.election.is_leader());
    place.pass(Duration::from_secs(60));
    assert!(!guard.holds());
    assert!(!a.election.is_leader());
}

#[test]
fn a_renewal_counts_from_when_it_was_sent() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    place.until_renewed();
    a.line.set(Way::Slow(Duration::from_secs(3)));
    let sent = a.line.sent();
    place.until(DEADLINE, || a.line.sent() > sent);
    let asked = place.clock.now();
    place.until_renewed();
    a.line.set(Way::Cut);
    let guard = a.guard();
    place.until(DURATION, || !guard.holds());
    assert_eq!(place.clock.now(), asked.after(DEADLINE));
}

#[test]
fn leading_waits_for_leadership() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    let b = place.replica("b");
    let mut leading = b.election.leading();
    place.pass(Duration::from_secs(60));
    assert!(poll(&mut leading).is_pending());
    drop(a.election.stop());
    place.pass(RETRY);
    let Poll::Ready(Ok(guard)) = poll(&mut leading) else {
        panic!("{}", b.election.status());
    };
    assert!(guard.holds());
}

#[test]
fn work_ends_with_leadership_and_begins_anew() {
    let place = Place::new();
    let a = place.replica("a");
    let (begun, dropped) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    struct Work(Arc<AtomicUsize>);
    impl Drop for Work {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut run = Box::pin(a.election.run(|guard| {
        let work = Work(Arc::clone(&dropped));
        let time = begun.fetch_add(1, Ordering::Relaxed);
        async move {
            let _work = work;
            if time == 0 {
                std::future::pending::<()>().await;
            }
            guard.fencing_token()
        }
    }));
    place.settle();
    assert!(poll(&mut run).is_pending());
    assert_eq!(begun.load(Ordering::Relaxed), 1);
    a.line.set(Way::Cut);
    place.pass(DEADLINE);
    assert!(poll(&mut run).is_pending());
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    a.line.set(Way::Open);
    place.until(DURATION, || a.election.is_leader());
    assert_eq!(poll(&mut run), Poll::Ready(Ok(1)));
}

#[tokio::test(start_paused = true)]
async fn tokio_is_the_default() {
    let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    let builder = ElectionBuilder::new(key());
    let first = builder.start(&server).unwrap();
    let guard = first.leading().await.unwrap();
    let second = builder.start(&server).unwrap();
    assert_ne!(first.identity(), second.identity());
    let waits = tokio::spawn(async move { second.leading().await.map(|guard| guard.holds()) });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(guard.holds());
    first.stop().await;
    assert!(!guard.holds());
    assert_eq!(waits.await.unwrap(), Ok(true));
}
