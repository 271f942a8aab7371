//! A short soak, and a check that each kind of leak is found.
#![allow(clippy::unwrap_used, reason = "tests")]

use informer_soak::run::{Leak, Length, soak};

/// A single test, because the counts are those of the whole process.
#[test]
fn nothing_leaks_and_every_deliberate_leak_is_found() {
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
