//! Objects that are made by hand.

use alloc::vec::Vec;

use super::{Draft, Object};
use crate::key::ObjectKey;

impl Object<()> {
    /// Builds an object with this key, for tests and for sources other than our decoders.
    #[must_use]
    pub const fn builder(key: ObjectKey) -> ObjectBuilder {
        ObjectBuilder {
            key,
            draft: Draft::new(),
            annotations: Vec::new(),
            owners: Vec::new(),
        }
    }
}

/// Builds an [`Object`]. [`body`](Self::body) is the last step.
#[derive(Clone, Debug)]
pub struct ObjectBuilder {
    key: ObjectKey,
    draft: Draft,
    /// In JSON.
    pub(crate) annotations: Vec<u8>,
    /// In JSON.
    pub(crate) owners: Vec<u8>,
}

impl ObjectBuilder {
    /// Sets `metadata.uid`.
    #[must_use]
    pub fn uid(mut self, uid: impl AsRef<str>) -> Self {
        self.draft.meta.uid = self.draft.push(uid.as_ref());
        self
    }

    /// Sets `metadata.resourceVersion`.
    #[must_use]
    pub fn version(mut self, version: impl AsRef<str>) -> Self {
        self.draft.meta.version = self.draft.push(version.as_ref());
        self
    }

    /// Sets `metadata.labels`. If a key is repeated, the last value counts.
    #[must_use]
    pub fn labels<A: AsRef<str>, B: AsRef<str>>(
        mut self,
        labels: impl IntoIterator<Item = (A, B)>,
    ) -> Self {
        self.draft.set_labels(labels);
        self
    }

    /// Sets `metadata.generation`.
    #[must_use]
    pub const fn generation(mut self, generation: u64) -> Self {
        self.draft.meta.generation = generation;
        self
    }

    /// Sets `metadata.creationTimestamp`.
    #[must_use]
    pub fn creation_time(mut self, time: impl AsRef<str>) -> Self {
        self.draft.meta.created = self.draft.push(time.as_ref());
        self
    }

    /// Sets `metadata.deletionTimestamp`: the object is being deleted.
    #[must_use]
    pub fn deletion_time(mut self, time: impl AsRef<str>) -> Self {
        self.draft.meta.deleted = self.draft.push(time.as_ref());
        self
    }

    /// Sets the size of the object as a server sent it, in bytes.
    #[must_use]
    pub fn size(mut self, size: usize) -> Self {
        self.draft.meta.size = u32::try_from(size).unwrap_or(u32::MAX);
        self
    }

    /// Builds the object.
    #[must_use]
    pub fn body<K>(mut self, body: K) -> Object<K> {
        self.draft.push_metadata(&self.annotations, &self.owners);
        self.draft.finish(self.key, body)
    }
}
