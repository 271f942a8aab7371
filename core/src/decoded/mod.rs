//! The object that the decoders of this crate produce.

// What few objects have, and what all objects of a form share.
mod aside;

// Objects that are made by hand.
mod builder;

// What a record keeps besides key, body and texts.
mod head;

// The labels of an object.
mod labels;

// What an object says about itself.
mod meta;

// Everything that is kept of an object except its key, in one allocation.
mod record;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

pub(crate) use aside::Aside;
pub use aside::ReadAnnotations;
pub use builder::ObjectBuilder;
pub use labels::{LabelIter, Labels};
pub(crate) use meta::{Extent, KeptLength};
pub(crate) use record::Draft;

use crate::compress;
use crate::encoding::Encoding;
use crate::invariant::cannot_happen;
use crate::key::ObjectKey;
use crate::object::Resource;
use record::{HasTexts as _, Record};

/// A decoded object: its key, uid, version and labels, and a body in the form that you chose. It
/// dereferences to the body.
///
/// It is shared: a clone increments a counter. Except for the key it is a single allocation, and
/// whatever a body of your own type allocates. The key is an allocation of its own, so a key that you
/// keep does not keep the object alive.
///
/// ```
/// use informer_core::{Object, ObjectKey};
///
/// let pod = Object::builder(ObjectKey::new("web", "shop-1"))
///     .uid("5a1c4f0e")
///     .version("42")
///     .labels([("app", "shop")])
///     .body("Running".to_owned());
/// assert_eq!(pod.labels().get("app"), Some("shop"));
/// // The object dereferences to its body.
/// assert!(pod.starts_with("Run"));
/// ```
pub struct Object<K> {
    record: triomphe::Arc<Record<K>>,
}

