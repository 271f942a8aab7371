//! Objects whose keys name their cluster.

use alloc::sync::Arc;

use super::{Body, Decode};
use crate::decoded::Object;
use crate::encoding::Encoding;
use crate::flow::{Fact, Rejected};
use crate::key::ObjectKey;

/// A decoder whose objects carry the name of their cluster in their keys.
///
/// Two clusters may have objects with the same namespace and name, and their versions say nothing about each
/// other. With their cluster in the key they are different objects.
///
/// ```
/// use informer_core::Encoding;
/// use informer_core::decode::{Body, Decode, Decoder, InCluster, Lean};
/// use informer_core::flow::Fact;
///
/// let mut decoder = InCluster::new("east", Decoder::new(Lean));
/// decoder.begin(Body::List, Encoding::Json);
/// let mut list = &br#"{"items":[{"metadata":{"namespace":"web","name":"a"}}]}"#[..];
/// let Some(Fact::Item(pod)) = decoder.decode(&mut list) else { panic!() };
/// assert_eq!(pod.key().as_str(), "east:web/a");
/// assert_eq!((pod.key().cluster(), pod.key().namespace()), ("east", "web"));
/// ```
#[derive(Clone, Debug)]
pub struct InCluster<D> {
    cluster: Arc<str>,
    decoder: D,
}

impl<D> InCluster<D> {
    /// A decoder for the objects of this cluster. An empty name adds nothing to the keys. Of a long name, only
    /// the first 255 bytes count.
    pub fn new(cluster: &str, decoder: D) -> Self {
        Self {
            cluster: cluster.into(),
            decoder,
        }
    }
}

impl<K, D: Decode<Object = Object<K>>> Decode for InCluster<D> {
    type Object = Object<K>;

    fn begin(&mut self, body: Body, encoding: Encoding) {
        self.decoder.begin(body, encoding);
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Object<K>>> {
        let fact = self.decoder.decode(input)?;
        Some(carry(&self.cluster, fact))
    }

    fn end(&mut self) -> Fact<'_, Object<K>> {
        carry(&self.cluster, self.decoder.end())
    }
}

/// Names the cluster in the key of a fact.
fn carry<'a, K>(cluster: &str, fact: Fact<'a, Object<K>>) -> Fact<'a, Object<K>> {
    let within = |mut object: Object<K>| {
        let key = named(cluster, object.key());
        // It was just decoded, so it is not shared.
        if let Some(mut object) = object.get_mut() {
            object.set_key(key);
        }
        object
    };
    match fact {
        Fact::Item(object) => Fact::Item(within(object)),
        Fact::Added(object) => Fact::Added(within(object)),
        Fact::Modified(object) => Fact::Modified(within(object)),
        Fact::Deleted(object) => Fact::Deleted(within(object)),
        Fact::Rejected(rejected) => Fact::Rejected(Rejected {
            key: rejected.key.as_ref().map(|key| named(cluster, key)),
            ..rejected
        }),
        other @ (Fact::Opened
        | Fact::PageEnd { .. }
        | Fact::Bookmark { .. }
        | Fact::InitialEnd { .. }
        | Fact::Closed
        | Fact::Failed { .. }) => other,
    }
}

fn named(cluster: &str, key: &ObjectKey) -> ObjectKey {
    ObjectKey::in_cluster(cluster, key.namespace(), key.name())
}
