//! The same with kube-rs: a Secret beside each ConfigMap with the label `copy-to=secret`.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, PostParams, Resource as _, ResourceExt as _};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;

#[tokio::main]
async fn main() -> Result<(), kube::Error> {
    let client = kube::Client::try_default().await?;
    Controller::new(
        Api::<ConfigMap>::all(client.clone()),
        watcher::Config::default().labels("copy-to=secret"),
    )
    .owns(
        Api::<Secret>::all(client.clone()),
        watcher::Config::default(),
    )
    .shutdown_on_signal()
    // Every error has the same delay.
    .run(
        reconcile,
        |_, _, _| Action::requeue(Duration::from_secs(1)),
        Arc::new(client),
    )
    .for_each(|_| futures::future::ready(()))
    .await;
    Ok(())
}

async fn reconcile(map: Arc<ConfigMap>, client: Arc<kube::Client>) -> Result<Action, kube::Error> {
    let name = map.name_any();
    let owners = map.controller_owner_ref(&()).map(|owner| vec![owner]);
    let mut secret = Secret::default();
    secret.metadata.name = Some(name.clone());
    secret.metadata.owner_references = owners.clone();
    let bytes = |(key, value): (String, String)| (key, ByteString(value.into_bytes()));
    let data = map.data.clone();
    secret.data = data.map(|data| data.into_iter().map(bytes).collect());
    // A request for each reconciliation: the cache may not show the last write yet.
    let api = Api::<Secret>::namespaced((*client).clone(), &map.namespace().unwrap_or_default());
    let options = PostParams::default();
    match api.get_opt(&name).await? {
        Some(known) if known.metadata.owner_references == owners => {
            if known.data != secret.data {
                secret.metadata.resource_version = known.resource_version();
                api.replace(&name, &options, &secret).await?;
            }
        }
        // Fails if there is a Secret of somebody else.
        _ => drop(api.create(&options, &secret).await?),
    }
    Ok(Action::await_change())
}
