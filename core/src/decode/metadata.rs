//! Owner references and annotations: read from the kept text or the body, and written for tests.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::json::header::Pairs;
use super::json::owners::{each_in_text, write_owners};
use super::json::write::write_pairs;
use super::protobuf::metadata as protobuf;
use crate::decoded::{Object, ObjectBuilder};
use crate::encoding::Encoding;
use crate::metadata::{Metadata, OwnerReference};

impl<K> Object<K> {
    /// Calls `visit` with every owner reference, in the order of the object. A change of the body does not
    /// change them.
    pub fn each_owner(&self, visit: &mut dyn FnMut(OwnerReference<'_>)) {
        let owners = self.owners_text();
        match self.kept_encoding() {
            _ if owners.is_empty() => {}
            Encoding::Json => each_in_text(&owners, visit),
            Encoding::Protobuf => protobuf::each_owner(&owners, visit),
        }
    }

    /// The owner references, in the order of the object.
    ///
    /// ```
    /// use informer_core::decode::{Lean, decode_object};
    ///
    /// let json = br#"{"metadata":{"name":"shop-1","ownerReferences":[
    ///     {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"shop","uid":"u-1","controller":true}]}}"#;
    /// let pod = decode_object(&mut Lean, json)?;
    /// assert_eq!(pod.owners().len(), 1);
    /// let owner = pod.controller().unwrap();
    /// assert_eq!((owner.group(), &*owner.kind, &*owner.name), ("apps", "ReplicaSet", "shop"));
    /// # Ok::<(), informer_core::decode::form::BodyError>(())
    /// ```
    #[must_use]
    pub fn owners(&self) -> Vec<OwnerReference<'static>> {
        let mut owners = Vec::new();
        self.each_owner(&mut |owner| owners.push(owner.into_owned()));
        owners
    }

    /// The owner reference to the controller of the object.
    #[must_use]
    pub fn controller(&self) -> Option<OwnerReference<'static>> {
        let mut controller = None;
        self.each_owner(&mut |owner| {
            if owner.controller && controller.is_none() {
                controller = Some(owner.into_owned());
            }
        });
        controller
    }

    /// Calls `visit` with every annotation. If a key is repeated, the last value counts.
    ///
    /// A typed object has the annotations that its type has, if the form says how to
    /// [read](super::form::Form::body_annotations) them, or those that you [keep](super::Keep::annotations).
    pub fn each_annotation(&self, visit: &mut dyn FnMut(&str, &str)) {
        if let Some(read) = self.body_annotations() {
            read(self.body(), visit);
            return;
        }
        let annotations = self.annotations_text();
        match self.kept_encoding() {
            Encoding::Json => {
                for (key, value) in Pairs::new(&annotations) {
                    visit(&key.to_cow(), &value.to_cow());
                }
            }
            Encoding::Protobuf => {
                for (key, value) in protobuf::annotations(&annotations) {
                    visit(key, value);
                }
            }
        }
    }

    /// The value of the annotation `name`, if it is set: see [`each_annotation`](Self::each_annotation).
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<Cow<'_, str>> {
        if self.body_annotations().is_some() {
            let mut found = None;
            self.each_annotation(&mut |key, value| {
                if key == name {
                    found = Some(Cow::Owned(value.into()));
                }
            });
            return found;
        }
        let find = match self.kept_encoding() {
            Encoding::Json => in_json,
            Encoding::Protobuf => in_protobuf,
        };
        match self.annotations_text() {
            Cow::Borrowed(text) => find(text, name),
            Cow::Owned(text) => {
                let found = find(&text, name)?;
                Some(Cow::Owned(found.into_owned()))
            }
        }
    }
}

impl<K> Metadata for Object<K> {
    fn each_owner(&self, visit: &mut dyn FnMut(OwnerReference<'_>)) {
        self.each_owner(visit);
    }

    fn each_annotation(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.each_annotation(visit);
    }
}

impl ObjectBuilder {
    /// Sets `metadata.annotations`. If a key is repeated, the last value counts.
    ///
    /// An object that keeps its text has them in that text: decode it from JSON instead.
    #[must_use]
    pub fn annotations<A: AsRef<str>, B: AsRef<str>>(
        mut self,
        annotations: impl IntoIterator<Item = (A, B)>,
    ) -> Self {
        self.annotations.clear();
        write_pairs(&mut self.annotations, annotations);
        self
    }

    /// Sets `metadata.ownerReferences`, as [`annotations`](Self::annotations) does.
    #[must_use]
    pub fn owners<'a>(mut self, owners: impl IntoIterator<Item = OwnerReference<'a>>) -> Self {
        self.owners = write_owners(owners);
        self
    }
}

fn in_json<'a>(annotations: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    let named = Pairs::new(annotations).filter(|(key, _)| key.eq_str(name));
    named.last().map(|(_, value)| value.to_cow())
}

fn in_protobuf<'a>(annotations: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    let named = protobuf::annotations(annotations).filter(|(key, _)| *key == name);
    named.last().map(|(_, value)| Cow::Borrowed(value))
}
