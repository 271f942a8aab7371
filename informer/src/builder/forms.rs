//! The forms in which an informer can keep objects.

use std::sync::{Arc, PoisonError};

use informer_core::decode::form::{LeanBody, MetadataBody, PackedBody, ReadAnnotations};
use informer_core::decode::{As, Dynamic, Lean, MetadataOnly, Packed, Typed};
use informer_core::pack::Packer;
use informer_core::transport::{Content, Target};

use super::{InformerBuilder, TransformFn};
use crate::kind::Kind;
use crate::sync::Mutex;

impl<K: Kind> InformerBuilder<K> {
    /// Keeps objects decoded, as values of a Rust type that knows its resource.
    #[must_use]
    pub fn typed() -> Self {
        match K::ANNOTATIONS {
            Some(read) => Self::typed_with_annotations(K::target(), read),
            None => Self::typed_at(K::target()),
        }
    }

    /// Keeps objects as the server sent them, without `managedFields`, and decodes them when you ask:
    /// [`Object::decode`](informer_core::Object::decode) gives a `K`.
    #[must_use]
    pub fn lean() -> InformerBuilder<LeanBody<K>> {
        InformerBuilder::of(K::target(), As::<Lean, K>::new)
    }

    /// Keeps what [`lean`](Self::lean) keeps, compressed: about a seventh to a tenth of what the server
    /// sent. Reading an object costs some microseconds. **Take this form unless you read most objects all
    /// the time.**
    ///
    /// ```
    /// use informer::{InformerBuilder, Kind, PackedBody};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Pod {
    ///     spec: serde_json::Value,
    /// }
    ///
    /// impl Kind for Pod {
    ///     const GROUP: &'static str = "";
    ///     const VERSION: &'static str = "v1";
    ///     const KIND: &'static str = "Pod";
    ///     const PLURAL: &'static str = "pods";
    /// }
    ///
    /// let pods: InformerBuilder<PackedBody<Pod>> = InformerBuilder::<Pod>::packed();
    /// // Later, in a handler or after a query: `let pod: Pod = object.decode()?;`
    /// ```
    #[must_use]
    pub fn packed() -> InformerBuilder<PackedBody<K>> {
        Self::packed_from(K::target())
    }
}

impl<K: serde::de::DeserializeOwned + Send + Sync + 'static> InformerBuilder<K> {
    /// Keeps the objects of a target packed, and decodes them as values of a Rust type.
    pub(crate) fn packed_from(target: Target) -> InformerBuilder<PackedBody<K>> {
        InformerBuilder {
            pack: Some(packing),
            ..InformerBuilder::of(target, As::<Packed, K>::new)
        }
    }

    /// Keeps objects decoded, as values of a type that has annotations. All functions that read them find
    /// the same.
    pub(crate) fn typed_with_annotations(target: Target, read: ReadAnnotations<K>) -> Self {
        let form = move || Typed::new().with_annotations(read);
        Self::of_named(target, "typed with annotations", form)
    }

    /// Keeps objects decoded, as values of any Rust type that can be deserialized. The type need not have
    /// annotations: see [`keep_annotations`](Self::keep_annotations).
    #[must_use]
    pub fn typed_at(target: Target) -> Self {
        Self::of(target, Typed::new)
    }
}

impl InformerBuilder<LeanBody> {
    /// Keeps objects of any kind as the server sent them, without `managedFields`, and decodes them when you
    /// ask.
    #[must_use]
    pub fn lean_at(target: Target) -> Self {
        Self::of(target, || Lean)
    }
}

impl InformerBuilder<PackedBody> {
    /// Keeps objects of any kind as [`lean_at`](InformerBuilder::lean_at) does, compressed to about a
    /// seventh to a tenth of what the server sent. Reading an object costs some microseconds.
    #[must_use]
    pub fn packed_at(target: Target) -> Self {
        Self {
            pack: Some(packing),
            ..Self::of(target, || Packed)
        }
    }
}

impl InformerBuilder<serde_json::Value> {
    /// Keeps objects of any kind as JSON values.
    #[must_use]
    pub fn dynamic_at(target: Target) -> Self {
        Self::of(target, || Dynamic)
    }
}

impl InformerBuilder<MetadataBody> {
    /// Keeps only the metadata of objects of any kind. The server sends nothing else.
    #[must_use]
    pub fn metadata_at(target: Target) -> Self {
        let target = Target {
            content: Content::Metadata,
            ..target
        };
        Self::of(target, || MetadataOnly)
    }
}

/// The transform that packs the objects of one informer.
fn packing<K>() -> TransformFn<PackedBody<K>> {
    let packer = Mutex::new(Packer::new());
    Arc::new(move |object| {
        let packer = packer.lock();
        packer.unwrap_or_else(PoisonError::into_inner).pack(object);
        Ok(())
    })
}
