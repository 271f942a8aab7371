//! A derived custom resource is followed by its type alone.

use informer::InformerBuilder;
use informer_e2e::Outcome;
use informer_e2e::api::version;
use informer_e2e::follower::consistent;
use kube::{CustomResource, CustomResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::scenarios::{LONG, World, until};

/// A custom resource.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "kube.example.com",
    version = "v1",
    kind = "Gadget",
    namespaced
)]
struct GadgetSpec {
    size: u32,
}

pub(crate) async fn derived_kind(world: &World) -> Outcome {
    world.namespace("gadgets").await?;
    let definition = serde_json::to_value(Gadget::crd())?;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    world.api.create(definitions, &definition).await?;
    let path = "/apis/kube.example.com/v1/namespaces/gadgets/gadgets";
    let gadget = |name: &str, size: u32| {
        json!({
            "apiVersion": "kube.example.com/v1", "kind": "Gadget",
            "metadata": {"name": name}, "spec": {"size": size},
        })
    };
    // The definition is served a little after it was accepted.
    until("the kind is served", async || {
        world.api.create(path, &gadget("a", 1)).await.is_ok()
    })
    .await?;
    let client = world.client("admin").await?;
    let gadgets = InformerBuilder::<Gadget>::kube().start(&client)?;
    gadgets.synced(LONG).await?;
    let created = world.api.create(path, &gadget("b", 2)).await?;
    gadgets.reached(version(&created)?, LONG).await?;
    consistent(&gadgets.verify(&client, LONG).await?)?;
    for (name, size) in [("a", 1), ("b", 2)] {
        let found = gadgets.lister().get("gadgets", name);
        let found = found.map(|it| it.body().spec.size);
        if found != Some(size) {
            return Err(format!("{name} has the size {found:?}, not {size}").into());
        }
    }
    Ok(())
}
