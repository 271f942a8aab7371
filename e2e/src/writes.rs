//! What a client of objects must do, on any server: the real one and the mock are asked the same.
#![expect(
    clippy::indexing_slicing,
    reason = "a missing member of a JSON value reads as null"
)]

use informer::{
    Api, ApiError, ApiErrorKind, Apply, Calls, Delete, Deletion, ObjectKey, Patch, Propagation,
    Target,
};
use serde_json::{Value, json};

use crate::Outcome;

/// Writes in a namespace that exists and is empty.
///
/// # Errors
/// The server or the client did something else than expected; the error says what.
pub async fn writes(client: &impl Calls, namespace: &str) -> Outcome {
    let maps = Api::dynamic_at(client, Target::new("", "v1", "configmaps"))?.namespace(namespace);
    create_update_delete(&maps).await?;
    patches(&maps).await?;
    dry_runs(&maps).await?;
    server_side_apply(&maps).await?;
    let target = Target::new("apps", "v1", "deployments");
    let deployments = Api::dynamic_at(client, target)?.namespace(namespace);
    subresources(&deployments).await
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("", name)
}

fn map(name: &str, colour: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name}, "data": {"colour": colour},
    })
}

/// Fails unless `left` is `right`.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, left: &T, right: &T) -> Outcome {
    if left == right {
        return Ok(());
    }
    Err(format!("{what}: {left:?} is not {right:?}").into())
}

/// Fails unless the result is an error of this kind.
fn refused<T>(what: &str, result: Result<T, ApiError>, kind: ApiErrorKind) -> Outcome<ApiError> {
    match result {
        Ok(_) => Err(format!("{what}: it was not refused").into()),
        Err(error) if error.kind == kind => Ok(error),
        Err(error) => Err(format!("{what}: {error} ({:?}) is not {kind:?}", error.kind).into()),
    }
}

async fn create_update_delete(maps: &Api<Value>) -> Outcome {
    let created = maps.create(&map("a", "red")).await?;
    let again = maps.create(&map("a", "red")).await;
    refused("a second create", again, ApiErrorKind::AlreadyExists)?;
    let read = maps.get(&key("a")).await?;
    same("what was created", &read["data"], &json!({"colour": "red"}))?;

    let mut changed = (*read).clone();
    put(&mut changed, "/data/colour", "blue");
    let updated = maps.update(&changed).await?;
    same("the colour", &updated["data"]["colour"], &json!("blue"))?;
    let stale = maps.update(&changed).await;
    refused("an update of an old version", stale, ApiErrorKind::Conflict)?;

    let wrong = Delete::new().uid("00000000-0000-0000-0000-000000000000");
    let result = maps.delete_with(&key("a"), &wrong).await;
    refused("a delete of another UID", result, ApiErrorKind::Conflict)?;
    let old = Delete::new().version(created.version());
    let result = maps.delete_with(&key("a"), &old).await;
    refused("a delete of an old version", result, ApiErrorKind::Conflict)?;
    let right = Delete::new()
        .uid(updated.uid())
        .version(updated.version())
        .propagation(Propagation::Background);
    let deleted = maps.delete_with(&key("a"), &right).await?;
    same("the deletion", &matches!(deleted, Deletion::Gone), &true)?;
    refused("a get", maps.get(&key("a")).await, ApiErrorKind::NotFound)?;
    refused(
        "a delete",
        maps.delete(&key("a")).await,
        ApiErrorKind::NotFound,
    )?;

    let mut held = map("held", "red");
    put(
        &mut held,
        "/metadata/finalizers",
        json!(["example.com/held"]),
    );
    maps.create(&held).await?;
    let deleted = maps.delete(&key("held")).await?;
    same(
        "it is held",
        &matches!(deleted, Deletion::Pending(_)),
        &true,
    )?;
    let free = Patch::merge(json!({"metadata": {"finalizers": null}}));
    maps.patch(&key("held"), &free).await?;
    refused(
        "a get",
        maps.get(&key("held")).await,
        ApiErrorKind::NotFound,
    )?;

    let invalid = maps.create(&map("No_Name", "red")).await;
    let error = refused("a bad name", invalid, ApiErrorKind::Invalid)?;
    let fields: Vec<_> = error
        .causes
        .iter()
        .map(|cause| cause.field.as_str())
        .collect();
    same("the causes", &fields, &vec!["metadata.name"])
}

