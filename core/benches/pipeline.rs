//! The time from bytes to notifications: a first list, and one watch event.
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

use std::hint::black_box;

use criterion::{BatchSize, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use informer_core::decode::Lean;
use support::hand::Hand;
use support::pods::Pods;
use support::timing;

fn watch(criterion: &mut Criterion) {
    timing::group(criterion, "pipeline");
}

/// A whole list including its end. The time is for all objects together.
fn list(criterion: &mut Criterion) {
    let sizes = timing::sizes();
    for (name, pods, most) in [
        ("pipeline/whole list, Lean", Pods::realistic(), 100_000),
        (
            "pipeline/whole list, small, Lean",
            Pods::small(),
            usize::MAX,
        ),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.sampling_mode(SamplingMode::Flat);
        for n in sizes.iter().copied().filter(|n| *n <= most) {
            group.throughput(Throughput::Elements(n as u64));
            group.bench_function(n.to_string(), |bencher| {
                bencher.iter_batched(
                    || (),
                    |()| black_box(Hand::watching(Lean, 1, &pods, n)),
                    BatchSize::PerIteration,
                );
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = watch, list
}
criterion_main!(benches);
