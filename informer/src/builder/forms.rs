//! The forms in which an informer can keep objects.

use std::sync::{Arc, PoisonError};

use informer_core::decode::form::{
    LeanBody, MetadataBody, PackedBody, ReadAnnotations, TextBody, TextForm,
};
#[cfg(feature = "prost")]
use informer_core::decode::protobuf::{AsProst, Prost};
use informer_core::decode::{As, Dynamic, Form, Lean, MetadataOnly, Packed, Typed};
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
    ///
    /// The server is asked for protobuf, which costs both sides less, and for JSON if it has no protobuf. The
    /// objects are the same in both cases: their metadata is kept as JSON.
    #[must_use]
    pub fn metadata_at(target: Target) -> Self {
        let target = target.with_content(Content::Metadata);
        Self::of(target.accepting(MetadataOnly::ENCODINGS), || MetadataOnly)
    }
}

impl<F: TextForm + Form + 'static> InformerBuilder<TextBody<F>> {
    /// Asks the server for protobuf, which is shorter than JSON and read with about a sixth of the instructions. The
    /// server still answers JSON for what it has no protobuf of, such as custom resources.
    ///
    /// What every object has works as with JSON: keys, versions, labels, annotations, owner references, and indices by
    /// these. The rest of a message has numbers instead of names, so only a schema can read it:
    ///
    /// * `decode_message` (feature `prost`) decodes an object into a type of prost, such as those of the crate `k8s-pb`.
    ///   `protobuf` gives the bytes.
    /// * `json`, `decode` and `decode_as`, which give JSON or read it, fail with an error that says so. The inspector of
    ///   the operations port shows that error in place of the object's JSON.
    /// * An index or a query by a path, such as `spec.nodeName`, finds nothing unless the path has
    ///   [numbers](informer_core::decode::FieldPath::reads_protobuf).
    ///   [`known`](informer_core::decode::known) has those of the usual fields, and
    ///   [`by::node_name`](crate::by::node_name) has them already.
    ///
    /// ```
    /// use informer::informer_core::decode::known;
    /// use informer::{InformerBuilder, Target, by};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = serde_json::json!({
    /// #     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"}},
    /// #     "spec": {"nodeName": "node-1"}
    /// # });
    /// # server.with(|server| server.create("pods", pod))?;
    ///
    /// // `server` is a mock API server with a pending pod of this app.
    /// let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods"))
    ///     .protobuf()
    ///     .index("app", by::label("app"))
    ///     .index("phase", by::field(known::POD_PHASE.into()))
    ///     .start(&server.connect())?;
    /// pods.synced(Duration::from_secs(30)).await?;
    /// assert_eq!(pods.lister().by_index("app", "shop")?.len(), 1);
    /// assert_eq!(pods.lister().by_index("phase", "Pending")?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn protobuf(mut self) -> Self {
        self.target.encodings = F::ENCODINGS;
        self
    }
}

/// Types of prost, such as those of the crate `k8s-pb`. Servers have protobuf of built-in kinds alone. For any other
/// kind an informer on such a type fails, with a message that says so.
#[cfg(feature = "prost")]
impl<M: prost::Message + Default + 'static> InformerBuilder<M> {
    /// Keeps objects decoded from protobuf, as values of a type of prost. The type need not have annotations: see
    /// [`keep_annotations`](Self::keep_annotations).
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    /// use k8s_pb::api::core::v1::Pod;
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = serde_json::json!({
    /// #     "metadata": {"namespace": "web", "name": "shop-1"}, "spec": {"nodeName": "node-1"}
    /// # });
    /// # server.with(|server| server.create("pods", pod))?;
    ///
    /// // `server` is a mock API server with a pod on node-1.
    /// let pods = InformerBuilder::<Pod>::prost_at(Target::new("", "v1", "pods"))
    ///     .start(&server.connect())?;
    /// pods.synced(Duration::from_secs(30)).await?;
    /// let pod = pods.lister().get("web", "shop-1").ok_or("no pod")?;
    /// let spec = pod.spec.as_ref().ok_or("no spec")?;
    /// assert_eq!(spec.node_name(), "node-1");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn prost_at(target: Target) -> Self {
        Self::of(target, Prost::<M>::new)
    }

    /// Keeps the messages that the server sent, without `managedFields`, and decodes them when you ask:
    /// [`Object::decode`](informer_core::Object::decode) gives an `M`.
    #[must_use]
    pub fn lean_prost_at(target: Target) -> InformerBuilder<LeanBody<Prost<M>>> {
        InformerBuilder::of(target, AsProst::<Lean, M>::new)
    }

    /// Keeps what [`lean_prost_at`](Self::lean_prost_at) keeps, compressed.
    #[must_use]
    pub fn packed_prost_at(target: Target) -> InformerBuilder<PackedBody<Prost<M>>> {
        InformerBuilder {
            pack: Some(packing),
            ..InformerBuilder::of(target, AsProst::<Packed, M>::new)
        }
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
