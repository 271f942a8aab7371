//! The time of look-ups, writes and snapshots of a store with so many objects.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark"
)]

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::timing;

fn store(criterion: &mut Criterion) {
    timing::group(criterion, "store");
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = store
}
criterion_main!(benches);
