//! Kinds other than pods, and parts of objects.

use informer::{Failure, InformerBuilder, Target, WhenGone};
use informer_e2e::Outcome;
use informer_e2e::api::version;
use informer_e2e::follower::Follower;
use serde_json::json;

use super::{LONG, World, impatient, pod, pods_in, pods_path, touch, until};

pub(super) async fn deployments(world: &World) -> Outcome {
    world.namespace("deployments").await?;
    let client = world.client("admin").await?;
    let target = Target::new("apps", "v1", "deployments").in_namespace("deployments");
    let path = target.path();
    let follower = Follower::start(InformerBuilder::lean_at(target), &client)?;
    for number in 0..5 {
        let labels = json!({"app": format!("shop-{number}")});
        let deployment = json!({
            "metadata": {"name": format!("shop-{number}")},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "main", "image": "registry.invalid/shop"}]},
                },
            },
        });
        world.api.create(&path, &deployment).await?;
    }
    follower.equals(&world.api, LONG).await?;
    let scaled = json!({"spec": {"replicas": 7}});
    world.api.patch(&format!("{path}/shop-1"), &scaled).await?;
    world.api.delete(&format!("{path}/shop-2")).await?;
    follower.equals(&world.api, LONG).await?;
    follower.undisturbed()
}

/// Cluster-scoped kinds: one with objects from the start, and one without.
pub(super) async fn cluster_scoped(world: &World) -> Outcome {
    let client = world.client("admin").await?;
    let roles = Target::new("rbac.authorization.k8s.io", "v1", "clusterroles");
    let nodes = Target::new("", "v1", "nodes");
    for target in [roles, nodes] {
        let path = target.path();
        let follower = Follower::start(InformerBuilder::lean_at(target), &client)?;
        for name in ["e2e-a", "e2e-b"] {
            let object = json!({"metadata": {"name": name}});
            world.api.create(&path, &object).await?;
        }
        follower.equals(&world.api, LONG).await?;
        world.api.patch(&format!("{path}/e2e-a"), &touch(1)).await?;
        world.api.delete(&format!("{path}/e2e-b")).await?;
        follower.equals(&world.api, LONG).await?;
        if follower.informer.lister().get("", "e2e-a").is_none() {
            return Err(format!("e2e-a is not found in {path}").into());
        }
        follower.undisturbed()?;
    }
    Ok(())
}

