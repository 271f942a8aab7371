//! The version of a store whose sources come and go.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod hand;

use hand::{Hand, listed, pod};
use informer_core::InformerConfig;
use informer_core::SourceId;
use informer_core::decode::{Decoder, Dynamic};
use informer_core::queue::{QueueKind, Relist};

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
