//! `ObjectKey`: namespace and name of an object.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};

/// Namespace and name of an object, in one shared allocation.
///
/// It is displayed, compared and hashed as client-go's cache key: `namespace/name`, or `name` alone
/// for an object without a namespace. A clone costs a counter, not an allocation.
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
/// # Ok::<(), informer_core::ParseKeyError>(())
/// ```
#[derive(Clone)]
pub struct ObjectKey {
    text: Arc<str>,
    /// Where the name begins: behind the slash, or at 0 without a namespace.
    name_at: u32,
}

impl ObjectKey {
    /// The key of the object `name` in `namespace`; an empty namespace means none.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self {
                text: Arc::from(name),
                name_at: 0,
            };
        }
        let mut text = String::with_capacity(namespace.len() + 1 + name.len());
        text.push_str(namespace);
        text.push('/');
        text.push_str(name);
        Self {
            text: Arc::from(text),
            name_at: u32::try_from(namespace.len() + 1).unwrap_or(0),
        }
    }

    /// The key as client-go writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The namespace, empty for a cluster-scoped object.
    #[must_use]
    pub fn namespace(&self) -> &str {
        let slash = (self.name_at as usize).saturating_sub(1);
        self.text.get(..slash).unwrap_or_default()
    }

    /// The name within the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text.get(self.name_at as usize..).unwrap_or_default()
    }
}

impl core::str::FromStr for ObjectKey {
    type Err = ParseKeyError;

    /// Reads `name` or `namespace/name`. Anything with two or more slashes is an error; `/name` has
    /// no namespace.
    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        match text.split_once('/') {
            None => Ok(Self::new("", text)),
            Some((namespace, name)) if !name.contains('/') => Ok(Self::new(namespace, name)),
            Some(_) => Err(ParseKeyError { text: text.into() }),
        }
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ObjectKey {}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// A text that is not a key: it has more than one slash.
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
