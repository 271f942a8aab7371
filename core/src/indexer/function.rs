//! Index functions.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
#[cfg(feature = "alloc")]
use alloc::sync::Arc;
#[cfg(feature = "alloc")]
use core::any::{Any, TypeId};
use core::fmt;

/// Computes the values under which an index files an object: none, one or many.
///
/// Values are bytes. Encode text as its bytes, and numbers in an encoding that keeps their order, such as
/// big-endian, so that the index can be [ordered](Self::ordered). The function cannot fail. An object
/// that it does not understand has no values.
///
/// ```
/// use informer_core::indexer::{IndexFn, Subject};
/// use informer_core::{Object, ObjectKey};
///
/// let by_namespace = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
///     file(object.key().namespace().as_bytes());
/// });
/// // Sorted by value. The subject lets queries find this index.
/// let by_namespace = by_namespace.ordered().about(Subject::Namespace);
/// assert!(by_namespace.is_ordered());
///
/// let pod = Object::builder(ObjectKey::new("default", "web"))
///     .version("1")
///     .body(());
/// let mut values = Vec::new();
/// by_namespace.values(&pod, &mut |value| values.push(value.to_vec()));
/// assert_eq!(values, [b"default"]);
/// ```
pub struct IndexFn<T> {
    function: Function<T>,
    ordered: bool,
    #[cfg(feature = "alloc")]
    subject: Subject,
}

/// What the values of an index mean. Lets a query find an index that answers it.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Subject {
    /// Something that only the author of the index knows.
    #[default]
    Own,
    /// Something with this name: see [`IndexFn::named`].
    Named(Arc<str>),
    /// The namespace; an empty value for an object without a namespace. If it is a part of the key, an object that is
    /// put under the same key again is not filed again: see [`Resource::key_has_namespace`](crate::Resource).
    Namespace,
    /// The key as it is displayed. What is said of the namespace holds here, too.
    Key,
    /// The value of the label with this key; no value for an object without this label.
    Label(Cow<'static, str>),
    /// One value `key=value` per label.
    LabelPairs,
    /// The value of the annotation with this key; no value for an object without this annotation.
    Annotation(Cow<'static, str>),
    /// The texts of the field at this path; no value for an object without this field.
    Field(Cow<'static, str>),
}

enum Function<T> {
    Plain(PlainFn<T>),
    #[cfg(feature = "alloc")]
    Shared {
        function: Arc<Closure<T>>,
        /// The type of a closure that captures nothing. It says all about such a closure.
        whole: Option<TypeId>,
    },
}

/// A plain function that calls its second argument with each value of an object.
pub type PlainFn<T> = fn(&T, &mut dyn FnMut(&[u8]));

#[cfg(feature = "alloc")]
type Closure<T> = dyn Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync;

impl<T> IndexFn<T> {
    /// An index function from a closure. Its values must depend only on the object.
    #[cfg(feature = "alloc")]
    pub fn new(function: impl Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync + 'static) -> Self {
        Self::of(Function::Shared {
            whole: (size_of_val(&function) == 0).then(|| function.type_id()),
            function: Arc::new(function),
        })
    }

    /// An index function from a plain function. Needs no allocator.
    pub const fn plain(function: PlainFn<T>) -> Self {
        Self::of(Function::Plain(function))
    }

    const fn of(function: Function<T>) -> Self {
        Self {
            function,
            ordered: false,
            #[cfg(feature = "alloc")]
            subject: Subject::Own,
        }
    }

    /// Keeps the values sorted by their bytes, for [`View::range`](super::View::range). Looking up one
    /// value stays as fast. Adding or removing a value costs a walk down a tree.
    #[must_use]
    pub fn ordered(self) -> Self {
        Self {
            ordered: true,
            ..self
        }
    }

    /// Sets what the values mean. If this is wrong, queries miss objects, and an object may stay filed under
    /// values that it no longer has.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// Gives the function a name, so that it can be told from others although it captures something. You
    /// promise that all functions of this name file every object under the same values.
    ///
    /// The name replaces what [`about`](Self::about) has said.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        self.about(Subject::Named(name.into()))
    }

    /// Whether this is known to be the same function as `other`: both are about the same
    /// [subject](Self::about) or have the same [name](Self::named), one is a clone of the other, or both are
    /// the same closure, which captures nothing. Whether the values are [sorted](Self::ordered) does not
    /// matter.
    ///
    /// ```
    /// use informer_core::Object;
    /// use informer_core::indexer::IndexFn;
    ///
    /// let by_length = |longest: usize| {
    ///     IndexFn::new(move |text: &Object<String>, file: &mut dyn FnMut(&[u8])| {
    ///         file(&text.len().min(longest).to_be_bytes());
    ///     })
    /// };
    /// // It captures `longest`.
    /// assert!(!by_length(7).is_same(&by_length(7)));
    /// let (seven, nine) = (by_length(7).named("up to 7"), by_length(9).named("up to 9"));
    /// assert!(seven.is_same(&by_length(7).named("up to 7")));
    /// assert!(!seven.is_same(&nine));
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let says_all = self.subject != Subject::Own && self.subject == other.subject;
        says_all
            || match (&self.function, &other.function) {
                (Function::Plain(one), Function::Plain(other)) => {
                    core::ptr::fn_addr_eq(*one, *other)
                }
                (
                    Function::Shared { function, whole },
                    Function::Shared {
                        function: other,
                        whole: others,
                    },
                ) => Arc::ptr_eq(function, other) || (whole.is_some() && whole == others),
                _ => false,
            }
    }

    /// Whether the function can be told from others. A closure that captures something cannot, unless it
    /// has a [subject](Self::about) or a [name](Self::named).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn is_identified(&self) -> bool {
        let captures = matches!(self.function, Function::Shared { whole: None, .. });
        !captures || self.subject != Subject::Own
    }

    /// Whether the index keeps the values sorted.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// What the values mean.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Whether the values are the namespace or the key.
    pub(super) const fn is_about_key(&self) -> bool {
        #[cfg(feature = "alloc")]
        return matches!(self.subject, Subject::Namespace | Subject::Key);
        #[cfg(not(feature = "alloc"))]
        false
    }

    /// Calls `file` with each value of `object`.
    pub fn values(&self, object: &T, file: &mut dyn FnMut(&[u8])) {
        match &self.function {
            Function::Plain(function) => function(object, file),
            #[cfg(feature = "alloc")]
            Function::Shared { function, .. } => function(object, file),
        }
    }
}

