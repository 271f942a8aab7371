//! Access rights.

use std::time::Duration;

use informer::{Failure, InformerBuilder, LeanBody, Target};
use informer_e2e::Outcome;
use informer_e2e::follower::Follower;
use serde_json::{Value, json};

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

/// May read config maps.
fn reader() -> Value {
    json!({
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}],
    })
}

/// Gives the role of a reader to the user `nobody`.
fn of_nobody() -> Value {
    json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}],
    })
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
    world
        .api
        .create(&format!("{rbac}/roles"), &reader())
        .await?;
    let binding = of_nobody();
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

/// One informer follows three namespaces with a role in each and no right in the cluster. A right that is missing or
/// lost stops only its own namespace.
pub(super) async fn a_role_in_each_namespace(world: &mut World) -> Outcome {
    const NAMESPACES: [&str; 3] = ["roles-a", "roles-b", "roles-c"];
    let rbac = |namespace: &str, plural: &str| {
        format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/{plural}")
    };
    let maps = |namespace: &str| format!("/api/v1/namespaces/{namespace}/configmaps");
    for namespace in NAMESPACES {
        world.namespace(namespace).await?;
        let map = json!({"metadata": {"name": "first"}});
        world.api.create(&maps(namespace), &map).await?;
        let roles = rbac(namespace, "roles");
        world.api.create(&roles, &reader()).await?;
        if namespace != "roles-c" {
            let bindings = rbac(namespace, "rolebindings");
            world.api.create(&bindings, &of_nobody()).await?;
        }
    }
    let proxy = world.proxy().await?;
    let client = world.client_through(&proxy, "nobody").await?;
    let target = Target::new("", "v1", "configmaps");
    let everywhere = InformerBuilder::lean_at(target.clone()).preset(impatient());
    let everywhere = everywhere.start(&client)?;
    if everywhere.synced(Duration::from_secs(2)).await.is_ok() {
        return Err("the user has a right in the cluster".into());
    }
    everywhere.stop();

    let builder = InformerBuilder::lean_at(target).preset(impatient());
    let informer = builder.namespaces(NAMESPACES).start(&client)?;
    let denied = informer.synced(Duration::from_secs(2)).await;
    let reason = denied.err().ok_or("a right was not missing")?.reason;
    if !reason.starts_with("configmaps.v1 in roles-c: ") {
        return Err(format!("the reason does not name the namespace: {reason}").into());
    }
    world
        .report
        .note(format!("one namespace is denied: {reason}"));
    let has = |namespace: &str, name: &str| informer.lister().get(namespace, name).is_some();
    if !has("roles-a", "first") || !has("roles-b", "first") {
        return Err("the other namespaces were not read".into());
    }
    let bindings = rbac("roles-c", "rolebindings");
    world.api.create(&bindings, &of_nobody()).await?;
    informer.synced(LONG).await?;

    // The right in one namespace is taken away. The others go on.
    let bindings = rbac("roles-b", "rolebindings");
    world.api.delete(&format!("{bindings}/reader")).await?;
    let is_denied = async || {
        // The server takes a moment to notice, so try again.
        proxy.cut();
        let sources = informer.sources();
        let failed =
            |it: &&informer::SourceStatus| it.target.namespace.as_deref() == Some("roles-b");
        let last = sources
            .iter()
            .find(failed)
            .and_then(|it| it.last_failure.as_ref());
        last.is_some_and(|it| it.failure == Failure::Forbidden)
    };
    until("the loss of the right is reported", is_denied).await?;
    let map = json!({"metadata": {"name": "second"}});
    for namespace in NAMESPACES {
        world.api.create(&maps(namespace), &map).await?;
    }
    let others = async || has("roles-a", "second") && has("roles-c", "second");
    until("the other namespaces go on", others).await?;
    if !has("roles-b", "first") || has("roles-b", "second") {
        return Err("the denied namespace did not keep its state".into());
    }
    world.api.create(&bindings, &of_nobody()).await?;
    let all = async || has("roles-b", "second") && informer.status().following;
    until("the right is back", all).await?;
    informer_e2e::follower::consistent(&informer.verify(&client, LONG).await?)
}
