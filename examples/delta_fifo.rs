//! A DeltaFIFO groups changes by object: each key has one place in the queue and a list of deltas. A pop
//! returns the whole list, and the consumer handles each delta by its type.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;

use informer_core::flow::{Deletion, Delta};
use informer_core::queue::{DeltaFifo, NothingKnown};
use informer_core::storage::{Heap, Seed};
use informer_core::{Object, ObjectKey};
use informer_examples::no_flags;

/// A pod whose body is a number, to tell its states apart.
type Pod = Object<f64>;

fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let mut fifo: DeltaFifo<Pod, Heap> = DeltaFifo::new(Seed::new(1));
    fifo.add(pod("pod1", 1.0))?;
    fifo.add(pod("pod2", 2.0))?;
    fifo.update(pod("pod1", 1.1))?;
    // This consumer has no store, but the queue still holds deltas of pod1, so it accepts the deletion.
    fifo.delete(pod("pod1", 1.1), &NothingKnown)?;

    while let Some(popped) = fifo.pop() {
        println!("popped:");
        for delta in popped.deltas() {
            match delta {
                Delta::Added(pod) => on_add(&pod),
                Delta::Updated(pod) => on_update(&pod),
                Delta::Deleted(Deletion::Observed(pod)) => on_delete(&pod),
                other => println!("  unexpected: {other:?}"),
            }
        }
    }
    Ok(())
}

fn on_add(pod: &Pod) {
    println!("  Added   {} value: {}", pod.key().name(), pod.body());
}

fn on_update(pod: &Pod) {
    println!("  Updated {} value: {}", pod.key().name(), pod.body());
}

fn on_delete(pod: &Pod) {
    println!("  Deleted {} value: {}", pod.key().name(), pod.body());
}

fn pod(name: &str, value: f64) -> Pod {
    Object::builder(ObjectKey::new("default", name))
        .uid(name)
        .version(value.to_string())
        .body(value)
}
