//! The requests, by subject. Later chapters use the objects of earlier ones.

// Objects are created, changed and deleted.
mod writes;

// Lists: versions, pages, selectors.
mod lists;

// Watches: versions, states, bookmarks.
mod watches;

// Single objects, forms, paths, methods.
mod reads;

// Refused writes.
mod refusals;

// Kinds with special rules.
mod kinds;

// Server-side apply.
mod applies;

// Definitions of custom resources.
mod definitions;

// Leases and events.
mod electors;

// Status and scale.
mod subresources;

// Dry runs and other options.
mod dry_runs;

// JSON patches.
mod json_patches;

use serde_json::{Value, json};

use crate::probe::Chapter;

pub(crate) const CONFIGMAPS: &str = "/api/v1/namespaces/{ns}/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/{ns}/pods";
pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
pub(crate) const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases";
pub(crate) const WIDGETS: &str = "/apis/probes.example.com/v1/namespaces/{ns}/widgets";

/// All requests, in order.
#[must_use]
pub fn chapters() -> Vec<Chapter> {
    vec![
        Chapter::new("nothing yet", lists::of_nothing()),
        Chapter::new("history", writes::history()),
        Chapter::new("lists", lists::of_versions()),
        Chapter::new("pages", lists::pages()),
        Chapter::new("selectors", lists::selectors()),
        Chapter::new("watches", watches::of_versions()),
        Chapter::new("watched selections", watches::selections()),
        Chapter::new("objects", reads::objects()),
        Chapter::new("forms", reads::forms()),
        Chapter::new("paths", reads::paths()),
        Chapter::new("refused creates", refusals::creates()),
        Chapter::new("refused updates", refusals::updates()),
        Chapter::new("refused patches", refusals::patches()),
        Chapter::new("refused deletions", refusals::deletions()),
        Chapter::new("patches", writes::patches()),
        Chapter::new("finalizers", writes::finalizers()),
        Chapter::new("collections", writes::collections()),
        Chapter::new("blanks", kinds::blanks()),
        Chapter::new("pods", kinds::pods()),
        Chapter::new("deployments", kinds::deployments()),
        Chapter::new("leases", kinds::leases()),
        Chapter::new("widgets", kinds::widgets()),
        Chapter::new("JSON patches", json_patches::json_patches()),
        Chapter::new("dry runs", dry_runs::dry_runs()),
        Chapter::new("status", subresources::status()),
        Chapter::new("scale", subresources::scale()),
        Chapter::new("custom scale", subresources::custom_scale()),
        Chapter::new("lease fields", electors::lease_fields()),
        Chapter::new("events", electors::events()),
        definitions::definitions(),
        Chapter::new("ownership", applies::ownership()),
        Chapter::new("refused applies", applies::refused()),
        Chapter::new("applied lists", applies::lists()),
        Chapter::new("applied widgets", applies::custom()),
        Chapter::of_forgotten_past("forgotten", lists::of_the_past()),
        Chapter::new("forgotten watches", watches::of_the_past()),
    ]
}

pub(crate) fn config_map(name: &str, app: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": app, "run": "{ns}"}},
        "data": {"of": name},
    })
}

/// An object with one field changed or added.
pub(crate) fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap_or_default();
    if let Some(Value::Object(fields)) = object.pointer_mut(parent) {
        fields.insert(field.to_owned(), value);
    }
    object
}

/// A custom resource with both subresources and arbitrary fields.
pub(crate) fn widget_definition() -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.probes.example.com"},
        "spec": {
            "group": "probes.example.com",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": schema},
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
            }],
        },
    })
}
