//! Demonstrations of single parts of an informer.

use crate::program::{output, shown};

#[test]
fn delta_fifo_groups_changes_by_object() {
    assert_eq!(output("delta_fifo"), shown("delta_fifo"));
}

#[test]
fn list_watch_lists_once_and_then_watches() {
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
fn shared_informer_by_hand_notifies_every_listener() {
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
fn shared_informer_factory_resyncs() {
    let printed = output("shared_informer_factory");
    assert_eq!(printed, shown("shared_informer_factory"));
}

#[test]
fn a_slow_observer_of_the_dispatcher_does_not_hold_up_others() {
    assert_eq!(output("dispatcher"), shown("dispatcher"));
}

#[test]
fn pods_in_ten_lines_prints_the_life_of_a_pod() {
    assert_eq!(output("pods_in_ten_lines"), shown("pods_in_ten_lines"));
}

/// Counts the lines of the closure in `main`.
#[test]
fn the_ten_lines_are_ten() {
    let source = include_str!("../../pods_in_ten_lines.rs");
    let (_, body) = source.split_once("async |cluster| {\n").unwrap();
    let (body, _) = body.split_once("    })\n").unwrap();
    assert_eq!(body.lines().count(), 10, "{body}");
}
