//! Small objects for queues, stores and listeners, where the body does not matter.

use informer_core::indexer::{IndexFn, Indexer};
use informer_core::storage::{Heap, Seed};
use informer_core::{Object, ObjectKey};

use super::pods::PODS_PER_APP;

/// An object with the number of its node as its body.
pub type Small = Object<u32>;

/// The object with this number. `moved` changes all of its index values except the namespace.
pub fn small(number: usize, version: usize, moved: bool) -> Small {
    let shift = usize::from(moved);
    let app = numbered("app-", number / PODS_PER_APP + shift);
    let team = numbered("team-", (number + shift) % 8);
    Object::builder(key(number))
        .uid(numbered("5a1c4f0e-a3b2-", number))
        .version(numbered("100", version))
        .labels([("app", &app), ("team", &team)])
        .body(((number + shift) % 512) as u32)
}

/// The key of the object with this number.
pub fn key(number: usize) -> ObjectKey {
    let namespace = numbered("team-", number % 64);
    ObjectKey::new(&namespace, &numbered("app-7d9c5b6f4-", number))
}

/// A text and seven digits. Formatting would take longer than the measured code.
pub fn numbered(text: &str, mut number: usize) -> String {
    let mut digits = [b'0'; 7];
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    let mut numbered = String::with_capacity(text.len() + digits.len());
    numbered.push_str(text);
    numbered.extend(digits.map(char::from));
    numbered
}

/// A store of `n` objects with the first `indices` of: app (ten objects each), namespace (64 values),
/// team (8 values), node (512 values).
pub fn store(n: usize, indices: usize) -> Indexer<Small, Heap> {
    let label = |name: &'static str| {
        IndexFn::new(move |object: &Small, file: &mut dyn FnMut(&[u8])| {
            if let Some(value) = object.labels().get(name) {
                file(value.as_bytes());
            }
        })
    };
    let functions = [
        ("app", label("app")),
        (
            "namespace",
            IndexFn::new(|object: &Small, file: &mut dyn FnMut(&[u8])| {
                file(object.key().namespace().as_bytes());
            }),
        ),
        ("team", label("team")),
        (
            "node",
            IndexFn::new(|object: &Small, file: &mut dyn FnMut(&[u8])| {
                file(&object.body().to_be_bytes());
            }),
        ),
    ];
    let mut store = Indexer::new(Seed::new(42));
    store.add_indices(&functions[..indices]).unwrap();
    for number in 0..n {
        store.put(small(number, 1, false)).unwrap();
    }
    store
}

/// Numbers below `n`, spread over all of them.
pub fn spread(n: usize, count: usize) -> Vec<usize> {
    // A prime step visits every number before it repeats one.
    (0..count.min(n)).map(|at| at * 7_919 % n).collect()
}
