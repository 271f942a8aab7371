//! A short soak, and that each kind of leak would be noticed.
#![allow(clippy::unwrap_used, reason = "tests")]

use informer_soak::run::{Leak, Length, soak};

/// One test: what is counted is that of the whole process.
#[test]
fn nothing_is_left_behind_and_what_is_would_be_noticed() {
    let after = |leak| {
        let outcome = soak(Length::Visits(9), Length::Visits(18), leak, |_, _, _| {}).unwrap();
        assert!(outcome.visits >= 18);
        outcome.after.leaks_since(&outcome.before)
    };
    assert_eq!(after(None), [""; 0]);
    for (leak, named) in [
        (Leak::Objects, "live objects"),
        (Leak::Task, "tasks"),
        (Leak::File, "file descriptors"),
        (Leak::Memory, "KiB of memory"),
    ] {
        let leaks = after(Some(leak));
        assert!(leaks.iter().any(|found| found.contains(named)), "{leaks:?}");
    }
}
