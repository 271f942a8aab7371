//! Shortcuts for common kinds.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod, Secret, Service};

use crate::connect::Connect;
use crate::error::BuildError;
use crate::factory::SharedInformerFactory;
use crate::shared::SharedInformer;

macro_rules! accessors {
    ($($name:ident: $kind:ident),* $(,)?) => {
        impl<C: Connect> SharedInformerFactory<C> {
            $(
                #[doc = concat!("Returns the informer for every `", stringify!($kind), "`.")]
                ///
                /// # Errors
                /// The configuration is invalid, or the runtime cannot run the informer.
                pub fn $name(&self) -> Result<SharedInformer<$kind>, BuildError> {
                    self.of()
                }
            )*
        }
    };
}

accessors! {
    pods: Pod,
    services: Service,
    deployments: Deployment,
    replica_sets: ReplicaSet,
    stateful_sets: StatefulSet,
    daemon_sets: DaemonSet,
    jobs: Job,
    config_maps: ConfigMap,
    secrets: Secret,
    nodes: Node,
    namespaces: Namespace,
}