impl<K> Object<K> {
    /// The namespace and name.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        &self.record.header.key
    }

    /// `metadata.uid`; empty if the server sent none.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.text(self.record.header.head.uid())
    }

    /// `metadata.resourceVersion`; empty if the server sent none.
    #[must_use]
    pub fn version(&self) -> &str {
        self.text(self.record.header.head.version())
    }

    /// `metadata.labels`
    #[must_use]
    pub fn labels(&self) -> Labels<'_> {
        match self.aside().and_then(|aside| aside.labels.as_ref()) {
            Some(other) => other.labels(),
            None => {
                let record = &self.record;
                let (labels, notation) = record.header.head.labels();
                Labels::new(record.texts(), labels, notation)
            }
        }
    }

    /// `metadata.generation`, which changes with the spec of most kinds; 0 if the server sent none.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.record.header.head.generation()
    }

    /// `metadata.creationTimestamp`; empty if the server sent none.
    #[must_use]
    pub fn creation_time(&self) -> &str {
        self.text(self.record.header.head.created())
    }

    /// `metadata.deletionTimestamp`; empty unless the object is being deleted.
    #[must_use]
    pub fn deletion_time(&self) -> &str {
        self.text(self.record.header.head.deleted())
    }

    /// The size of the object as the server sent it, in bytes; 0 for an object that you built.
    #[must_use]
    pub fn size(&self) -> usize {
        self.record.header.head.size() as usize
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &K {
        &self.record.header.body
    }

    /// Changes the body, in a transform. A body that is shared is cloned first. What is kept beside the body
    /// stays as the server sent it: labels, owner references, and annotations that the body does not have.
    ///
    /// ```
    /// use informer_core::{Object, ObjectKey};
    ///
    /// let mut pod = Object::builder(ObjectKey::new("web", "a")).body("a long text".to_owned());
    /// pod.edit(|text| text.truncate(3));
    /// assert_eq!(*pod, "a l");
    /// ```
    pub fn edit(&mut self, change: impl FnOnce(&mut K))
    where
        K: Clone,
    {
        self.unshare();
        match self.get_mut() {
            Some(mut object) => change(object.body_mut()),
            None => cannot_happen("a new record is shared", ()),
        }
    }

    /// Replaces the labels that indices and queries see, in a transform. The body keeps its labels. A
    /// body that is shared is cloned.
    pub fn set_labels<A: AsRef<str>, B: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (A, B)>,
    ) where
        K: Clone,
    {
        self.unshare();
        match self.get_mut() {
            Some(mut object) => object.set_labels(labels),
            None => cannot_happen("a new record is shared", ()),
        }
    }

    /// The object, to be changed without a clone; `None` if it is shared. In a transform it is not.
    pub fn get_mut(&mut self) -> Option<Unshared<'_, K>> {
        let record = triomphe::Arc::get_mut(&mut self.record)?;
        Some(Unshared { record })
    }

    /// Whether both are the same allocation.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        triomphe::Arc::ptr_eq(&self.record, &other.record)
    }

    /// The text that is kept beside the body, unpacked if it is packed.
    pub(crate) fn kept_text(&self) -> Cow<'_, [u8]> {
        let head = &self.record.header.head;
        let kept = self.kept_bytes();
        let Some(dictionary) = head.dictionary() else {
            return Cow::Borrowed(kept);
        };
        let (before, length) = (self.record.before_text(), head.kept().length());
        let text = compress::decode(kept, dictionary.texts(), before, length);
        Cow::Owned(text.unwrap_or_else(|| cannot_happen("a packed text is broken", Vec::new())))
    }

    /// The kept text, if it is JSON.
    pub(crate) fn kept_json(&self) -> Option<Cow<'_, str>> {
        if self.kept_encoding() != Encoding::Json {
            return None;
        }
        Some(match self.kept_text() {
            Cow::Borrowed(text) => Cow::Borrowed(utf8(text)),
            Cow::Owned(text) => Cow::Owned(String::from_utf8(text).unwrap_or_else(|_| {
                cannot_happen("a record whose text is not UTF-8", String::new())
            })),
        })
    }

    /// The encoding of the kept text.
    pub(crate) fn kept_encoding(&self) -> Encoding {
        self.record.header.head.kept().encoding()
    }

    /// The kept text as it stands in memory, packed or not. Nothing checks it as UTF-8 again.
    pub(crate) fn kept_bytes(&self) -> &[u8] {
        self.record.texts().bytes(self.record.text())
    }

    /// Whether the kept text is packed.
    pub(crate) fn is_packed(&self) -> bool {
        self.dictionary().is_some()
    }

    /// Reads the annotations from the body, if it has them.
    pub(crate) fn body_annotations(&self) -> Option<ReadAnnotations<K>> {
        self.aside()?.annotations
    }

    /// The annotations in the kept text: in JSON, or among other fields in protobuf. Empty if there are
    /// none.
    pub(crate) fn annotations_text(&self) -> Cow<'_, [u8]> {
        self.kept_part(self.record.header.head.annotations())
    }

    /// The owner references in the kept text, in the same way.
    pub(crate) fn owners_text(&self) -> Cow<'_, [u8]> {
        self.kept_part(self.record.header.head.owners())
    }

    /// A part of the kept text. A packed text is unpacked only up to its end: metadata usually come first.
    fn kept_part(&self, part: Extent) -> Cow<'_, [u8]> {
        let kept = self.kept_bytes();
        let beyond = || cannot_happen("an extent beyond its text", Cow::Borrowed(&[][..]));
        let Some(dictionary) = self.dictionary().filter(|_| part.length() > 0) else {
            let part = kept.get(part.range());
            return part.map_or_else(beyond, Cow::Borrowed);
        };
        let (texts, before) = (dictionary.texts(), self.record.before_text());
        let start = compress::decode_start(kept, texts, before, part.range().end);
        let part = start.and_then(|(start, _)| Some(start.get(part.range())?.to_vec()));
        part.map_or_else(beyond, Cow::Owned)
    }

    fn aside(&self) -> Option<&Aside<K>> {
        self.record.header.head.aside().map(|aside| &**aside)
    }

    /// What the kept text is packed with.
    fn dictionary(&self) -> Option<&compress::Dictionary> {
        let dictionary = self.record.header.head.dictionary();
        dictionary.map(|dictionary| &**dictionary)
    }

    /// Replaces the kept text. The annotations and the owner references stand at these places in it.
    pub(crate) fn replace_text(&mut self, text: &str, annotations: Extent, owners: Extent)
    where
        K: Clone,
    {
        let mut draft = Draft::new();
        draft.begin_changed(self, text);
        draft.meta.annotations = annotations;
        draft.meta.owners = owners;
        *self = draft.finish(self.key().clone(), self.body().clone());
    }

    /// Puts a copy in the place of a record that is shared.
    fn unshare(&mut self)
    where
        K: Clone,
    {
        if !triomphe::Arc::is_unique(&self.record) {
            let aside = self.record.header.head.aside().cloned();
            let mut draft = Draft::of(&self.record);
            *self = draft.finish_with(self.key().clone(), self.body().clone(), aside);
        }
    }

    fn text(&self, extent: Extent) -> &str {
        utf8(self.bytes(extent))
    }

    /// A text that is never in the dictionary.
    fn bytes(&self, extent: Extent) -> &[u8] {
        let bytes = self.record.slice.get(extent.range());
        bytes.unwrap_or_else(|| cannot_happen("an extent beyond its record", &[]))
    }
}

