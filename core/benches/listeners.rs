//! The time of one watch event, from its bytes until every listener has its notification, for
//! various numbers of listeners.
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

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use informer_core::decode::Lean;
use support::hand::Hand;
use support::pods::Pods;
use support::timing;

const LISTENERS: [usize; 5] = [1, 8, 64, 1_000, 10_000];

fn listeners(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("listeners");
    for listeners in LISTENERS {
        let pods = Pods::small();
        let mut hand = Hand::watching(Lean, listeners, &pods, 1);
        let lines = [2, 3].map(|version| {
            let mut line = Vec::new();
            pods.write_event("MODIFIED", 0, version, &mut line);
            line
        });
        let mut next = lines.iter().cycle();
        group.throughput(Throughput::Elements(listeners as u64));
        group.bench_function(listeners.to_string(), |bencher| {
            bencher.iter(|| hand.event(next.next().unwrap()));
        });
    }
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = listeners
}
criterion_main!(benches);
