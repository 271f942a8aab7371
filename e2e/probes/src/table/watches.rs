//! Watches: start, state, end.

use super::{CONFIGMAPS, PODS};
use crate::probe::Probe;

fn watch(query: &str) -> Probe {
    Probe::get(format!("{CONFIGMAPS}?watch=true&{query}"))
}

/// Every version, with every way to ask for the state.
pub(super) fn of_versions() -> Vec<Probe> {
    let versions = [
        "",
        "&resourceVersion=0",
        "&resourceVersion={c}",
        "&resourceVersion={g}",
        "&resourceVersion=999999999",
        "&resourceVersion=latest",
        "&resourceVersion=-1",
    ];
    let states = [
        "",
        "&allowWatchBookmarks=true",
        "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        "&sendInitialEvents=false",
        "&sendInitialEvents=true",
        "&sendInitialEvents=true&resourceVersionMatch=Exact",
        "&resourceVersionMatch=NotOlderThan",
        "&resourceVersionMatch=Newest",
    ];
    let mut probes = Vec::new();
    for version in versions {
        for state in states {
            // The server waits three seconds for a version that it has not reached.
            let timeout = if version.ends_with("999999999") { 5 } else { 1 };
            probes.push(watch(&format!("timeoutSeconds={timeout}{version}{state}")));
        }
    }
    // Long enough for a bookmark before the end.
    probes.push(watch(
        "timeoutSeconds=4&resourceVersion={g}&allowWatchBookmarks=true",
    ));
    probes
}

/// Selectors and forms.
pub(super) fn selections() -> Vec<Probe> {
    let mut probes: Vec<Probe> = [
        "timeoutSeconds=1&resourceVersion={a}&labelSelector=app%3Dweb",
        "timeoutSeconds=1&resourceVersion={a}&labelSelector=app%3Ddb",
        "timeoutSeconds=1&resourceVersion={a}&fieldSelector=metadata.name%3Dd",
        "timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app%3Ddb",
        "timeoutSeconds=1&labelSelector=app%20web",
        "timeoutSeconds=1&fieldSelector=data.of%3Da",
        "timeoutSeconds=1&limit=1",
        "timeoutSeconds=1&resourceVersion={a}&limit=1",
        "timeoutSeconds=1&continue={page.continue}",
        "timeoutSeconds=1&resourceVersion=0&continue=next&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "timeoutSeconds=soon",
        "timeoutSeconds=1&sendInitialEvents=perhaps&resourceVersionMatch=NotOlderThan",
    ]
    .map(watch)
    .to_vec();
    let forms = [
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;stream=watch",
        "application/vnd.kubernetes.protobuf;stream=watch",
        "text/html",
    ];
    for form in forms {
        let state = "timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        probes.push(watch(state).accepting(form));
    }
    probes.extend([
        Probe::get("/api/v1/configmaps?watch=true&timeoutSeconds=1&resourceVersion={a}&labelSelector=run%3D{ns}"),
        Probe::get(format!("{CONFIGMAPS}/a?watch=true&timeoutSeconds=1")),
        Probe::get("/api/v1/watch/namespaces/{ns}/configmaps?timeoutSeconds=1"),
        Probe::get("/api/v1/watch/namespaces/{ns}/configmaps/a?timeoutSeconds=1"),
        Probe::get("/api/v1/namespaces/{ns}/gadgets?watch=true&timeoutSeconds=1"),
        Probe::get(format!(
            "{PODS}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        )),
    ]);
    probes
}

/// What is left of a forgotten history.
pub(super) fn of_the_past() -> Vec<Probe> {
    [
        "timeoutSeconds=1&resourceVersion={c}",
        "timeoutSeconds=1&resourceVersion={c}&allowWatchBookmarks=true",
        "timeoutSeconds=1&resourceVersion={c}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        "timeoutSeconds=1&resourceVersion={c}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        "timeoutSeconds=1&resourceVersion={c}&labelSelector=app%3Dweb",
        "timeoutSeconds=1&resourceVersion=1",
    ]
    .map(watch)
    .to_vec()
}
