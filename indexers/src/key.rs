//! Your own keys, and access to namespace and name under any key.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::hash::Hash;
use core::ops::Deref;

use informer_core::decode::{FieldPath, Fields, Scalar};
use informer_core::{Metadata, Object, ObjectKey, OwnerReference, Resource};

/// An object with a namespace and a name, whatever the type of its key.
///
/// [`by::namespace`](crate::by::namespace) and [`Query::namespace`](crate::Query::namespace) need it.
/// Implement it for your own resource types:
///
/// ```
/// use informer_indexers::{KeyFormat, Namespaced};
///
/// struct Widget {
///     path: (String, String),
/// }
///
/// impl Namespaced for Widget {
///     fn namespace(&self) -> &str {
///         &self.path.0
///     }
///
///     fn name(&self) -> &str {
///         &self.path.1
///     }
/// }
///
/// let widget = Widget { path: ("web".to_owned(), "a".to_owned()) };
/// assert_eq!(KeyFormat::new("/").key_of(&widget), "web/a");
/// ```
pub trait Namespaced {
    /// The namespace; empty for a cluster-scoped object.
    fn namespace(&self) -> &str;

    /// The name within the namespace.
    fn name(&self) -> &str;
}

impl<K> Namespaced for Object<K> {
    fn namespace(&self) -> &str {
        self.key().namespace()
    }

    fn name(&self) -> &str {
        self.key().name()
    }
}

macro_rules! namespaced_through_pointer {
    ($($pointer:ty),*) => {$(
        impl<N: Namespaced + ?Sized> Namespaced for $pointer {
            fn namespace(&self) -> &str {
                (**self).namespace()
            }
            fn name(&self) -> &str {
                (**self).name()
            }
        }
    )*};
}

namespaced_through_pointer!(&N, Box<N>, Rc<N>, Arc<N>);

/// An object stored under your own key. It dereferences to the object.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::{KeyFormat, Keyed};
///
/// let dashes = KeyFormat::new("---");
/// let pod = Object::builder(ObjectKey::new("web", "a"))
///     .version("1")
///     .body(());
/// let mut store: Indexer<_, Heap> = Indexer::new(Seed::new(1));
/// store.put(Keyed::by(|pod| dashes.key_of(pod), pod))?;
/// assert_eq!(store.get(&"web---a".to_owned()).map(|pod| pod.key().name()), Some("a"));
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keyed<K, T> {
    key: K,
    object: T,
}

impl<K, T> Keyed<K, T> {
    /// Pairs the object with the key that `function` returns for it.
    pub fn by(function: impl FnOnce(&T) -> K, object: T) -> Self {
        Self {
            key: function(&object),
            object,
        }
    }

    /// Returns the object without its key.
    pub fn into_inner(self) -> T {
        self.object
    }
}

impl<K, T> Deref for Keyed<K, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug, T: Resource> Resource for Keyed<K, T> {
    type Key = K;

    fn key(&self) -> &K {
        &self.key
    }

    fn uid(&self) -> &str {
        self.object.uid()
    }

    fn version(&self) -> &str {
        self.object.version()
    }

    fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.object.labels(visit);
    }
}

impl<K, T: Namespaced> Namespaced for Keyed<K, T> {
    fn namespace(&self) -> &str {
        self.object.namespace()
    }

    fn name(&self) -> &str {
        self.object.name()
    }
}

impl<K, T: Metadata> Metadata for Keyed<K, T> {
    fn each_owner(&self, visit: &mut dyn FnMut(OwnerReference<'_>)) {
        self.object.each_owner(visit);
    }

    fn each_annotation(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.object.each_annotation(visit);
    }
}

impl<K, T: Fields> Fields for Keyed<K, T> {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        self.object.each_field(path, visit);
    }

    fn knows_field(&self, path: &FieldPath) -> bool {
        self.object.knows_field(path)
    }
}

/// Keys that join namespace and name with your own separator, such as `namespace---name`.
///
/// As with client-go's `namespace/name`, the key of a cluster-scoped object is just its name.
///
/// ```
/// use informer_indexers::KeyFormat;
///
/// let dashes = KeyFormat::new("---");
/// assert_eq!(dashes.key("web", "a"), "web---a");
/// let key = dashes.parse("web---a")?;
/// assert_eq!((key.namespace(), key.name()), ("web", "a"));
/// let error = dashes.parse("web---a---b").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"unexpected key format: "web---a---b" (expected `name` or `namespace---name`)"#
/// );
/// # Ok::<(), informer_indexers::KeyFormatError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyFormat {
    separator: &'static str,
}

impl KeyFormat {
    /// Creates a format with this separator.
    ///
    /// Choose one that no namespace or name can contain, or some keys cannot be parsed. Names consist of
    /// `a` to `z`, digits, `-` and `.`; some kinds allow more characters, but none allows `/`.
    #[must_use]
    pub const fn new(separator: &'static str) -> Self {
        Self { separator }
    }

    /// The key of the object `name` in `namespace`.
    #[must_use]
    pub fn key(self, namespace: &str, name: &str) -> String {
        if namespace.is_empty() {
            return name.into();
        }
        [namespace, self.separator, name].concat()
    }

    /// The key of an object.
    #[must_use]
    pub fn key_of(self, object: &impl Namespaced) -> String {
        self.key(object.namespace(), object.name())
    }

    /// Splits a key into namespace and name.
    ///
    /// # Errors
    /// The key contains the separator more than once.
    pub fn parse(self, key: &str) -> Result<ObjectKey, KeyFormatError> {
        match key.split_once(self.separator) {
            None => Ok(ObjectKey::new("", key)),
            Some((namespace, name)) if !name.contains(self.separator) => {
                Ok(ObjectKey::new(namespace, name))
            }
            Some(_) => Err(KeyFormatError {
                key: key.into(),
                separator: self.separator,
            }),
        }
    }
}

/// A string that is not a key of a [`KeyFormat`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyFormatError {
    key: String,
    separator: &'static str,
}

impl fmt::Display for KeyFormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unexpected key format: {:?} (expected `name` or `namespace{}name`)",
            self.key, self.separator
        )
    }
}

impl core::error::Error for KeyFormatError {}
