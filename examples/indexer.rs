//! An indexer on its own: pods with custom keys (`namespace---name`), indexed by their label `app`. You can
//! look up a value in an index, or print the whole index.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;

use informer_core::decode::{Lean, decode_object};
use informer_core::indexer::Indexer;
use informer_core::storage::{Heap, Seed};
use informer_examples::no_flags;
use informer_indexers::{KeyFormat, Keyed, by};

fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let keys = KeyFormat::new("---");
    let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    store.add_index("app", by::label("app"))?;

    for (namespace, name, app) in [
        ("ns1", "pod1", "l1"),
        ("ns2", "pod2", "l2"),
        ("ns2", "pod3", "l1"),
    ] {
        let json = format!(
            r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}","labels":{{"app":"{app}"}}}}}}"#
        );
        let pod = decode_object(&mut Lean, json.as_bytes())?;
        store.put(Keyed::by(|pod| keys.key_of(pod), pod))?;
    }

    println!("the index `app`:");
    print!("{}", store.table("app")?);

    let under_l1: Vec<_> = store
        .by_index("app", "l1")?
        .map(|pod| keys.key_of(&**pod))
        .collect();
    println!("under l1: {under_l1:?}");

    match store.by_index("zone", "a") {
        Ok(_) => println!("there is an index `zone`"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
