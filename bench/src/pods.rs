//! Pods in each form: how to build an informer for them, and what a handler reads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use informer::informer_core::decode::MetadataOnly;
use informer::{InformerBuilder, LeanBody, MetadataBody, Target};
#[cfg(feature = "typed")]
use k8s_openapi::api::core::v1::Pod;

/// The annotation with the time at which the load server sent the event, in ns since 1970.
const SENT: &str = "bench.example/sent-ns";

/// A pod in one of the forms.
pub(crate) trait Measured: Send + Sync + Sized + 'static {
    /// An informer for all pods.
    fn builder() -> InformerBuilder<Self>;

    /// When the load server sent it.
    fn sent(&self) -> Option<u64>;
}

#[cfg(feature = "typed")]
impl Measured for Pod {
    fn builder() -> InformerBuilder<Self> {
        InformerBuilder::typed()
    }

    fn sent(&self) -> Option<u64> {
        self.metadata.annotations.as_ref()?.get(SENT)?.parse().ok()
    }
}

impl Measured for LeanBody {
    fn builder() -> InformerBuilder<Self> {
        InformerBuilder::lean(pods())
    }

    fn sent(&self) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Annotated<'a> {
            #[serde(borrow)]
            metadata: Annotations<'a>,
        }
        #[derive(serde::Deserialize)]
        struct Annotations<'a> {
            #[serde(borrow)]
            annotations: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
        }
        let pod: Annotated<'_> = self.decode().ok()?;
        pod.metadata.annotations.get(SENT)?.parse().ok()
    }
}

impl Measured for MetadataBody {
    fn builder() -> InformerBuilder<Self> {
        // The load server cannot send metadata alone, so whole pods are requested.
        InformerBuilder::of(pods(), || MetadataOnly)
    }

    fn sent(&self) -> Option<u64> {
        self.annotation(SENT)?.parse().ok()
    }
}

fn pods() -> Target {
    Target::new("", "v1", "pods")
}
