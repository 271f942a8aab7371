//! The time to pass a notification to listeners, with so many waiting for each.
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

fn fan_out(criterion: &mut Criterion) {
    timing::group(criterion, "fan-out");
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = fan_out
}
criterion_main!(benches);
