//! Dry runs, and the options of writes.

use serde_json::{Value, json};

use super::{CONFIGMAPS, PODS, WIDGETS, config_map, with};
use crate::probe::Probe;

pub(super) fn dry_runs() -> Vec<Probe> {
    let r = format!("{CONFIGMAPS}/r");
    let dry = |path: &str| format!("{path}?dryRun=All");
    let held = with(
        config_map("r", "dry"),
        "/metadata/finalizers",
        json!(["probes.example.com/hold"]),
    );
    let changed = with(config_map("r", "dry"), "/data/of", json!("dry"));
    let merge = |body: Value| Probe::merge(dry(&r), &body);
    let pod =
        json!({"metadata": {"name": "dry"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let widget = json!({"apiVersion": "probes.example.com/v1", "kind": "Widget", "metadata": {"name": "dry"}, "spec": {}});
    let mut probes = vec![
        Probe::post(dry(CONFIGMAPS), &config_map("r", "dry")),
        Probe::post(
            dry(CONFIGMAPS),
            &json!({"metadata": {"generateName": "made-"}}),
        )
        .keep("dry-made"),
        Probe::post(dry(WIDGETS), &widget),
        Probe::post(dry(PODS), &pod),
        Probe::get(&r),
        Probe::post(CONFIGMAPS, &config_map("r", "dry")).keep("r"),
        Probe::post(dry(CONFIGMAPS), &config_map("r", "dry")),
        Probe::post(dry(CONFIGMAPS), &config_map("Not_A_Name", "dry")),
        Probe::put(dry(&r), &changed),
        Probe::put(
            dry(&r),
            &with(changed, "/metadata/resourceVersion", json!("1")),
        ),
        Probe::put(
            dry(&format!("{CONFIGMAPS}/nobody")),
            &config_map("nobody", "dry"),
        ),
        merge(json!({"data": {"x": "1"}})),
        merge(json!({"metadata": {"labels": {"k": "-v"}}})),
        merge(json!({})),
        Probe::patch(
            dry(&r),
            "application/json-patch+json",
            json!([{"op": "add", "path": "/data/x", "value": "1"}]).to_string(),
        ),
        Probe::patch(
            dry(&r),
            "application/strategic-merge-patch+json",
            json!({"data": {"x": "1"}}).to_string(),
        ),
        Probe::bare("DELETE", dry(&r)),
        Probe::bare(
            "DELETE",
            format!("{CONFIGMAPS}?labelSelector=app%3Ddry&dryRun=All"),
        ),
        Probe::delete(&r, &json!({"dryRun": ["All"]})),
        Probe::delete(
            &r,
            &json!({"dryRun": ["All"], "preconditions": {"resourceVersion": "1"}}),
        ),
        Probe::get(&r),
        Probe::put(&r, &held).keep("r2"),
        Probe::bare("DELETE", dry(&r)),
        Probe::get(&r),
        Probe::bare("DELETE", &r).keep("r3"),
        Probe::bare("DELETE", dry(&r)),
        // What would be its end is not.
        merge(json!({"metadata": {"finalizers": null}})),
        Probe::get(&r),
        Probe::merge(&r, &json!({"metadata": {"finalizers": null}})),
        Probe::get(&r),
        Probe::get(format!(
            "{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion={{r}}"
        )),
    ];
    probes.extend(options());
    probes
}

/// Options that are refused, and some that are not.
fn options() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/a");
    let nothing = json!({});
    let mut probes: Vec<Probe> = [
        "dryRun=Some",
        "dryRun=",
        "dryRun=All&dryRun=All",
        "dryRun=All&dryRun=Some",
        "fieldManager=%0A",
        "fieldValidation=Sometimes",
        "fieldValidation=Strict",
        "force=true",
        "force=false",
        "force=true&dryRun=Some&fieldValidation=Sometimes",
    ]
    .map(|query| Probe::merge(format!("{a}?{query}"), &nothing))
    .to_vec();
    let long = "m".repeat(129);
    probes.extend([
        Probe::merge(format!("{a}?fieldManager={long}"), &nothing),
        Probe::put(
            format!("{a}?dryRun=Some&force=true"),
            &config_map("a", "web"),
        ),
        Probe::bare("PUT", format!("{a}?dryRun=Some")).sending("application/json", "{"),
        Probe::bare("DELETE", format!("{a}?dryRun=Some")),
        Probe::delete(&a, &json!({"dryRun": ["Some"]})),
        Probe::delete(
            &a,
            &json!({"dryRun": ["Some"], "propagationPolicy": "Sideways"}),
        ),
        // A body replaces the query.
        Probe::delete(format!("{a}?dryRun=Some"), &json!({"dryRun": ["All"]})),
        Probe::get(&a),
    ]);
    probes
}
