//! Read speed of the store.

use std::hint::black_box;
use std::time::{Duration, Instant};

use informer::{Lister, ObjectKey, UnknownIndex};

/// The namespace to list; the load server has it.
const NAMESPACE: &str = "bench-07";

/// The measurements; zero if not requested.
#[derive(Default, Debug)]
pub(crate) struct Reads {
    pub(crate) gets_per_s: f64,
    pub(crate) list_us: f64,
    pub(crate) namespace_us: f64,
    pub(crate) label_us: f64,
}

impl Reads {
    pub(crate) fn of<K: Send + Sync + 'static>(
        pods: &Lister<K>,
        label: &str,
    ) -> Result<Self, UnknownIndex> {
        let value = pods.snapshot().iter().find_map(|pod| {
            let value = pod.labels().get(label)?;
            Some(value.to_owned())
        });
        let value = value.unwrap_or_default();
        pods.by_index("namespace", NAMESPACE)?;
        pods.by_index("app", &value)?;
        Ok(Self {
            gets_per_s: gets_per_s(pods),
            list_us: micros(|| black_box(pods.list()).len()),
            namespace_us: micros(|| black_box(pods.by_index("namespace", NAMESPACE)).is_ok()),
            label_us: micros(|| black_box(pods.by_index("app", &value)).is_ok()),
        })
    }
}

/// Look-ups of existing keys, in an order that CPU caches cannot predict.
fn gets_per_s<K: Send + Sync + 'static>(pods: &Lister<K>) -> f64 {
    let mut keys: Vec<ObjectKey> = pods.snapshot().keys().cloned().collect();
    keys.sort();
    shuffle(&mut keys);
    let mut keys = keys.iter().cycle();
    let mut kept = pods.kept();
    let begin = Instant::now();
    let (mut asked, mut found) = (0_u64, 0_u64);
    while begin.elapsed() < Duration::from_millis(500) {
        for key in keys.by_ref().take(1000) {
            found += u64::from(black_box(kept.by_key(key)).is_some());
            asked += 1;
        }
    }
    debug_assert_eq!(asked, found, "nothing is deleted during the reads");
    found as f64 / begin.elapsed().as_secs_f64()
}

/// The same order in every run.
fn shuffle<T>(items: &mut [T]) {
    let mut random = 42_u64;
    for last in (1..items.len()).rev() {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        items.swap(last, (random >> 33) as usize % (last + 1));
    }
}

/// The mean duration of a call, in µs.
fn micros<R>(mut call: impl FnMut() -> R) -> f64 {
    let begin = Instant::now();
    let mut calls = 0_u32;
    while calls < 3 || begin.elapsed() < Duration::from_millis(300) {
        black_box(call());
        calls += 1;
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}
