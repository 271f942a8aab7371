//! Objects are created, changed and deleted.

use serde_json::json;

use super::{CONFIGMAPS, LEASES, config_map, with};
use crate::probe::Probe;

/// The objects of most requests: `a` to `h`. `d` is deleted, `b` and `c` are changed. `page` is a
/// list whose next page is requested later.
pub(super) fn history() -> Vec<Probe> {
    let b = with(config_map("b", "web"), "/data/changed", json!("yes"));
    vec![
        Probe::post(CONFIGMAPS, &config_map("a", "web")).keep("a"),
        Probe::post(CONFIGMAPS, &config_map("b", "web")).keep("b"),
        Probe::post(CONFIGMAPS, &config_map("c", "web")).keep("c"),
        Probe::post(CONFIGMAPS, &config_map("d", "db")).keep("d"),
        Probe::post(CONFIGMAPS, &config_map("e", "db")).keep("e"),
        Probe::put(format!("{CONFIGMAPS}/b"), &b).keep("b2"),
        // The same again is not a change.
        Probe::put(format!("{CONFIGMAPS}/b"), &b),
        Probe::merge(
            format!("{CONFIGMAPS}/c"),
            &json!({"metadata": {"labels": {"app": "db"}}}),
        )
        .keep("c2"),
        Probe::bare("DELETE", format!("{CONFIGMAPS}/d")),
        Probe::post(CONFIGMAPS, &config_map("f", "web")).keep("f"),
        // A write elsewhere, so that the list's version is not that of any object in it.
        Probe::post(
            LEASES,
            &json!({"metadata": {"name": "between"}, "spec": {"holderIdentity": "probes"}}),
        ),
        Probe::get(format!("{CONFIGMAPS}?limit=2")).keep_page("page"),
        Probe::post(CONFIGMAPS, &config_map("g", "web")).keep("g"),
        Probe::post(CONFIGMAPS, &config_map("h", "db")).keep("h"),
    ]
}

/// Patches of every type that change something.
pub(super) fn patches() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/a");
    let strategic = "application/strategic-merge-patch+json";
    vec![
        Probe::merge(&a, &json!({"data": {"x": "1", "of": null}})),
        Probe::merge(&a, &json!({"data": {"x": "1"}})),
        Probe::merge(&a, &json!({"metadata": {"annotations": {"note": "<&>"}}})),
        Probe::patch(&a, strategic, json!({"data": {"y": "2"}}).to_string()),
        Probe::patch(
            &a,
            strategic,
            json!({"data": {"$patch": "replace", "z": "3"}}).to_string(),
        ),
        Probe::patch(
            &a,
            strategic,
            json!({"metadata": {"labels": {"app": null}}}).to_string(),
        ),
        Probe::patch(
            &a,
            "application/json-patch+json",
            json!([{"op": "add", "path": "/data/w", "value": "4"}]).to_string(),
        ),
        Probe::patch(
            format!("{a}?fieldManager=probes"),
            "application/apply-patch+yaml",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"v": "5"}})
                .to_string(),
        ),
        Probe::merge(
            &a,
            &json!({"metadata": {"labels": {"app": "web"}}, "data": null}),
        ),
        Probe::merge(
            format!("{a}?fieldManager=probes"),
            &json!({"data": {"of": "a"}}),
        ),
    ]
}

/// An object with finalizers.
pub(super) fn finalizers() -> Vec<Probe> {
    let held = with(
        config_map("held", "held"),
        "/metadata/finalizers",
        json!(["probes.example.com/hold"]),
    );
    let path = format!("{CONFIGMAPS}/held");
    let finalizers = |finalizers: &[&str]| json!({"metadata": {"finalizers": finalizers}});
    vec![
        Probe::post(CONFIGMAPS, &held).keep("held"),
        Probe::bare("DELETE", &path),
        Probe::bare("DELETE", &path),
        Probe::get(&path),
        // An object that is being deleted accepts no new finalizers, but other changes.
        Probe::merge(
            &path,
            &finalizers(&["probes.example.com/hold", "probes.example.com/more"]),
        ),
        Probe::merge(&path, &json!({"data": {"of": "nobody"}})).keep("held2"),
        Probe::merge(&path, &finalizers(&[])),
        Probe::get(&path),
        Probe::post(CONFIGMAPS, &config_map("held", "held")).keep("again"),
        Probe::get(format!(
            "{CONFIGMAPS}?watch=true&resourceVersion={{held}}&timeoutSeconds=1"
        )),
    ]
}

/// Collections.
pub(super) fn collections() -> Vec<Probe> {
    let names = ["m-1", "m-2", "m-3"];
    let mut probes: Vec<Probe> = names
        .iter()
        .map(|name| Probe::post(CONFIGMAPS, &config_map(name, "many")))
        .collect();
    probes.extend([
        Probe::bare(
            "DELETE",
            format!("{CONFIGMAPS}?labelSelector=app%3Dmany&fieldSelector=metadata.name%3Dm-2"),
        ),
        Probe::get(format!("{CONFIGMAPS}?labelSelector=app%3Dmany")),
        Probe::bare(
            "DELETE",
            format!("{CONFIGMAPS}?labelSelector=app%3Dmany&limit=1"),
        ),
        Probe::get(format!("{CONFIGMAPS}?labelSelector=app%3Dmany")),
        Probe::bare("DELETE", format!("{CONFIGMAPS}?labelSelector=app%3Dmany")),
        Probe::bare("DELETE", format!("{CONFIGMAPS}?labelSelector=app%3Dmany")),
        Probe::bare("DELETE", format!("{CONFIGMAPS}?labelSelector=a%20b")),
        Probe::get(format!("{CONFIGMAPS}?labelSelector=app%3Dmany")),
    ]);
    probes
}
