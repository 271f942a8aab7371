//! How fast the store answers.

use std::hint::black_box;
use std::time::{Duration, Instant};

use informer_bench_pods::Random;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{ObjectRef, Store};

/// The namespace to list, as in the other programs.
const NAMESPACE: &str = "bench-07";

#[derive(Default, Debug)]
pub(crate) struct Reads {
    pub(crate) gets_per_s: f64,
    pub(crate) list_us: f64,
    /// There is no index, so all pods are looked at.
    pub(crate) namespace_us: f64,
}

impl Reads {
    pub(crate) fn of(store: &Store<Pod>) -> Self {
        Self {
            gets_per_s: gets_per_s(store),
            list_us: micros(|| store.state().len()),
            namespace_us: micros(|| {
                let is_in = |pod: &Pod| pod.metadata.namespace.as_deref() == Some(NAMESPACE);
                store.state_filter(is_in).len()
            }),
        }
    }
}

fn gets_per_s(store: &Store<Pod>) -> f64 {
    let state = store.state();
    let mut keys: Vec<ObjectRef<Pod>> = state
        .iter()
        .map(|pod| ObjectRef::from_obj(&**pod))
        .collect();
    drop(state);
    let random = &mut Random::new(42, 0);
    keys.sort_by_cached_key(|_| random.number());
    let mut keys = keys.iter().cycle();
    let (begin, mut found) = (Instant::now(), 0_u64);
    while begin.elapsed() < Duration::from_millis(500) {
        for key in keys.by_ref().take(1000) {
            found += u64::from(store.get(key).is_some());
        }
    }
    found as f64 / begin.elapsed().as_secs_f64()
}

fn micros(mut call: impl FnMut() -> usize) -> f64 {
    let (begin, mut calls) = (Instant::now(), 0_u32);
    while calls < 3 || begin.elapsed() < Duration::from_millis(300) {
        black_box(call());
        calls += 1;
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}
