//! A short soak, and that each kind of leak would be noticed.
#![allow(clippy::unwrap_used, reason = "tests")]

use informer_soak::run::{Leak, Length, soak};

/// One test: what is counted is that of the whole process.
#[test]
fn nothing_is_left_behind_and_what_is_would_be_noticed() {
    let after = |visits, leak| {
        let length = Length::Visits(visits);
        let outcome = soak(length, length, leak, |_, _, _| {}).unwrap();
        assert!(outcome.visits >= visits);
        outcome.after.leaks_since(&outcome.before)
    };
    // Every kind of guest, twice.
    assert_eq!(after(18, None), [""; 0]);
    for (leak, named) in [
        (Leak::Objects, "live objects"),
        (Leak::Task, "tasks"),
        (Leak::File, "file descriptors"),
        (Leak::Memory, "KiB of memory"),
    ] {
        let leaks = after(2, Some(leak));
        assert!(leaks.iter().any(|found| found.contains(named)), "{leaks:?}");
    }
}
