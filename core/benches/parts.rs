//! The time of each part alone: push and pop on a DeltaFIFO with `n` keys; reads, writes and
//! snapshots of a store with `n` objects; fan-out with `n` pending notifications.
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

fn parts(criterion: &mut Criterion) {
    for part in ["queue", "store", "fan-out"] {
        timing::group(criterion, part);
    }
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = parts
}
criterion_main!(benches);
