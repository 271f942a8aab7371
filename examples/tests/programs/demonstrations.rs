//! Demonstrations of single parts of an informer.

use crate::program::{output, shown};

#[test]
fn delta_fifo_groups_changes_by_object() {
    assert_eq!(output("delta_fifo"), shown("delta_fifo"));
}

#[test]
fn a_watch_without_a_version_shows_all_and_an_informer_lists_first() {
    assert_eq!(output("list_watch"), shown("list_watch"));
}

#[test]
fn a_reflector_without_known_objects_loses_a_deletion() {
    let printed = output("reflector_without_known_objects");
    assert_eq!(printed, shown("reflector_without_known_objects"));
    assert!(!printed.contains("Deleted"), "{printed}");
}

#[test]
fn a_reflector_with_an_indexer_reports_the_deletion() {
    let printed = output("reflector_with_indexer");
    assert_eq!(printed, shown("reflector_with_indexer"));
    assert!(printed.contains("Deleted  nettool"), "{printed}");
}

#[test]
fn my_informer_calls_its_handler() {
    assert_eq!(output("my_informer"), shown("my_informer"));
}

#[test]
fn shared_informer_by_hand_lists_watches_and_notifies_every_listener() {
    assert_eq!(
        output("shared_informer_by_hand"),
        shown("shared_informer_by_hand")
    );
}

/// The handlers run concurrently, so only the order within each handler is certain.
#[test]
fn shared_informer_notifies_both_handlers_in_order() {
    let (printed, shown) = (output("shared_informer"), shown("shared_informer"));
    for handler in ["first ", "second"] {
        let lines = |text: &str| -> Vec<String> {
            let its = text.lines().filter(|line| line.starts_with(handler));
            its.map(str::to_owned).collect()
        };
        assert_eq!(lines(&printed), lines(&shown));
    }
    assert_eq!(printed.lines().count(), shown.lines().count());
}

#[test]
fn indexer_indexes_pods_by_label() {
    assert_eq!(output("indexer"), shown("indexer"));
}

#[test]
fn a_resync_repairs_what_is_outside_of_kubernetes() {
    let printed = output("shared_informer_factory");
    assert_eq!(printed, shown("shared_informer_factory"));
}

#[test]
fn a_slow_observer_of_the_dispatcher_does_not_hold_up_others() {
    assert_eq!(output("dispatcher"), shown("dispatcher"));
}
