//! The object that our decoders make.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use crate::key::ObjectKey;
use crate::object::Resource;

/// An object as our decoders make it: what the machines need to know, and the body in the form that
/// the user chose. It dereferences to the body.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "users make objects in tests and transforms"
)]
pub struct Object<K> {
    /// Namespace and name.
    pub key: ObjectKey,
    /// `metadata.uid`; empty if the server sent none.
    pub uid: Box<str>,
    /// `metadata.resourceVersion`; empty if the server sent none.
    pub version: Box<str>,
    /// `metadata.labels`.
    pub labels: Labels,
    /// How many bytes the server sent for it; 0 for an object of your own making.
    pub size: usize,
    /// The object itself.
    pub body: K,
}

impl<K> Resource for Object<K> {
    type Key = ObjectKey;

    fn key(&self) -> &ObjectKey {
        &self.key
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

/// The labels of one object, sorted by key, packed into two allocations (none if there are no labels).
///
/// ```
/// use informer_core::Labels;
///
/// let labels: Labels = [("tier", "db"), ("app", "web"), ("tier", "web")].into_iter().collect();
/// assert_eq!(labels.get("app"), Some("web"));
/// // Of equal keys the last one counts, as in a JSON object.
/// assert_eq!(labels.get("tier"), Some("web"));
/// assert_eq!(labels.get("zone"), None);
/// assert_eq!(labels.iter().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Labels {
    text: Box<str>,
    /// Where each key and each value ends in `text`, alternately.
    ends: Box<[u32]>,
}

impl Labels {
    /// The value of the label `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether there are no labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All labels in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut from = 0;
        let mut next = move |end: u32| {
            let part = self.text.get(from..end as usize).unwrap_or_default();
            from = end as usize;
            part
        };
        self.ends.chunks_exact(2).map(move |pair| match pair {
            [key, value] => (next(*key), next(*value)),
            _ => ("", ""),
        })
    }
}

impl<A: AsRef<str>, B: AsRef<str>> FromIterator<(A, B)> for Labels {
    fn from_iter<I: IntoIterator<Item = (A, B)>>(pairs: I) -> Self {
        let mut pairs: Vec<(A, B)> = pairs.into_iter().collect();
        // Stable, so of equal keys the one given last stays last.
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
