//! The object that the decoders of this crate produce.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use crate::key::ObjectKey;
use crate::object::Resource;

/// A decoded object: its key, uid, version and labels, and a body in the form that you chose. It
/// dereferences to the body.
///
/// ```
/// use informer_core::{Labels, Object, ObjectKey};
///
/// let pod = Object {
///     key: ObjectKey::new("web", "shop-1"),
///     uid: "5a1c4f0e".into(),
///     version: "42".into(),
///     labels: Labels::from_iter([("app", "shop")]),
///     size: 0,
///     body: "Running".to_owned(),
/// };
/// assert_eq!(pod.labels.get("app"), Some("shop"));
/// // The object dereferences to its body.
/// assert!(pod.starts_with("Run"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "users build objects")]
pub struct Object<K> {
    /// The namespace and name.
    pub key: ObjectKey,
    /// `metadata.uid`; empty if the server sent none.
    pub uid: Box<str>,
    /// `metadata.resourceVersion`; empty if the server sent none.
    pub version: Box<str>,
    /// `metadata.labels`.
    pub labels: Labels,
    /// The size of the object as the server sent it, in bytes; 0 for an object that you built.
    pub size: usize,
    /// The body.
    pub body: K,
}

impl<K> Resource for Object<K> {
    type Key = ObjectKey;

    fn key(&self) -> &ObjectKey {
        &self.key
    }

    fn identity(key: &ObjectKey) -> usize {
        key.address()
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
        for (key, value) in self.labels.iter() {
            visit(key, value);
        }
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl<K> Deref for Object<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.body
    }
}

/// The labels of an object, sorted by key.
///
/// They are packed into two allocations, or none if there are no labels.
///
/// ```
/// use informer_core::Labels;
///
/// let labels: Labels = [("tier", "db"), ("app", "web"), ("tier", "web")].into_iter().collect();
/// assert_eq!(labels.get("app"), Some("web"));
/// // If a key is repeated, the last value counts, as in a JSON object.
/// assert_eq!(labels.get("tier"), Some("web"));
/// assert_eq!(labels.get("zone"), None);
/// assert_eq!(labels.iter().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Labels {
    text: Box<str>,
    /// Where each key and each value ends in `text`, in turn.
    ends: Box<[u32]>,
}

impl Labels {
    /// The value of the label `key`, if it is set.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether there are no labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The labels, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut from = 0;
        let mut next = move |end: u32| {
            let part = self.text.get(from..end as usize).unwrap_or_default();
            from = end as usize;
            part
        };
        let (pairs, _) = self.ends.as_chunks();
        pairs
            .iter()
            .map(move |[key, value]| (next(*key), next(*value)))
    }
}

impl<A: AsRef<str>, B: AsRef<str>> FromIterator<(A, B)> for Labels {
    fn from_iter<I: IntoIterator<Item = (A, B)>>(pairs: I) -> Self {
        let mut pairs: Vec<(A, B)> = pairs.into_iter().collect();
        // The sort is stable, so the last of equal keys stays last.
        pairs.sort_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
        let length = |(key, value): &(A, B)| key.as_ref().len() + value.as_ref().len();
        let mut text = String::with_capacity(pairs.iter().map(length).sum());
        let mut ends = Vec::with_capacity(pairs.len() * 2);
        for (at, (key, value)) in pairs.iter().enumerate() {
            let repeated = pairs
                .get(at + 1)
                .is_some_and(|(next, _)| next.as_ref() == key.as_ref());
            if repeated {
                continue;
            }
            for part in [key.as_ref(), value.as_ref()] {
                text.push_str(part);
                ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            }
        }
        Self {
            text: text.into(),
            ends: ends.into(),
        }
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
