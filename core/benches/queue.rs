//! The time of a push and a pop of the DeltaFIFO, with so many keys queued.
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

fn queue(criterion: &mut Criterion) {
    timing::group(criterion, "queue");
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = queue
}
criterion_main!(benches);
