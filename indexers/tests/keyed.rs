//! Objects under keys of one's own.
#![allow(clippy::unwrap_used, reason = "tests")]

use informer_core::Object;
use informer_core::decode::{Dynamic, decode_object};
use informer_core::indexer::Indexer;
use informer_core::storage::{Heap, Seed};
use informer_indexers::{Keyed, by};
use serde_json::Value;

fn pod(namespace: &str, name: &str) -> Object<Value> {
    let json = format!(r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}"}}}}"#);
    decode_object(&mut Dynamic, json.as_bytes()).unwrap()
}

#[test]
fn an_object_may_change_its_namespace_under_a_key_without_one() {
    let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    store.add_index("namespace", by::namespace()).unwrap();
    for namespace in ["one", "two"] {
        let by_name = |pod: &Object<Value>| pod.key().name().to_owned();
        store.put(Keyed::by(by_name, pod(namespace, "a"))).unwrap();
    }
    assert_eq!(store.count("namespace", "one"), Ok(0));
    assert_eq!(store.count("namespace", "two"), Ok(1));
}

#[test]
fn objects_of_a_server_stay_in_their_namespace() {
    let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    store.add_index("namespace", by::namespace()).unwrap();
    for namespace in ["one", "two", "one"] {
        store.put(pod(namespace, "a")).unwrap();
    }
    assert_eq!(store.count("namespace", "one"), Ok(1));
    assert_eq!(store.count("namespace", "two"), Ok(1));
}
