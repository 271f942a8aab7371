//! The time to decode one realistic pod of a list or a watch, for each form.
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
use support::operations;
use support::pods::Pods;
use support::timing;

fn decode(criterion: &mut Criterion) {
    let (bytes, managed) = Pods::realistic().mean_bytes();
    println!("a pod has {bytes} bytes of JSON on average, {managed} of them managedFields");
    for operation in operations::group("decode") {
        let mut group = criterion.benchmark_group(operation.name);
        group.throughput(Throughput::Bytes(bytes as u64));
        let mut event = (operation.make)(0);
        group.bench_function("pod", |bencher| bencher.iter(&mut event));
    }
}

criterion_group! {
    name = benches;
    config = timing::config();
    targets = decode
}
criterion_main!(benches);
