//! The forms of objects, and the kinds with a Rust type.

use std::error::Error;

#[cfg(feature = "k8s-openapi")]
use informer::Kind;
use informer::{Client, InformerBuilder, Target};
#[cfg(feature = "k8s-openapi")]
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::{CronJob, Job},
    coordination::v1::Lease,
    core::v1::{
        ConfigMap, Event, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret,
        Service, ServiceAccount,
    },
    discovery::v1::EndpointSlice,
    networking::v1::Ingress,
};

use super::flags::{Flags, Form};
use super::follow;
use super::output::Output;
use crate::stop::Stop;

pub(crate) async fn follow(
    flags: &Flags,
    target: Target,
    client: &Client,
    output: &mut Output,
    stop: &mut Stop,
) -> Result<(), Box<dyn Error>> {
    macro_rules! follow {
        ($builder:expr) => {{
            let builder = $builder.preset(flags.behaviour());
            follow::follow(builder, client, flags.inspect.as_deref(), output, stop).await
        }};
    }
    #[cfg(feature = "k8s-openapi")]
    macro_rules! follow_typed {
        ($($kind:ident),* $(,)?) => {
            match &target {
                $(target if is::<$kind>(target) => {
                    follow!(InformerBuilder::<$kind>::typed_at(target.clone()))
                })*
                other => Err(format!(
                    "this program has no Rust type for {}.{}; use `--form lean` or `--form metadata`",
                    other.plural, other.group
                )
                .into()),
            }
        };
    }
    match flags.form {
        Form::Lean => follow!(InformerBuilder::lean_at(target)),
        Form::Metadata => follow!(InformerBuilder::metadata_at(target)),
        #[cfg(not(feature = "k8s-openapi"))]
        Form::Typed => Err(
            "this program was built without Rust types; install it with `--features k8s-openapi`, or use \
             `--form lean`"
                .into(),
        ),
        #[cfg(feature = "k8s-openapi")]
        Form::Typed => follow_typed![
            ConfigMap,
            CronJob,
            DaemonSet,
            Deployment,
            EndpointSlice,
            Event,
            Ingress,
            Job,
            Lease,
            Namespace,
            Node,
            PersistentVolume,
            PersistentVolumeClaim,
            Pod,
            ReplicaSet,
            Secret,
            Service,
            ServiceAccount,
            StatefulSet,
        ],
    }
}

#[cfg(feature = "k8s-openapi")]
fn is<K: Kind>(target: &Target) -> bool {
    let Target {
        group,
        version,
        plural,
        ..
    } = target;
    (group.as_str(), version.as_str(), plural.as_str()) == (K::GROUP, K::VERSION, K::PLURAL)
}
