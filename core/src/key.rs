//! The namespace and name of an object.

use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;
use triomphe::Arc;

use crate::invariant::cannot_happen;

/// The namespace and name of an object, in one shared allocation.
///
/// It displays like client-go's cache key: `namespace/name`, or `name` alone without a namespace.
/// Two keys are equal if both parts are. A clone increments a counter and does not allocate.
///
/// ```
/// use informer_core::ObjectKey;
///
/// let key = ObjectKey::new("kube-system", "coredns");
/// assert_eq!(key.as_str(), "kube-system/coredns");
/// assert_eq!((key.namespace(), key.name()), ("kube-system", "coredns"));
///
/// let node: ObjectKey = "node-1".parse()?;
/// assert_eq!((node.namespace(), node.name()), ("", "node-1"));
/// assert!("a/b/c".parse::<ObjectKey>().is_err());
/// // A server should never send a slash in a name. If it does, the keys still differ.
/// assert_ne!(ObjectKey::new("a", "c/b"), ObjectKey::new("a/c", "b"));
/// # Ok::<(), informer_core::ParseKeyError>(())
/// ```
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Without a counter of weak pointers, because there are none.
    text: Arc<str>,
    /// Where the name starts, in the lower 24 bits, and how long the name of the cluster is, in the upper 8.
    parts: u32,
    /// The hash of the text. A key is made once and looked up often, when its text is no longer in the
    /// cache of the processor.
    hash: u32,
}

impl ObjectKey {
    /// Creates the key of the object `name` in `namespace`. An empty namespace means none.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Self::new_in(&mut String::new(), namespace, name)
    }

    /// Creates the same key. Its text is put together in `buffer`, which keeps its memory.
    pub(crate) fn new_in(buffer: &mut String, namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self::of(Arc::from(name), 0);
        }
        buffer.clear();
        buffer.reserve_exact(namespace.len() + 1 + name.len());
        buffer.push_str(namespace);
        buffer.push('/');
        buffer.push_str(name);
        Self::of(Arc::from(buffer.as_str()), name_place(namespace.len() + 1))
    }

    /// Creates the key of an object in a cluster, for programs that follow several clusters. It displays as
    /// `cluster:namespace/name`. An empty cluster means none. Of a long name, the first 255 bytes count.
    ///
    /// ```
    /// use informer_core::ObjectKey;
    ///
    /// let key = ObjectKey::in_cluster("east", "web", "shop-1");
    /// assert_eq!(key.to_string(), "east:web/shop-1");
    /// assert_eq!((key.cluster(), key.namespace(), key.name()), ("east", "web", "shop-1"));
    /// assert_ne!(key, ObjectKey::new("east:web", "shop-1"));
    /// ```
    #[must_use]
    pub fn in_cluster(cluster: &str, namespace: &str, name: &str) -> Self {
        let most = cluster.len().min(u8::MAX as usize);
        let cluster = (1..=most).rev().find_map(|end| cluster.get(..end));
        let Some(cluster) = cluster else {
            return Self::new(namespace, name);
        };
        let mut text = String::with_capacity(cluster.len() + namespace.len() + name.len() + 2);
        text.push_str(cluster);
        text.push(':');
        text.push_str(namespace);
        if !namespace.is_empty() {
            text.push('/');
        }
        let name_at = name_place(text.len());
        text.push_str(name);
        Self::of(Arc::from(text), (cluster.len() as u32) << 24 | name_at)
    }

    #[inline]
    fn of(text: Arc<str>, parts: u32) -> Self {
        // The seed differs in every process, so that users of a cluster cannot choose names that collide.
        let mut hasher = FoldHasher::with_seed(0, SharedSeed::global_random());
        hasher.write(text.as_bytes());
        let hash = hasher.finish();
        Self {
            text,
            parts,
            hash: (hash ^ (hash >> 32)) as u32,
        }
    }

    /// Where the text is. Only clones share it.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.text).addr()
    }

    /// The key as client-go writes it, behind the name of its cluster if it has one.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The cluster; empty if the key does not name one.
    #[must_use]
    pub fn cluster(&self) -> &str {
        self.part(0..(self.parts >> 24) as usize)
    }

    /// The namespace; empty for a cluster-scoped object.
    #[must_use]
    pub fn namespace(&self) -> &str {
        let start = match (self.parts >> 24) as usize {
            0 => 0,
            cluster => cluster + 1,
        };
        // Without a namespace there is no slash either.
        self.part(start..self.name_at().saturating_sub(1).max(start))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.part(self.name_at()..self.text.len())
    }

    /// Where the name starts: after the slash, after the cluster, or at 0 without both.
    const fn name_at(&self) -> usize {
        (self.parts & NAME_AT) as usize
    }

    fn part(&self, range: core::ops::Range<usize>) -> &str {
        let part = self.text.get(range);
        part.unwrap_or_else(|| cannot_happen("a key without one of its parts", ""))
    }
}

