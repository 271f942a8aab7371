//! The paths of usual fields, with their numbers in protobuf.

use super::{FieldPath, Leaf};

/// A field that is known by its name in JSON and by its numbers in protobuf.
///
/// ```
/// use informer_core::decode::{FieldPath, known};
///
/// let path = FieldPath::from(known::POD_NODE_NAME);
/// assert_eq!(path.as_str(), "spec.nodeName");
/// assert!(path.reads_protobuf());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KnownField {
    /// The path in JSON.
    pub path: &'static str,
    /// The numbers of the messages on the way and of the field.
    pub numbers: &'static [u32],
    /// The type of the field.
    pub leaf: Leaf,
}

impl From<KnownField> for FieldPath {
    fn from(field: KnownField) -> Self {
        // All paths are tested below.
        let path = field.path.parse::<Self>();
        let path = path.unwrap_or_else(|_| Self::from_members([field.path]));
        path.with_numbers(field.numbers, field.leaf)
    }
}

macro_rules! known {
    ($($name:ident = $path:literal, $numbers:expr, $leaf:ident;)*) => {
        $(
            #[doc = concat!("`", $path, "`")]
            pub const $name: KnownField = KnownField {
                path: $path,
                numbers: &$numbers,
                leaf: Leaf::$leaf,
            };
        )*

        #[cfg(test)]
        const ALL: &[KnownField] = &[$($name),*];
    };
}

known! {
    POD_NODE_NAME = "spec.nodeName", [2, 10], Text;
    POD_SERVICE_ACCOUNT = "spec.serviceAccountName", [2, 8], Text;
    POD_SCHEDULER = "spec.schedulerName", [2, 19], Text;
    POD_HOST_NETWORK = "spec.hostNetwork", [2, 11], Bool;
    POD_IMAGES = "spec.containers[*].image", [2, 2, 2], Text;
    POD_VOLUME_SECRETS = "spec.volumes[*].secret.secretName", [2, 1, 2, 6, 1], Text;
    POD_VOLUME_CONFIG_MAPS = "spec.volumes[*].configMap.name", [2, 1, 2, 19, 1, 1], Text;
    POD_VOLUME_CLAIMS = "spec.volumes[*].persistentVolumeClaim.claimName", [2, 1, 2, 10, 1], Text;
    POD_PHASE = "status.phase", [3, 1], Text;
    POD_IP = "status.podIP", [3, 6], Text;
    POD_HOST_IP = "status.hostIP", [3, 5], Text;
    NODE_UNSCHEDULABLE = "spec.unschedulable", [2, 4], Bool;
    NODE_PROVIDER_ID = "spec.providerID", [2, 3], Text;
    NAMESPACE_PHASE = "status.phase", [3, 1], Text;
    SERVICE_TYPE = "spec.type", [2, 4], Text;
    SERVICE_CLUSTER_IP = "spec.clusterIP", [2, 3], Text;
    SECRET_TYPE = "type", [3], Text;
    EVENT_OBJECT_KIND = "involvedObject.kind", [2, 1], Text;
    EVENT_OBJECT_NAMESPACE = "involvedObject.namespace", [2, 2], Text;
    EVENT_OBJECT_NAME = "involvedObject.name", [2, 3], Text;
    EVENT_OBJECT_UID = "involvedObject.uid", [2, 4], Text;
    EVENT_REASON = "reason", [3], Text;
    EVENT_TYPE = "type", [9], Text;
    CLAIM_VOLUME_NAME = "spec.volumeName", [2, 3], Text;
    CLAIM_STORAGE_CLASS = "spec.storageClassName", [2, 5], Text;
    CLAIM_PHASE = "status.phase", [3, 1], Text;
    LEASE_HOLDER = "spec.holderIdentity", [2, 1], Text;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_one() {
        for field in ALL {
            let path = FieldPath::from(*field);
            assert_eq!(path.as_str(), field.path);
            assert!(path.reads_protobuf());
            assert!(field.path.parse::<FieldPath>().is_ok(), "{}", field.path);
        }
    }
}