/// A kind that is missing, appears, disappears while it is followed, and appears again.
pub(super) async fn custom_resources(world: &World) -> Outcome {
    world.namespace("widgets").await?;
    let client = world.client("admin").await?;
    let target = Target::new("e2e.example.com", "v1", "widgets").in_namespace("widgets");
    let path = target.path();
    let follower = Follower::start(
        InformerBuilder::lean_at(target).preset(impatient()),
        &client,
    )?;
    until("the missing kind is reported", async || {
        follower.failures().contains(&Failure::NotFound)
    })
    .await?;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({
        "metadata": {"name": "widgets.e2e.example.com"},
        "spec": {
            "group": "e2e.example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    });
    for round in 0..3 {
        world.api.create(definitions, &definition).await?;
        let widget = |number: usize| {
            json!({
                "apiVersion": "e2e.example.com/v1", "kind": "Widget",
                "metadata": {"name": format!("widget-{number}")}, "size": round,
            })
        };
        // The definition is served a little after it was accepted.
        until("the kind is served", async || {
            world.api.create(&path, &widget(0)).await.is_ok()
        })
        .await?;
        for number in 1..20 {
            world.api.create(&path, &widget(number)).await?;
        }
        follower.equals(&world.api, LONG).await?;
        world
            .api
            .patch(&format!("{path}/widget-3"), &touch(round))
            .await?;
        world.api.delete(&format!("{path}/widget-4")).await?;
        follower.equals(&world.api, LONG).await?;

        let definition = format!("{definitions}/widgets.e2e.example.com");
        world.api.delete(&definition).await?;
        until("the kind is gone", async || {
            world.api.get(&definition).await.is_err()
        })
        .await?;
        let is_empty =
            async || follower.audit.view().is_empty() && follower.informer.snapshot().is_empty();
        until("its objects are gone", is_empty).await?;
    }
    follower.told_once()?;
    let deleted = follower.audit.deleted();
    if deleted != 60 {
        return Err(format!("{deleted} of 60 objects were reported deleted").into());
    }
    Ok(())
}

/// A version of a kind that is no longer served: nobody says that its objects are gone. Each policy does
/// what it is for, with the delays of the default, because the definition is followed.
pub(super) async fn kinds_come_and_go(world: &World) -> Outcome {
    world.namespace("gizmos").await?;
    let client = world.client("admin").await?;
    let target = Target::new("e2e.example.com", "v1", "gizmos").in_namespace("gizmos");
    let path = target.path();
    let definitions = Target::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let definitions_path = definitions.path();
    let definitions = InformerBuilder::metadata_at(definitions).start(&client)?;
    let follow = |policy: WhenGone| {
        let builder = InformerBuilder::lean_at(target.clone()).when_gone(policy);
        let follower = Follower::start(builder, &client)?;
        follower.informer.follow_definition(&definitions)?;
        Outcome::Ok(follower)
    };
    let keeps = follow(WhenGone::Keep)?;
    let empties = follow(WhenGone::Empty)?;
    until("the missing kind is reported", async || {
        keeps.informer.status().gone && empties.informer.status().gone
    })
    .await?;
    world
        .api
        .create(&definitions_path, &gizmos(&[("v1", true)]))
        .await?;
    let gizmo = |number: usize| json!({"apiVersion": "e2e.example.com/v1", "kind": "Gizmo", "metadata": {"name": format!("gizmo-{number}")}});
    until("the kind is served", async || {
        world.api.create(&path, &gizmo(0)).await.is_ok()
    })
    .await?;
    for number in 1..10 {
        world.api.create(&path, &gizmo(number)).await?;
    }
    let stops = follow(WhenGone::Stop)?;
    for follower in [&keeps, &empties, &stops] {
        follower.equals(&world.api, LONG).await?;
    }

    let definition = format!("{definitions_path}/gizmos.e2e.example.com");
    let change = gizmos(&[("v1", false), ("v2", true)]);
    world.api.patch(&definition, &change).await?;
    until("the informers know that the version is gone", async || {
        keeps.informer.status().gone
            && empties.informer.snapshot().is_empty()
            && empties.audit.view().is_empty()
            && stops.informer.is_stopped()
    })
    .await?;
    let kept = [&keeps, &stops].map(|it| (it.informer.snapshot().len(), it.audit.deleted()));
    if kept != [(10, 0); 2] || !stops.informer.status().gone {
        return Err(format!("ten objects were to be kept, and not {kept:?}").into());
    }
    let change = gizmos(&[("v1", true), ("v2", false)]);
    world.api.patch(&definition, &change).await?;
    keeps.equals(&world.api, LONG).await?;
    empties.equals(&world.api, LONG).await?;
    if keeps.audit.deleted() > 0 || empties.audit.deleted() != 10 {
        return Err("a policy has deleted what it must not".into());
    }
    world.api.delete(&definition).await?;
    until("its objects are gone", async || {
        keeps.audit.view().is_empty() && empties.audit.view().is_empty()
    })
    .await?;
    keeps.told_once()?;
    empties.told_once()
}

/// A definition with these versions. The one that is served is stored.
fn gizmos(versions: &[(&str, bool)]) -> serde_json::Value {
    let version = |(name, served): &(&str, bool)| {
        json!({
            "name": name, "served": served, "storage": served,
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    };
    let versions: Vec<_> = versions.iter().map(version).collect();
    json!({
        "metadata": {"name": "gizmos.e2e.example.com"},
        "spec": {
            "group": "e2e.example.com",
            "scope": "Namespaced",
            "names": {"plural": "gizmos", "singular": "gizmo", "kind": "Gizmo"},
            "versions": versions,
        },
    })
}

/// Changes move objects into a selection and out of it.
pub(super) async fn selectors(world: &World) -> Outcome {
    world.namespace("selectors").await?;
    let client = world.client("admin").await?;
    let path = pods_path("selectors");
    let by_label = pods_in("selectors").labels("tier in (front,back),!hidden");
    let by_label = Follower::start(by_label, &client)?;
    let by_field = pods_in("selectors").fields("spec.nodeName=node-1");
    let by_field = Follower::start(by_field, &client)?;
    for (name, tier, node) in [
        ("a", "front", "node-1"),
        ("b", "back", "node-2"),
        ("c", "none", "node-1"),
    ] {
        let object = json!({
            "metadata": {"name": name, "labels": {"tier": tier}},
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "registry.invalid/image"}]},
        });
        world.api.create(&path, &object).await?;
    }
    let keys = |follower: &Follower<_>| follower.audit.view().into_keys().collect::<Vec<_>>();
    for (name, labels, expected) in [
        ("a", json!({}), vec!["a", "b"]),
        ("a", json!({"hidden": "yes"}), vec!["b"]),
        ("c", json!({"tier": "back"}), vec!["b", "c"]),
        ("b", json!({"tier": null}), vec!["c"]),
        ("a", json!({"hidden": null}), vec!["a", "c"]),
    ] {
        let patch = json!({"metadata": {"labels": labels}});
        world.api.patch(&format!("{path}/{name}"), &patch).await?;
        by_label.equals(&world.api, LONG).await?;
        by_field.equals(&world.api, LONG).await?;
        let expected: Vec<_> = expected
            .iter()
            .map(|name| format!("selectors/{name}"))
            .collect();
        if keys(&by_label) != expected {
            return Err(format!("{:?} are selected, not {expected:?}", keys(&by_label)).into());
        }
    }
    if keys(&by_field) != ["selectors/a", "selectors/c"] {
        return Err(format!("{:?} are selected by node", keys(&by_field)).into());
    }
    by_label.undisturbed()?;
    by_field.undisturbed()
}

pub(super) async fn metadata_only(world: &World) -> Outcome {
    world.namespace("metadata").await?;
    let client = world.client("admin").await?;
    let path = pods_path("metadata");
    world.api.create(&path, &pod("old")).await?;
    let target = Target::new("", "v1", "pods").in_namespace("metadata");
    let follower = Follower::start(InformerBuilder::metadata_at(target), &client)?;
    follower.equals(&world.api, LONG).await?;
    world.api.create(&path, &pod("new")).await?;
    let touched = world.api.patch(&format!("{path}/old"), &touch(7)).await?;
    let store = follower.informer.reached(version(&touched)?, LONG).await?;
    let old = store
        .get(&"metadata/old".parse()?)
        .ok_or("old is not there")?;
    if old.annotation("example.com/touched").as_deref() != Some("7") {
        return Err(format!("its annotations are missing: {:?}", old.body()).into());
    }
    world.api.delete(&format!("{path}/old")).await?;
    follower.equals(&world.api, LONG).await?;
    follower.undisturbed()
}
