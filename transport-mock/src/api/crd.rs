//! The kinds that a CustomResourceDefinition defines.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::{ApiKind, ScaleFields, ScaleSelector};

/// The kinds that a definition serves, the preferred version first.
pub(crate) fn kinds(definition: &Map<String, Value>) -> Vec<ApiKind> {
    let Some(spec) = definition.get("spec") else {
        return Vec::new();
    };
    let all = spec.get("versions").and_then(Value::as_array);
    let mut versions: Vec<&Value> = all.into_iter().flatten().collect();
    versions.sort_by_cached_key(|version| Reverse(priority(text(version, "/name"))));
    let stored = versions.iter().find(|version| is(version, "storage"));
    let stored = stored.map_or("", |version| text(version, "/name"));
    versions
        .iter()
        .filter(|version| is(version, "served"))
        .map(|version| kind(spec, version, stored))
        .collect()
}

fn kind(spec: &Value, version: &Value, stored: &str) -> ApiKind {
    let name = text(version, "/name");
    let group = text(spec, "/group");
    let plural = text(spec, "/names/plural");
    let texts = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    let mut kind = ApiKind::custom(group, name, plural, text(spec, "/names/kind"));
    text(spec, "/names/singular").clone_into(&mut kind.singular);
    text(spec, "/names/listKind").clone_into(&mut kind.list_kind);
    kind.namespaced = text(spec, "/scope") == "Namespaced";
    kind.short_names = texts(spec.pointer("/names/shortNames"));
    kind.has_custom_status = version.pointer("/subresources/status").is_some();
    kind.stored_as = (name != stored).then(|| format!("{group}/{stored}"));
    kind.schema = version
        .pointer("/schema/openAPIV3Schema")
        .map(|schema| Arc::new(schema.clone()));
    let fields = version.get("selectableFields").and_then(Value::as_array);
    kind.selectable = fields
        .into_iter()
        .flatten()
        .map(|field| path(text(field, "/jsonPath")))
        .collect();
    if let Some(scale) = version.pointer("/subresources/scale") {
        let selector = scale.get("labelSelectorPath").and_then(Value::as_str);
        kind.scale = Some(ScaleFields {
            spec_replicas: path(text(scale, "/specReplicasPath")),
            status_replicas: path(text(scale, "/statusReplicasPath")),
            selector: ScaleSelector::Text(selector.map(path)),
        });
    }
    kind
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default()
}

fn is(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool) == Some(true)
}

/// `.spec.replicas` without its first dot.
fn path(text: &str) -> String {
    text.trim_start_matches('.').to_owned()
}

/// How much a version is preferred: `v2`, `v1`, `v2beta1`, `v1alpha1`, and then all others.
fn priority(version: &str) -> (u8, u64, u64, Reverse<String>) {
    let other = || (0, 0, 0, Reverse(version.to_owned()));
    let Some(rest) = version.strip_prefix('v') else {
        return other();
    };
    let (major, stage, minor) = match (rest.split_once("beta"), rest.split_once("alpha")) {
        (Some((major, minor)), _) => (major, 2, minor),
        (None, Some((major, minor))) => (major, 1, minor),
        (None, None) => (rest, 3, "0"),
    };
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => (stage, major, minor, Reverse(String::new())),
        _ => other(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn served_versions_in_the_order_of_preference() {
        let version = |name: &str, served: bool, storage: bool| json!({"name": name, "served": served, "storage": storage});
        let definition = json!({"spec": {
            "group": "example.com",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "Gadgets", "shortNames": ["gg"]},
            "scope": "Cluster",
            "versions": [version("odd", true, false), version("v1alpha1", true, false), version("v1", true, false),
                version("v2beta1", true, true), version("v3", false, false), version("v10", true, false)],
        }});
        let kinds = kinds(definition.as_object().unwrap());
        let versions: Vec<&str> = kinds.iter().map(ApiKind::version).collect();
        assert_eq!(versions, ["v10", "v1", "v2beta1", "v1alpha1", "odd"]);
        let first = &kinds[0];
        assert_eq!(
            (first.list_kind(), first.singular(), first.short_names()),
            ("Gadgets", "gadget", ["gg".to_owned()].as_slice())
        );
        assert!(!first.is_namespaced() && !first.has_status() && !first.has_scale());
        assert_eq!(first.stored_as.as_deref(), Some("example.com/v2beta1"));
        assert_eq!(kinds[2].stored_as, None);
    }
}