impl<T> Clone for IndexFn<T> {
    fn clone(&self) -> Self {
        Self {
            function: match &self.function {
                Function::Plain(function) => Function::Plain(*function),
                #[cfg(feature = "alloc")]
                Function::Shared { function, whole } => Function::Shared {
                    function: Arc::clone(function),
                    whole: *whole,
                },
            },
            ordered: self.ordered,
            #[cfg(feature = "alloc")]
            subject: self.subject.clone(),
        }
    }
}

impl<T> fmt::Debug for IndexFn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexFn(…)")
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    type Filed<'a> = &'a mut dyn FnMut(&[u8]);

    fn low(number: &u8, file: Filed<'_>) {
        file(&[number & 15]);
    }

    fn high(number: &u8, file: Filed<'_>) {
        file(&[number >> 4]);
    }

    fn masked(mask: u8) -> IndexFn<u8> {
        IndexFn::new(move |number: &u8, file: Filed<'_>| file(&[number & mask]))
    }

    #[test]
    fn functions_that_capture_nothing_are_told_by_their_type() {
        let closure = || IndexFn::new(|number: &u8, file: Filed<'_>| file(&[number & 15]));
        assert!(closure().is_same(&closure()) && closure().is_identified());
        assert!(!closure().is_same(&IndexFn::new(low)));
        assert!(IndexFn::new(low).is_same(&IndexFn::new(low)));
        assert!(!IndexFn::new(low).is_same(&IndexFn::new(high)));
        assert!(IndexFn::plain(low).is_same(&IndexFn::plain(low)));
        assert!(!IndexFn::plain(low).is_same(&IndexFn::plain(high)));
        assert!(IndexFn::plain(low).is_identified());
        assert!(!IndexFn::plain(low).is_same(&IndexFn::new(low)));
        assert!(closure().is_same(&closure().ordered()));
    }

    #[test]
    fn functions_that_capture_something_are_told_by_what_is_said_of_them() {
        let one = masked(1);
        assert!(!one.is_same(&masked(1)) && !one.is_identified());
        assert!(one.is_same(&one.clone()), "a clone is the same function");
        let named = |mask, name: &str| masked(mask).named(name);
        assert!(named(1, "a").is_same(&named(1, "a")) && named(1, "a").is_identified());
        assert!(!named(1, "a").is_same(&named(1, "b")));
        assert!(!named(1, "a").is_same(&one) && !one.is_same(&named(1, "a")));
        let about = |key: &'static str| masked(1).about(Subject::Label(key.into()));
        assert!(about("a").is_same(&about("a")) && about("a").is_identified());
        assert!(!about("a").is_same(&about("b")));
    }
}
