//! How the store finds a key: by its identity if it can, else by comparing keys.
#![allow(clippy::unwrap_used, reason = "tests")]

use core::cell::Cell;
use std::rc::Rc;

use informer_core::indexer::Indexer;
use informer_core::storage::{Fixed, Heap, Seed, Storage};
use informer_core::{Object, ObjectKey, Resource};

/// An object that counts how often it is looked at.
#[derive(Clone)]
struct Watched {
    key: Rc<str>,
    looks: Rc<Cell<usize>>,
}

impl Resource for Watched {
    type Key = Rc<str>;

    fn key(&self) -> &Rc<str> {
        self.looks.set(self.looks.get() + 1);
        &self.key
    }

    fn identity(key: &Rc<str>) -> usize {
        Rc::as_ptr(key).addr()
    }

    fn uid(&self) -> &str {
        ""
    }

    fn version(&self) -> &str {
        ""
    }

    fn labels(&self, _: &mut dyn FnMut(&str, &str)) {}
}

fn looks_only_if_it_must<S: Storage>() {
    let looks = Rc::new(Cell::new(0));
    let named = |name: &str| Watched {
        key: name.into(),
        looks: Rc::clone(&looks),
    };
    let mut store: Indexer<Watched, S> = Indexer::new(Seed::new(1));
    let (first, other) = (named("a"), named("b"));
    store.put(first.clone()).unwrap();
    store.put(other).unwrap();

    looks.set(0);
    assert!(store.get(&first.key).is_some());
    assert_eq!(looks.get(), 0, "the key came from the store");
    assert!(store.get(&"a".into()).is_some());
    assert_eq!(looks.get(), 1, "an equal key from elsewhere");

    // The object that replaces it brings a key of its own; the earlier key is still good.
    let second = named("a");
    store.put(second.clone()).unwrap();
    looks.set(0);
    assert!(store.get(&second.key).is_some());
    assert_eq!(looks.get(), 0);
    assert!(store.get(&first.key).is_some());
    assert_eq!(looks.get(), 1);

    assert!(store.remove(&second.key).is_some());
    assert!(store.get(&second.key).is_none());
    assert!(store.get(&first.key).is_none());
    // Another object takes the free place.
    store.put(named("c")).unwrap();
    assert!(store.get(&second.key).is_none());
}

#[test]
fn a_key_from_the_store_is_found_without_looking_at_the_object() {
    looks_only_if_it_must::<Heap>();
    looks_only_if_it_must::<Fixed<8, 2, 16>>();
}

#[test]
fn a_store_of_pointers_knows_the_identity_of_keys_too() {
    type Pod = Object<()>;
    let key = ObjectKey::new("web", "a");
    let identity = Pod::identity(&key);
    assert_ne!(identity, 0);
    let clone = key.clone();
    assert_eq!(Pod::identity(&clone), identity);
    assert_eq!(Rc::<Pod>::identity(&key), identity);
    assert_eq!(Box::<&Pod>::identity(&key), identity);
    // Equal, but not the same.
    assert_ne!(Pod::identity(&ObjectKey::new("web", "a")), identity);
}

#[test]
fn equal_keys_have_equal_hashes_however_they_were_made() {
    let seed = Seed::new(7);
    let key = ObjectKey::new("web", "a");
    assert_eq!(
        seed.hash(&key),
        seed.hash(&"web/a".parse::<ObjectKey>().unwrap())
    );
    assert_eq!(seed.hash(&key), seed.hash(&key.clone()));
    assert_ne!(seed.hash(&key), seed.hash(&ObjectKey::new("web", "b")));
    assert_ne!(seed.hash(&key), Seed::new(8).hash(&key));
    let mut store: Indexer<Object<()>, Heap> = Indexer::new(seed);
    store
        .put(Object::builder(key).version("1").body(()))
        .unwrap();
    assert!(store.get(&ObjectKey::new("web", "a")).is_some());
    assert!(store.get(&ObjectKey::new("", "web/a")).is_none());
}
