//! Access rights.

use std::time::Duration;

use informer::{Failure, InformerBuilder, LeanBody, Target};
use informer_e2e::Outcome;
use informer_e2e::follower::Follower;
use serde_json::json;

use super::{LONG, World, impatient, until};

fn config_maps(namespace: &str) -> InformerBuilder<LeanBody> {
    let target = Target::new("", "v1", "configmaps").in_namespace(namespace);
    InformerBuilder::lean_at(target).preset(impatient())
}

pub(super) async fn token_and_certificate(world: &World) -> Outcome {
    world.namespace("users").await?;
    let path = "/api/v1/namespaces/users/configmaps";
    world
        .api
        .create(path, &json!({"metadata": {"name": "a"}}))
        .await?;
    for user in ["admin", "certificate"] {
        let follower = Follower::start(config_maps("users"), &world.client(user).await?)?;
        follower.equals(&world.api, LONG).await?;
        let name = format!("by-{user}");
        world
            .api
            .create(path, &json!({"metadata": {"name": name}}))
            .await?;
        follower.equals(&world.api, LONG).await?;
        follower.undisturbed()?;
    }
    Ok(())
}

/// A denied informer reports why, and continues as soon as it is allowed; also after losing a
/// right.
pub(super) async fn rights_denied_and_granted(world: &mut World) -> Outcome {
    world.namespace("rights").await?;
    let path = "/api/v1/namespaces/rights/configmaps";
    world
        .api
        .create(path, &json!({"metadata": {"name": "a"}}))
        .await?;
    let proxy = world.proxy().await?;
    let client = world.client_through(&proxy, "nobody").await?;
    let follower = Follower::start(config_maps("rights"), &client)?;

    let denied = follower.informer.synced(Duration::from_secs(2)).await;
    let reason = denied
        .err()
        .ok_or("a user without rights could read")?
        .reason;
    let wanted = ["configmaps", "`rights`", "\"nobody\" cannot"];
    if let Some(missing) = wanted.iter().find(|text| !reason.contains(**text)) {
        return Err(format!("the reason does not say {missing}: {reason}").into());
    }
    world
        .report
        .note(format!("a user without rights sees: {reason}"));

    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/rights";
    let role = json!({
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}],
    });
    world.api.create(&format!("{rbac}/roles"), &role).await?;
    let binding = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}],
    });
    let bindings = format!("{rbac}/rolebindings");
    world.api.create(&bindings, &binding).await?;
    follower.equals(&world.api, LONG).await?;

    // An open watch survives the loss of the right; the next one does not open.
    world.api.delete(&format!("{bindings}/reader")).await?;
    let before = follower.failures().len();
    let denied = async || {
        // The server takes a moment to notice, so try again.
        proxy.cut();
        let failures = follower.failures();
        failures
            .iter()
            .skip(before)
            .any(|it| *it == Failure::Forbidden)
    };
    until("the loss of the right is reported", denied).await?;
    if follower.informer.snapshot().len() != follower.audit.view().len() {
        return Err("the store lost its objects".into());
    }
    world
        .api
        .create(path, &json!({"metadata": {"name": "b"}}))
        .await?;
    world.api.create(&bindings, &binding).await?;
    follower.equals(&world.api, LONG).await?;
    follower.told_once()
}