/// The bits of `parts` that say where the name starts.
const NAME_AT: u32 = (1 << 24) - 1;

/// Where a name starts. A namespace of 16 MiB, which no server has, counts as a part of the name.
fn name_place(at: usize) -> u32 {
    let place = u32::try_from(at).ok();
    place.filter(|at| *at <= NAME_AT).unwrap_or(0)
}

impl core::str::FromStr for ObjectKey {
    type Err = ParseKeyError;

    /// Parses `name` or `namespace/name`. Two or more slashes are an error; `/name` has no
    /// namespace.
    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        match text.split_once('/') {
            None => Ok(Self::new("", text)),
            Some((namespace, name)) if !name.contains('/') => Ok(Self::new(namespace, name)),
            Some(_) => Err(ParseKeyError { text: text.into() }),
        }
    }
}

/// The hash follows from the text.
impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts && *self.text == *other.text
    }
}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.hash);
    }
}

/// Like client-go, except that a slash precedes a name that contains one and has no namespace.
/// Otherwise it would read like a namespace and a name.
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts == 0 && self.text.contains('/') {
            f.write_str("/")?;
        }
        f.pad(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// The text is not a key: it contains more than one slash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseKeyError {
    text: String,
}

impl fmt::Display for ParseKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unexpected key format: {:?} (expected `name` or `namespace/name`)",
            self.text
        )
    }
}

impl core::error::Error for ParseKeyError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    /// Pairs of short texts with slashes in every position.
    fn pairs() -> Vec<(&'static str, &'static str)> {
        let texts = ["", "a", "b", "a/b", "b/a", "/", "/a", "a/", "a/b/a", "//"];
        let pairs = texts
            .iter()
            .flat_map(|one| texts.iter().map(move |two| (*one, *two)));
        pairs.collect()
    }

    #[test]
    fn keys_are_equal_if_both_parts_are() {
        for one in pairs() {
            let key = ObjectKey::new(one.0, one.1);
            assert_eq!((key.namespace(), key.name()), one);
            for two in pairs() {
                let other = ObjectKey::new(two.0, two.1);
                assert_eq!(key == other, one == two, "{one:?} {two:?}");
                assert_eq!(key.cmp(&other).is_eq(), one == two, "{one:?} {two:?}");
                assert_eq!(key.cmp(&other), other.cmp(&key).reverse());
            }
        }
    }

    #[test]
    fn keys_in_clusters_are_equal_if_all_parts_are() {
        let clusters = ["", "a", "b", "a:b", "ä"];
        let all: Vec<_> = clusters
            .into_iter()
            .flat_map(|cluster| pairs().into_iter().map(move |pair| (cluster, pair)))
            .collect();
        for one in &all {
            let key = ObjectKey::in_cluster(one.0, one.1.0, one.1.1);
            assert_eq!((key.cluster(), (key.namespace(), key.name())), *one);
            for two in &all {
                let other = ObjectKey::in_cluster(two.0, two.1.0, two.1.1);
                assert_eq!(key == other, one == two, "{one:?} {two:?}");
            }
        }
        let long = "ä".repeat(200);
        let key = ObjectKey::in_cluster(&long, "a", "b");
        assert_eq!(key.cluster(), "ä".repeat(127));
        assert_eq!((key.namespace(), key.name()), ("a", "b"));
    }

    #[test]
    fn a_displayed_key_parses_as_the_same_key_or_not_at_all() {
        for (namespace, name) in pairs() {
            let key = ObjectKey::new(namespace, name);
            if let Ok(read) = key.to_string().parse::<ObjectKey>() {
                assert_eq!(read, key, "{namespace:?} {name:?}");
            }
        }
    }
}
