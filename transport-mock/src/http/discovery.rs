//! API discovery.

use serde_json::{Value, json};

use super::about::Page;
use crate::api::{ApiKind, Registry};
use crate::store::scale;

/// The media type of aggregated discovery: one document for everything.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// The verbs of a custom resource, in the order of the real server.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// The verbs of a subresource.
const PART_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The page at `path`, if there is one.
pub(super) fn page(registry: &Registry, path: &str, accept: &str) -> Option<Page> {
    let mut parts = path.trim_matches('/').split('/');
    let is_core = match parts.next() {
        Some("api") => true,
        Some("apis") => false,
        _ => return None,
    };
    let parts: Vec<&str> = parts.collect();
    let value = match (is_core, parts.as_slice()) {
        (_, []) if is_aggregated(accept) => {
            return Some(Page::json(AGGREGATED, &aggregated(registry, is_core)));
        }
        (true, []) => json!({
            "kind": "APIVersions",
            "versions": versions(registry, ""),
            "serverAddressByClientCIDRs": [],
        }),
        (true, [version]) => resources(registry, "", version)?,
        (false, []) => json!({
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": groups(registry)
                .into_iter()
                .filter(|group| !group.is_empty())
                .map(|name| group(registry, name))
                .collect::<Vec<_>>(),
        }),
        (false, [name]) if groups(registry).contains(name) => {
            let mut value = group(registry, name);
            merge(&mut value, json!({"kind": "APIGroup", "apiVersion": "v1"}));
            value
        }
        (false, [group, version]) => resources(registry, group, version)?,
        _ => return None,
    };
    Some(Page::json("application/json", &value))
}

/// Whether the client prefers aggregated discovery.
fn is_aggregated(accept: &str) -> bool {
    let first = accept.split(',').next().unwrap_or_default();
    AGGREGATED
        .split(';')
        .all(|part| first.split(';').any(|given| given.trim() == part))
}

/// The groups, in the order in which their first kind was added.
fn groups(registry: &Registry) -> Vec<&str> {
    distinct(registry.iter().map(|kind| kind.group()))
}

/// The versions of a group, in the same order.
fn versions<'a>(registry: &'a Registry, group: &str) -> Vec<&'a str> {
    let of_group = registry.iter().filter(|kind| kind.group() == group);
    distinct(of_group.map(|kind| kind.version()))
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn group(registry: &Registry, name: &str) -> Value {
    let version =
        |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let versions = versions(registry, name);
    json!({
        "name": name,
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(version),
    })
}

fn kinds<'a>(
    registry: &'a Registry,
    group: &str,
    version: &str,
) -> impl Iterator<Item = &'a ApiKind> {
    registry
        .iter()
        .map(AsRef::as_ref)
        .filter(move |kind: &&ApiKind| kind.group() == group && kind.version() == version)
}

/// The kinds of a group version; `None` if it has none.
fn resources(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let mut resources = Vec::new();
    let mut group_version = None;
    for kind in kinds(registry, group, version) {
        group_version = Some(kind.api_version());
        let mut resource = json!({
            "name": kind.plural(),
            "singularName": kind.singular(),
            "namespaced": kind.is_namespaced(),
            "kind": kind.kind(),
            "verbs": verbs(kind),
        });
        if !kind.short_names().is_empty() {
            merge(&mut resource, json!({"shortNames": kind.short_names()}));
        }
        resources.push(resource);
        for subresource in subresources(kind) {
            let mut resource = json!({
                "name": format!("{}/{}", kind.plural(), subresource.name),
                "singularName": "",
                "namespaced": kind.is_namespaced(),
                "kind": subresource.of.kind(),
                "verbs": PART_VERBS,
            });
            if subresource.of.group() != kind.group() {
                let (group, version) = (subresource.of.group(), subresource.of.version());
                merge(&mut resource, json!({"group": group, "version": version}));
            }
            resources.push(resource);
        }
    }
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version?,
        "resources": resources,
    }))
}

fn aggregated(registry: &Registry, is_core: bool) -> Value {
    let groups = groups(registry)
        .into_iter()
        .filter(|group| group.is_empty() == is_core);
    let items: Vec<Value> = groups
        .map(|group| {
            let versions: Vec<Value> = versions(registry, group)
                .into_iter()
                .map(|version| {
                    json!({
                        "version": version,
                        "resources": kinds(registry, group, version)
                            .map(aggregated_resource)
                            .collect::<Vec<_>>(),
                        "freshness": "Current",
                    })
                })
                .collect();
            json!({"metadata": {"name": group}, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_resource(kind: &ApiKind) -> Value {
    let response_kind = |kind: &ApiKind| json!({"group": kind.group(), "version": kind.version(), "kind": kind.kind()});
    let mut resource = json!({
        "resource": kind.plural(),
        "responseKind": response_kind(kind),
        "scope": if kind.is_namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular(),
        "verbs": verbs(kind),
    });
    if !kind.short_names().is_empty() {
        merge(&mut resource, json!({"shortNames": kind.short_names()}));
    }
    let parts = subresources(kind);
    let parts: Vec<Value> = parts
        .iter()
        .map(|part| {
            json!({
                "subresource": part.name,
                "responseKind": response_kind(part.of),
                "verbs": PART_VERBS,
            })
        })
        .collect();
    if !parts.is_empty() {
        merge(&mut resource, json!({"subresources": parts}));
    }
    resource
}

const fn verbs(kind: &ApiKind) -> [&'static str; 8] {
    match kind.is_custom() {
        true => CUSTOM_VERBS,
        false => VERBS,
    }
}

/// A part of an object with a path of its own.
struct Subresource<'a> {
    name: &'static str,
    /// The kind that it returns.
    of: &'a ApiKind,
}

fn subresources(kind: &ApiKind) -> Vec<Subresource<'_>> {
    let status = kind.has_status().then_some(Subresource {
        name: "status",
        of: kind,
    });
    let scale = kind.has_scale().then(|| Subresource {
        name: "scale",
        of: scale::kind(),
    });
    let mut all: Vec<Subresource<'_>> = status.into_iter().chain(scale).collect();
    // Those of custom resources are in the order of their definition.
    if !kind.is_custom() {
        all.sort_by_key(|part| part.name);
    }
    all
}

/// Adds the fields of one object to another.
fn merge(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}
