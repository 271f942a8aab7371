//! A DeltaFIFO groups what happens to an object: each key has one place in the queue and a chain of
//! deltas, and a pop hands out the whole chain. Whoever pops acts on each delta by its type.
#![expect(clippy::print_stdout, reason = "it explains by printing")]

use std::error::Error;

use informer_core::flow::{Deletion, Delta};
use informer_core::queue::{DeltaFifo, NothingKnown};
use informer_core::storage::{Heap, Seed};
use informer_core::{Labels, Object, ObjectKey};
use informer_examples::no_flags;

/// A pod whose body is a number, so that one sees which state it is.
type Pod = Object<f64>;

fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let mut fifo: DeltaFifo<Pod, Heap> = DeltaFifo::new(Seed::new(1));
    fifo.add(pod("pod1", 1.0))?;
    fifo.add(pod("pod2", 2.0))?;
    fifo.update(pod("pod1", 1.1))?;
    // A consumer that keeps nothing knows nothing; but there is news of pod1 in the queue.
    fifo.delete(pod("pod1", 1.1), &NothingKnown)?;

    while let Some(popped) = fifo.pop() {
        println!("popped:");
        for delta in popped.deltas() {
            match delta {
                Delta::Added(pod) => on_add(&pod),
                Delta::Updated(pod) => on_update(&pod),
                Delta::Deleted(Deletion::Observed(pod)) => on_delete(&pod),
                other => println!("  {other:?} does not happen here"),
            }
        }
    }
    Ok(())
}

fn on_add(pod: &Pod) {
    println!("  Added   {} value: {}", pod.key.name(), pod.body);
}

fn on_update(pod: &Pod) {
    println!("  Updated {} value: {}", pod.key.name(), pod.body);
}

fn on_delete(pod: &Pod) {
    println!("  Deleted {} value: {}", pod.key.name(), pod.body);
}

fn pod(name: &str, value: f64) -> Pod {
    Object {
        key: ObjectKey::new("default", name),
        uid: name.into(),
        version: value.to_string().into(),
        labels: Labels::default(),
        size: 0,
        body: value,
    }
}
