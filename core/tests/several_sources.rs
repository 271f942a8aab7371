//! Informers with several sources: what the simulation has found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod hand;

use core::time::Duration;

use hand::{Hand, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::queue::{QueueKind, Relist};
use informer_core::transport::Signal;
use informer_core::{InformerConfig, SourceId};

/// The version from before would say less than the store shows.
#[test]
fn with_several_sources_the_store_has_no_version() {
    let config = listed();
    for (queue, relist) in [
        (QueueKind::DeltaFifo, Relist::Streamed),
        (QueueKind::DeltaFifo, Relist::Staged),
        (QueueKind::InOrder, Relist::Staged),
    ] {
        let mut hand = Hand::new(InformerConfig {
            queue,
            relist,
            ..config
        });
        hand.list(10, &[pod("x", "", 1)]);
        hand.request();
        assert_eq!(hand.informer.store().version(), "10");
        let second = hand.informer.add_source(Decoder::new(Dynamic), hand.now);
        assert_eq!(hand.informer.store().version(), "");
        hand.event("MODIFIED", &pod("x", "", 11));
        assert_eq!(hand.informer.store().version(), "");

        // The first source is the only one again, and has a version again.
        assert!(hand.informer.remove_source(second.unwrap(), hand.now));
        while hand.informer.poll_command(hand.now).is_some() {}
        hand.event("MODIFIED", &pod("x", "", 12));
        assert_eq!(hand.informer.store().version(), "12");

        // A new source has read nothing yet.
        assert!(hand.informer.remove_source(SourceId::FIRST, hand.now));
        while hand.informer.poll_command(hand.now).is_some() {}
        hand.informer
            .add_source(Decoder::new(Dynamic), hand.now)
            .unwrap();
        assert_eq!(hand.informer.sources().count(), 1);
        assert_eq!(hand.informer.store().version(), "");
    }
}

/// A resync was a round of the first source, whatever that was doing. In the middle of a full state, the
/// objects so far counted as part of an earlier round, and were deleted at the end.
#[test]
fn a_resync_leaves_the_full_state_of_another_source_alone() {
    let mut hand = Hand::new(InformerConfig {
        resync: Some(Duration::from_secs(30)),
        ..listed()
    });
    let first = hand.exchange.unwrap();
    let second = hand.informer.add_source(Decoder::new(Dynamic), hand.now);
    hand.request();
    hand.list(10, &[pod("of-the-second", "", 1)]);
    assert_eq!(hand.exchange.unwrap().source(), second.unwrap());

    hand.exchange = Some(first);
    let head =
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":["#;
    hand.bytes(&format!("{head}{}", pod("before", "", 2)));
    hand.notes();
    hand.sleep(Duration::from_secs(31));
    assert_eq!(
        hand.notes().len(),
        2,
        "the resync shows what is in the store"
    );
    hand.bytes(&format!(",{}]}}", pod("after", "", 3)));
    hand.signal(Signal::Closed);
    assert!(hand.informer.is_synced());
    assert_eq!(hand.informer.store().len(), 3, "{:?}", hand.notes());
}
