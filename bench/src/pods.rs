//! Pods in each form: how to build an informer for them, and what a handler reads.

use informer::informer_core::decode::MetadataOnly;
use informer::{InformerBuilder, LeanBody, MetadataBody, Object, PackedBody, Target};
#[cfg(feature = "typed")]
use k8s_openapi::api::core::v1::Pod;

/// The annotation with the time at which the load server sent the event, in ns since 1970.
const SENT: &str = "bench.example/sent-ns";

/// A pod in one of the forms.
pub(crate) trait Measured: Send + Sync + Sized + 'static {
    /// An informer for all pods.
    fn builder() -> InformerBuilder<Self>;

    /// When the load server sent it.
    fn sent(pod: &Object<Self>) -> Option<u64>;
}

#[cfg(feature = "typed")]
impl Measured for Pod {
    fn builder() -> InformerBuilder<Self> {
        InformerBuilder::typed()
    }

    fn sent(pod: &Object<Self>) -> Option<u64> {
        pod.metadata.annotations.as_ref()?.get(SENT)?.parse().ok()
    }
}

impl Measured for LeanBody {
    fn builder() -> InformerBuilder<Self> {
        InformerBuilder::lean_at(pods())
    }

    fn sent(pod: &Object<Self>) -> Option<u64> {
        pod.annotation(SENT)?.parse().ok()
    }
}

impl Measured for PackedBody {
    fn builder() -> InformerBuilder<Self> {
        InformerBuilder::packed_at(pods())
    }

    fn sent(pod: &Object<Self>) -> Option<u64> {
        pod.annotation(SENT)?.parse().ok()
    }
}

impl Measured for MetadataBody {
    fn builder() -> InformerBuilder<Self> {
        // The load server cannot send metadata alone, so whole pods are requested.
        InformerBuilder::of(pods(), || MetadataOnly)
    }

    fn sent(pod: &Object<Self>) -> Option<u64> {
        pod.annotation(SENT)?.parse().ok()
    }
}

/// All pods.
pub(crate) fn pods() -> Target {
    Target::new("", "v1", "pods")
}
