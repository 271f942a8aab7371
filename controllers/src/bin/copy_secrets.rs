//! Keeps a Secret beside each ConfigMap with the label `copy-to=secret`, with the same name and data. Of
//! several replicas, one works.

use std::error::Error;

use informer::controller::{Context, Controller, ControllerBuilder, Next};
use informer::election::{Election, ElectionBuilder};
use informer::{Calls, Client, Config, Connect, ObjectKey};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let client = Client::new(Config::infer()?)?;
    let lease = ObjectKey::new("copy-secrets", "copy-secrets");
    let election = ElectionBuilder::new(lease).start(&client)?;
    let controller = controller(&client, &election).shutdown_on_signal();
    let ended = controller.run(reconcile).await;
    election.stop().await;
    Ok(ended?)
}

pub(crate) fn controller<C>(client: &C, election: &Election) -> ControllerBuilder<ConfigMap>
where
    C: Connect + Calls + Clone + Send + Sync + 'static,
{
    Controller::of::<ConfigMap>(client)
        .name("copy-secrets")
        .with(|maps| maps.labels("copy-to=secret"))
        .owns::<Secret>()
        .led_by(election)
}

pub(crate) async fn reconcile(map: Context<ConfigMap>) -> Result<Next, Failure> {
    let bytes = |(key, value): (String, String)| (key, ByteString(value.into_bytes()));
    let data = map.object().data.clone().unwrap_or_default();
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(map.key().name().to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(data.into_iter().map(bytes).collect()),
        ..Secret::default()
    };
    // The Secret belongs to the ConfigMap, and the next reconciliation sees it.
    map.apply(&secret).await?;
    Ok(Next::Done)
}
