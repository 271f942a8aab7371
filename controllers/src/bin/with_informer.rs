//! Keeps a Secret beside each ConfigMap with the label `copy-to=secret`, with the same name and data.

use std::{error::Error, time::Duration};

use informer::controller::{Controller, Next, enqueue};
use informer::runtime::Tokio;
use informer::{InformerBuilder, ObjectKey, SharedInformer, by};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, PostParams, Resource as _};
use tokio::signal::unix::{SignalKind, signal};

const SOON: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let client = kube::Client::try_default().await?;
    let maps = InformerBuilder::<ConfigMap>::typed()
        .labels("copy-to=secret")
        .start(&client)?;
    let secrets = InformerBuilder::<Secret>::typed()
        .index("owner", by::controller_uid())
        .start(&client)?;
    let controller = Controller::new(Tokio::current()?);
    let mapped = maps.on(enqueue::this(controller.queue()))?;
    let owned = secrets.on(enqueue::owner(controller.queue(), "", "ConfigMap"))?;
    mapped.synced(SOON).await?;
    owned.synced(SOON).await?;

    // Four workers. An error is a retry, with back-off.
    controller.work(4, move |key| {
        reconcile(client.clone(), maps.clone(), secrets.clone(), key)
    })?;
    signal(SignalKind::terminate())?.recv().await;
    controller.stop().await;
    Ok(())
}

async fn reconcile(
    client: kube::Client,
    maps: SharedInformer<ConfigMap>,
    secrets: SharedInformer<Secret>,
    key: ObjectKey,
) -> Result<Next, Box<dyn Error + Send + Sync>> {
    // If the ConfigMap is gone, the garbage collector deletes the Secret.
    let Some(map) = maps.lister().by_key(&key) else {
        return Ok(Next::Done);
    };
    let mut secret = Secret::default();
    secret.metadata.name = Some(key.name().to_owned());
    secret.metadata.owner_references = map.controller_owner_ref(&()).map(|owner| vec![owner]);
    let bytes = |(key, value): (String, String)| (key, ByteString(value.into_bytes()));
    let data = map.data.clone();
    secret.data = data.map(|data| data.into_iter().map(bytes).collect());
    let api = Api::namespaced(client, key.namespace());
    let options = PostParams::default();
    let owned = secrets.lister().by_index("owner", map.uid())?;
    let written = match owned.iter().find(|secret| *secret.key() == key) {
        Some(known) if known.data == secret.data => return Ok(Next::Done),
        Some(known) => {
            // The server refuses the write if the Secret has changed since.
            secret.metadata.resource_version = Some(known.version().to_owned());
            api.replace(key.name(), &options, &secret).await?
        }
        None => api.create(&options, &secret).await?,
    };
    // The next reconciliation of this key sees this write.
    let version = written.metadata.resource_version.unwrap_or_default();
    secrets.reached(&version, SOON).await?;
    Ok(Next::Done)
}
