//! A lean or metadata object is two allocations: its key and its record. One with very long texts is three.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::alloc::System;

use informer_core::decode::{Form, Lean, MetadataOnly, decode_object};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many allocations an object of this form keeps.
fn kept<F: Form>(mut form: F, text: usize) -> usize {
    let json = r#"{"metadata":{"namespace":"web","name":"a","uid":"5a1c","resourceVersion":"7",
        "labels":{"app":"shop","tier":"db"},"annotations":{"a":"b"},"ownerReferences":[{"kind":"X"}],
        "managedFields":[{}]},"spec":{"containers":[{"name":"TEXT"}]}}"#;
    let json = json.replace("TEXT", &"x".repeat(text));
    let before = Region::new(ALLOCATOR);
    let object = decode_object(&mut form, json.as_bytes()).unwrap();
    let after = before.change();
    assert_eq!(object.labels().get("tier"), Some("db"));
    after.allocations - after.deallocations
}

#[test]
fn an_object_is_two_allocations() {
    assert_eq!(kept(Lean, 1), 2);
    assert_eq!(kept(MetadataOnly, 1), 2);
    assert_eq!(kept(Lean, 32_000), 2);
    assert_eq!(kept(Lean, 33_000), 3);
    assert_eq!(kept(MetadataOnly, 33_000), 2);
}
