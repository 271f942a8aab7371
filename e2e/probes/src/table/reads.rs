//! Single objects; forms; unknown paths and methods.

use serde_json::json;

use super::{CONFIGMAPS, PODS, WIDGETS, config_map};
use crate::probe::Probe;

/// Single objects.
pub(super) fn objects() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/a");
    let mut probes = vec![
        Probe::get(&a),
        Probe::get(format!("{CONFIGMAPS}/d")),
        Probe::get("/api/v1/namespaces/nowhere/configmaps/a"),
        Probe::get(format!("{CONFIGMAPS}/Not_A_Name")),
    ];
    let queries = [
        "resourceVersion=0",
        "resourceVersion={a}",
        "resourceVersion=1",
        "resourceVersion=999999999",
        "resourceVersion=latest",
        "resourceVersion={a}&resourceVersionMatch=Exact",
        "watch=false",
        "labelSelector=app%3Dnone",
    ];
    probes.extend(queries.map(|query| Probe::get(format!("{a}?{query}"))));
    probes
}

/// Lists and objects in every form.
pub(super) fn forms() -> Vec<Probe> {
    let forms = [
        "*/*",
        "application/*",
        "application/json;charset=utf-8",
        "application/json; as=Table; v=v1; g=meta.k8s.io",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        "application/json;as=Table;v=v2;g=meta.k8s.io",
        "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=Poem;v=v1;g=meta.k8s.io",
        "application/vnd.kubernetes.protobuf",
        "application/vnd.kubernetes.protobuf,application/json",
        "application/yaml",
        "application/cbor",
        "application/cbor,application/json;q=0.5",
        "text/html",
        "text/html,*/*;q=0.8",
        "garbage",
    ];
    let mut probes = Vec::new();
    for form in forms {
        probes.push(Probe::get(format!("{CONFIGMAPS}?labelSelector=app%3Dweb")).accepting(form));
        probes.push(Probe::get(format!("{CONFIGMAPS}/a")).accepting(form));
    }
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    probes.extend([
        Probe::get(format!("{CONFIGMAPS}?limit=2")).accepting(table),
        Probe::get(format!(
            "{CONFIGMAPS}?labelSelector=app%3Dweb&includeObject=None"
        ))
        .accepting(table),
        Probe::get(format!(
            "{CONFIGMAPS}?labelSelector=app%3Dweb&includeObject=Object"
        ))
        .accepting(table),
        Probe::get(format!("{CONFIGMAPS}?labelSelector=app%3Dnone")).accepting(table),
        Probe::get(format!("{CONFIGMAPS}/d")).accepting(table),
        Probe::post(CONFIGMAPS, &config_map("a", "web")).accepting("text/html"),
    ]);
    probes
}

/// Paths and methods.
pub(super) fn paths() -> Vec<Probe> {
    let mut probes = [
        "/healthz",
        "/livez",
        "/readyz",
        "/nowhere",
        "/api/v1/namespaces/{ns}/gadgets",
        "/api/v1/namespaces/{ns}/gadgets/a",
        "/api/v1/gadgets",
        "/api/v2/pods",
        "/apis/nowhere/v1/gadgets",
        "/apis/apps/v1/namespaces/{ns}/gadgets",
        "/apis/apps/v2/namespaces/{ns}/deployments",
        "/apis/probes.example.com/v1/namespaces/{ns}/gadgets",
        "/apis/probes.example.com/v2/namespaces/{ns}/widgets",
        "/api/v1/configmaps/a",
        "/api/v1/namespaces/{ns}/nodes",
        "/api/v1/namespaces/{ns}/configmaps/a/status",
        "/api/v1/namespaces/{ns}/configmaps/a/scale",
        "/api/v1/namespaces/{ns}/configmaps/",
        "/api/v1/namespaces/{ns}/configmaps/a/",
        "/api/v1/namespaces//configmaps?labelSelector=run%3D{ns}",
        "/api/v1/nodes/nobody",
        "/api/v1/namespaces/nowhere",
        "/apis/apps/v1/namespaces/{ns}/deployments/nobody",
        "/api/v1/namespaces/{ns}/pods/nobody/status",
    ]
    .map(Probe::get)
    .to_vec();
    probes.extend([
        Probe::get(format!("{WIDGETS}/nobody")),
        Probe::get(CONFIGMAPS).with("Authorization", "Bearer wrong"),
        Probe::post(format!("{CONFIGMAPS}/a"), &config_map("a", "web")),
        Probe::put(CONFIGMAPS, &config_map("a", "web")),
        Probe::merge(CONFIGMAPS, &json!({})),
        Probe::post("/api/v1/configmaps", &config_map("a", "web")),
        Probe::bare("DELETE", "/api/v1/configmaps"),
        Probe::post("/api/v1/namespaces/{ns}/gadgets", &config_map("a", "web")),
        Probe::bare("DELETE", "/api/v1/namespaces/{ns}/gadgets/a"),
        Probe::bare("DELETE", format!("{PODS}/nobody/status")),
        Probe::bare("BREW", CONFIGMAPS),
        Probe::bare("OPTIONS", CONFIGMAPS),
    ]);
    probes
}
