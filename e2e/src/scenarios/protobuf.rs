//! Whole objects in protobuf. Their metadata is compared with the JSON of the server, field by field.

use informer::informer_core::decode::MetadataOnly;
use informer::{
    Encoding, Encodings, FirstState, InformerBuilder, LeanBody, MetadataBody, Object,
    SharedInformer, Target,
};
use informer_e2e::Outcome;
use informer_e2e::follower::Follower;

use super::subject::Subject;
use super::{LONG, MANY, World, impatient, server_faults, until};

fn pods(namespace: &str) -> InformerBuilder<MetadataBody> {
    let target = Target::new("", "v1", "pods").accepting(Encodings::Protobuf);
    InformerBuilder::of(target, || MetadataOnly).namespace(namespace)
}

/// As a list and as a stream, with and without gzip.
pub(super) async fn states_in_protobuf(world: &mut World) -> Outcome {
    let count = world.many().await?;
    for first_state in [FirstState::Listed, FirstState::Streamed] {
        for user in ["admin", "uncompressed"] {
            let client = world.client(user).await?;
            let mut config = impatient();
            config.reflector.first_state = first_state;
            let follower = Follower::start(pods(MANY).preset(config), &client)?;
            follower.equals(&world.api, LONG).await?;
            follower.undisturbed()?;
            let objects = follower.informer.status().objects;
            if objects != count {
                return Err(format!("{objects} objects of {count}").into());
            }
        }
    }
    Ok(())
}

/// Creations, changes and deletions give the same objects in JSON and in protobuf. So do kinds of several groups.
pub(super) async fn both_encodings(world: &World) -> Outcome {
    let namespace = "encodings";
    let mut subject = Subject::of(world, namespace, pods(namespace)).await?;
    subject.change(world).await?;
    subject.follower.equals(&world.api, LONG).await?;
    subject.follower.undisturbed()?;

    let client = world.client("admin").await?;
    for (group, plural) in [
        ("", "pods"),
        ("", "namespaces"),
        ("", "configmaps"),
        ("", "serviceaccounts"),
        ("", "events"),
        ("apps", "deployments"),
        ("coordination.k8s.io", "leases"),
        ("rbac.authorization.k8s.io", "clusterroles"),
    ] {
        let target = Target::new(group, "v1", plural);
        let in_json = InformerBuilder::lean_at(target.clone()).start(&client)?;
        let in_protobuf = InformerBuilder::lean_at(target).protobuf().start(&client)?;
        in_json.synced(LONG).await?;
        in_protobuf.synced(LONG).await?;
        // Something may change between the two.
        until(&format!("both have the same {plural}"), async || {
            summaries(&in_json) == summaries(&in_protobuf)
        })
        .await?;
        let encodings = in_protobuf.snapshot();
        let mut encodings = encodings.iter().map(Object::encoding);
        if !encodings.all(|it| it == Encoding::Protobuf) {
            return Err(format!("not all {plural} came in protobuf").into());
        }
    }
    Ok(())
}

/// As `versions_compacted`, in protobuf.
pub(super) async fn versions_compacted_in_protobuf(world: &mut World) -> Outcome {
    let namespace = "forgotten";
    let subject = Subject::of(world, namespace, pods(namespace)).await?;
    server_faults::forgets(world, subject).await
}

/// What is read of every object, whatever its encoding.
fn summaries(informer: &SharedInformer<LeanBody>) -> Vec<String> {
    let store = informer.snapshot();
    let mut all: Vec<String> = store.iter().map(summary).collect();
    all.sort_unstable();
    all
}

fn summary(object: &Object<LeanBody>) -> String {
    let labels: Vec<_> = object.labels().iter().collect();
    let mut annotations = Vec::new();
    object.each_annotation(&mut |key, value| annotations.push(format!("{key}={value}")));
    annotations.sort_unstable();
    format!(
        "{} {} {} {:?} {} {:?} {labels:?} {annotations:?} {:?}",
        object.key(),
        object.uid(),
        object.version(),
        object.generation(),
        object.creation_time(),
        object.deletion_time(),
        object.owners(),
    )
}