/// An object that is not shared: see [`Object::get_mut`].
pub struct Unshared<'a, K> {
    record: &'a mut Record<K>,
}

impl<K> Unshared<'_, K> {
    /// The body.
    pub fn body_mut(&mut self) -> &mut K {
        &mut self.record.header.body
    }

    /// Replaces the key, before anybody has seen it.
    pub(crate) fn set_key(&mut self, key: ObjectKey) {
        self.record.header.key = key;
    }

    /// Replaces the labels that indices and queries see. The body keeps its labels.
    pub fn set_labels<A: AsRef<str>, B: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (A, B)>,
    ) {
        let other = Object::builder(self.record.header.key.clone()).labels(labels);
        let length = self.record.slice.len();
        let head = &mut self.record.header.head;
        let annotations = head.aside().and_then(|aside| aside.annotations);
        let aside = Arc::new(Aside {
            labels: Some(other.body(())),
            annotations,
        });
        head.set_aside(aside, length);
    }
}

impl<K> fmt::Debug for Unshared<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unshared({})", self.record.header.key)
    }
}

impl<K> Resource for Object<K> {
    type Key = ObjectKey;

    fn key(&self) -> &ObjectKey {
        self.key()
    }

    fn identity(key: &ObjectKey) -> usize {
        key.address()
    }

    fn key_has_namespace() -> bool {
        true
    }

    fn uid(&self) -> &str {
        self.uid()
    }

    fn version(&self) -> &str {
        self.version()
    }

    fn has_same_uid(&self, other: &Self) -> bool {
        let uid = |object: &Self| object.record.header.head.uid();
        self.bytes(uid(self)) == other.bytes(uid(other))
    }

    fn has_same_version(&self, other: &Self) -> bool {
        let version = |object: &Self| object.record.header.head.version();
        self.bytes(version(self)) == other.bytes(version(other))
    }

    fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
        for (key, value) in self.labels() {
            visit(key, value);
        }
    }

    fn label(&self, key: &str, visit: &mut dyn FnMut(&str)) {
        if let Some(value) = self.labels().get(key) {
            visit(value);
        }
    }

    fn size(&self) -> usize {
        self.size()
    }
}

impl<K> Deref for Object<K> {
    type Target = K;

    fn deref(&self) -> &K {
        self.body()
    }
}

/// It is a pointer: moving it does not move the body.
impl<K> Unpin for Object<K> {}

impl<K> Clone for Object<K> {
    fn clone(&self) -> Self {
        Self {
            record: triomphe::Arc::clone(&self.record),
        }
    }
}

impl<K: PartialEq> PartialEq for Object<K> {
    fn eq(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        self.key() == other.key()
            && self.uid() == other.uid()
            && self.version() == other.version()
            && self.generation() == other.generation()
            && self.labels() == other.labels()
            && self.body() == other.body()
            && (self.record.has_same_text(&other.record)
                || self.kept_encoding() == other.kept_encoding()
                    && self.kept_text() == other.kept_text())
    }
}

impl<K: Eq> Eq for Object<K> {}

impl<K: fmt::Debug> fmt::Debug for Object<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Object");
        shown
            .field("key", self.key())
            .field("uid", &self.uid())
            .field("version", &self.version())
            .field("labels", &self.labels())
            .field("body", self.body());
        match self.kept_json() {
            Some(text) if !text.is_empty() => shown.field("text", &text),
            Some(_) => &mut shown,
            None => shown.field(
                "protobuf",
                &format_args!("{} bytes", self.kept_text().len()),
            ),
        };
        shown.finish_non_exhaustive()
    }
}

/// Converts text of a record, which was written from texts.
fn utf8(text: &[u8]) -> &str {
    let text = core::str::from_utf8(text);
    text.unwrap_or_else(|_| cannot_happen("a record whose text is not UTF-8", ""))
}
