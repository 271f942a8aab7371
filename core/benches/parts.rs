//! The time of each part alone: pushes and pops of the DeltaFIFO with so many keys queued; look-ups,
//! writes and snapshots of a store with so many objects; and fan-out while so many notifications wait.
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
