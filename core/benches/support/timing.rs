//! Settings for timing.

use core::time::Duration;

use criterion::Criterion;

use super::operations::{self, Size};

/// Short runs. Changes are judged by instruction counts instead.
pub fn config() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

/// The numbers of objects; a million only if `BENCH_LARGE` is set.
pub fn sizes() -> Vec<usize> {
    let large = large().then_some(1_000_000);
    [1_000, 100_000].into_iter().chain(large).collect()
}

/// Whether to include the slow runs.
pub fn large() -> bool {
    std::env::var_os("BENCH_LARGE").is_some()
}

/// Measures the operations of a group with a fixed number of objects.
pub fn group(criterion: &mut Criterion, name: &str) {
    for operation in operations::group(name) {
        if operation.size != Size::Fixed {
            continue;
        }
        let mut group = criterion.benchmark_group(operation.name);
        for n in sizes() {
            let mut event = (operation.make)(n);
            group.bench_function(n.to_string(), |bencher| bencher.iter(&mut event));
        }
    }
}