async fn patches(maps: &Api<Value>) -> Outcome {
    maps.create(&map("p", "red")).await?;
    let merge = Patch::merge(json!({"data": {"colour": null, "size": "small"}}));
    let patched = maps.patch(&key("p"), &merge).await?;
    same("merged", &patched["data"], &json!({"size": "small"}))?;
    let json = Patch::json(json!([
        {"op": "test", "path": "/data/size", "value": "small"},
        {"op": "replace", "path": "/data/size", "value": "large"},
        {"op": "add", "path": "/metadata/labels", "value": {"example.com/a": "b"}},
        {"op": "replace", "path": "/metadata/labels/example.com~1a", "value": "c"},
    ]));
    let patched = maps.patch(&key("p"), &json).await?;
    same("patched", &patched["data"], &json!({"size": "large"}))?;
    let labels = &patched["metadata"]["labels"];
    same("the labels", labels, &json!({"example.com/a": "c"}))?;
    // The test no longer holds, so nothing is carried out.
    let result = maps.patch(&key("p"), &json).await;
    refused("a test that fails", result, ApiErrorKind::Invalid)?;
    let absent = maps.patch(&key("absent"), &merge).await;
    refused("a patch of nothing", absent, ApiErrorKind::NotFound)?;
    maps.delete(&key("p")).await?;
    Ok(())
}

async fn dry_runs(maps: &Api<Value>) -> Outcome {
    let dry = maps.clone().dry_run();
    let answer = dry.create(&map("d", "red")).await?;
    same("the dry answer", &answer["data"]["colour"], &json!("red"))?;
    refused("a get", maps.get(&key("d")).await, ApiErrorKind::NotFound)?;
    let created = maps.create(&map("d", "red")).await?;
    let patch = Patch::merge(json!({"data": {"colour": "blue"}}));
    let answer = dry.patch(&key("d"), &patch).await?;
    same("the dry patch", &answer["data"]["colour"], &json!("blue"))?;
    let applied = dry
        .apply(&Apply::by("someone").force(), &map("d", "green"))
        .await?;
    same("the dry apply", &applied["data"]["colour"], &json!("green"))?;
    dry.delete(&key("d")).await?;
    let read = maps.get(&key("d")).await?;
    same("the version", &read.version(), &created.version())?;
    maps.delete(&key("d")).await?;
    Ok(())
}

async fn server_side_apply(maps: &Api<Value>) -> Outcome {
    let (one, two) = (Apply::by("one"), Apply::by("two"));
    let both = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"},
        "data": {"colour": "red", "size": "small"},
    });
    let created = maps.apply(&one, &both).await?;
    let again = maps.apply(&one, &both).await?;
    same("nothing has changed", &again.version(), &created.version())?;

    // Another manager may agree, but not differ.
    maps.apply(&two, &map("s", "red")).await?;
    let conflict = maps.apply(&two, &map("s", "blue")).await;
    let error = refused("a field of another", conflict, ApiErrorKind::Conflict)?;
    let fields: Vec<_> = error
        .causes
        .iter()
        .map(|cause| cause.field.as_str())
        .collect();
    same("the fields", &fields, &vec![".data.colour"])?;
    let reasons: Vec<_> = error
        .causes
        .iter()
        .map(|cause| cause.reason.as_str())
        .collect();
    same("the reasons", &reasons, &vec!["FieldManagerConflict"])?;
    let forced = maps.apply(&two.clone().force(), &map("s", "blue")).await?;
    same("the colour", &forced["data"]["colour"], &json!("blue"))?;
    let conflict = maps.apply(&one, &both).await;
    refused("a field that was taken", conflict, ApiErrorKind::Conflict)?;

    // What a manager no longer names, and nobody else does, goes.
    let only_name = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}});
    let rest = maps.apply(&one, &only_name).await?;
    same("the rest", &rest["data"], &json!({"colour": "blue"}))?;
    maps.delete(&key("s")).await?;
    Ok(())
}

async fn subresources(deployments: &Api<Value>) -> Outcome {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "registry.invalid/image"}]},
            },
        },
    });
    deployments.create(&deployment).await?;
    let patch = Patch::merge(json!({"spec": {"replicas": 7}, "status": {"replicas": 2}}));
    let written = deployments.status().patch(&key("web"), &patch).await?;
    same("only the status", &written["spec"]["replicas"], &json!(1))?;
    same("the status", &written["status"]["replicas"], &json!(2))?;
    let scale = deployments.scale().get(&key("web")).await?;
    same(
        "the scale",
        &(scale.spec.replicas, scale.status.replicas),
        &(1, 2),
    )?;
    same("its selector", &scale.status.selector.as_str(), &"app=web")?;
    let patch = Patch::merge(json!({"spec": {"replicas": 3}}));
    let scale = deployments.scale().patch(&key("web"), &patch).await?;
    same("the new scale", &scale.spec.replicas, &3)?;
    let read = deployments.get(&key("web")).await?;
    same("the replicas", &read["spec"]["replicas"], &json!(3))?;
    deployments.delete(&key("web")).await?;
    Ok(())
}

/// Sets a field whose parent exists.
fn put(object: &mut Value, path: &str, value: impl Into<Value>) {
    let (parent, name) = path.rsplit_once('/').unwrap_or_default();
    if let Some(parent) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
        parent.insert(name.to_owned(), value.into());
    }
}
