//! The scale of objects: the subresource `…/scale`, an `autoscaling/v1` Scale.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use crate::api::{ApiKind, ScaleFields, ScaleSelector};
use crate::status::{ApiError, StatusCause};
use crate::store::Store;
use crate::store::metadata::{self, admit, set, text, unreadable};
use crate::store::object::{StoredObject, key};
use crate::store::write::{Author, Part, Target, check_name, set_version, take_namespace};

/// The kind of every scale.
pub(crate) fn kind() -> &'static ApiKind {
    static KIND: OnceLock<ApiKind> = OnceLock::new();
    KIND.get_or_init(ApiKind::builtin_scale)
}

/// The scale of an object. A custom resource must say how large it should be.
pub(crate) fn of(parent: &ApiKind, object: &StoredObject) -> Result<Arc<StoredObject>, ApiError> {
    let fields = parent.scale().ok_or_else(ApiError::resource_not_found)?;
    let path = &fields.spec_replicas;
    if parent.is_custom() && at(object.value(), path).is_none() {
        return Err(ApiError::internal_error(&format!(
            "the spec replicas field \".{path}\" does not exist"
        )));
    }
    Ok(shown(fields, object))
}

/// The scale of an object, which is 0 if it does not say.
fn shown(fields: &ScaleFields, object: &StoredObject) -> Arc<StoredObject> {
    let value = object.value();
    let number = |path: &str| at(value, path).and_then(Value::as_i64);
    let replicas = number(&fields.spec_replicas).unwrap_or(0);
    let mut status = json!({"replicas": number(&fields.status_replicas).unwrap_or(0)});
    let selector = selector(fields, value);
    if let (Value::Object(status), false) = (&mut status, selector.is_empty()) {
        status.insert("selector".to_owned(), selector.into());
    }
    let mut scale = Map::new();
    // Go omits a zero here, but not in the status.
    let spec = match replicas {
        0 => json!({}),
        replicas => json!({"replicas": replicas}),
    };
    scale.insert("spec".to_owned(), spec);
    scale.insert("status".to_owned(), status);
    for field in ["name", "namespace", "uid", "creationTimestamp"] {
        if let Some(value) = text(value, field) {
            set(&mut scale, field, value);
        }
    }
    Arc::new(StoredObject::new(kind(), scale, object.version()))
}

impl Store {
    /// Sets the replicas of an object to those of a scale.
    pub(crate) fn update_scale(
        &mut self,
        target: Target<'_>,
        name: &str,
        scale: Map<String, Value>,
        author: Author<'_>,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let mut scale = admit(kind(), scale)?;
        check_name(&scale, name)?;
        take_namespace(&mut scale, target.namespace)?;
        let fields = target.kind.scale();
        let fields = fields.ok_or_else(ApiError::resource_not_found)?;
        let Some(before) = self.get(target.id, &key(target.namespace, name)) else {
            return Err(ApiError::not_found(target.kind, name));
        };
        let replicas = replicas(target.kind, fields, name, &scale)?;
        let mut object = before.value().clone();
        put(&mut object, &fields.spec_replicas, replicas.into());
        set_version(&mut object, target.kind);
        // The conditions of the scale are those of its object.
        for field in ["uid", "resourceVersion"] {
            if text(&scale, field).is_some() {
                metadata::copy(&mut object, &scale, field);
            }
        }
        let object = self.update(target, name, object, Part::Main, author)?;
        of(target.kind, &object)
    }

    /// Changes the scale of an object with `change`.
    pub(crate) fn patch_scale(
        &mut self,
        target: Target<'_>,
        name: &str,
        author: Author<'_>,
        change: impl FnOnce(&mut Map<String, Value>) -> Result<(), ApiError>,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let Some(object) = self.get(target.id, &key(target.namespace, name)) else {
            return Err(ApiError::not_found(target.kind, name));
        };
        let fields = target.kind.scale();
        let fields = fields.ok_or_else(ApiError::resource_not_found)?;
        let mut scale = shown(fields, object).value().clone();
        change(&mut scale)?;
        self.update_scale(target, name, scale, author)
    }
}

/// The replicas that a scale asks for.
fn replicas(
    parent: &ApiKind,
    fields: &ScaleFields,
    name: &str,
    scale: &Map<String, Value>,
) -> Result<i64, ApiError> {
    let replicas = match at(scale, "spec.replicas") {
        None | Some(Value::Null) => 0,
        Some(Value::Number(number)) if number.is_i64() => number.as_i64().unwrap_or(0),
        Some(other) => {
            return Err(unreadable(
                kind(),
                other,
                "ScaleSpec",
                "spec.replicas",
                "int32",
            ));
        }
    };
    if replicas >= 0 {
        return Ok(replicas);
    }
    Err(if parent.is_custom() {
        let field = format!(".{}", fields.spec_replicas);
        let why = "should be a non-negative integer";
        let cause = StatusCause::invalid_number(&field, replicas, why);
        ApiError::invalid(parent, name, vec![cause])
    } else {
        let why = "must be greater than or equal to 0";
        let cause = StatusCause::invalid_number("spec.replicas", replicas, why);
        ApiError::invalid(kind(), name, vec![cause])
    })
}

/// The selector of a scale, as text.
fn selector(fields: &ScaleFields, object: &Map<String, Value>) -> String {
    let selector = at(object, "spec.selector");
    let mut terms = match &fields.selector {
        ScaleSelector::Text(path) => {
            let text = path.as_ref().and_then(|path| at(object, path)?.as_str());
            return text.unwrap_or_default().to_owned();
        }
        ScaleSelector::Labels => equalities(selector),
        ScaleSelector::Selector => {
            let part = |name: &str| selector.and_then(|selector| selector.get(name));
            let mut terms = equalities(part("matchLabels"));
            let expressions = part("matchExpressions").and_then(Value::as_array);
            terms.extend(expressions.into_iter().flatten().filter_map(expression));
            terms
        }
    };
    terms.sort();
    let terms: Vec<String> = terms.into_iter().map(|(_, term)| term).collect();
    terms.join(",")
}

/// The terms `key=value`, each with its key.
fn equalities(labels: Option<&Value>) -> Vec<(String, String)> {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    labels
        .map(|(key, value)| {
            let value = value.as_str().unwrap_or_default();
            (key.clone(), format!("{key}={value}"))
        })
        .collect()
}

fn expression(expression: &Value) -> Option<(String, String)> {
    let key = expression.get("key")?.as_str()?;
    let values = expression.get("values").and_then(Value::as_array);
    let values = values.into_iter().flatten();
    let mut values: Vec<&str> = values.filter_map(Value::as_str).collect();
    values.sort_unstable();
    let values = values.join(",");
    let term = match expression.get("operator")?.as_str()? {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "Exists" => key.to_owned(),
        _ => format!("!{key}"),
    };
    Some((key.to_owned(), term))
}

/// The value at a dotted path.
fn at<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut parts = rest.split('.').filter(|part| !part.is_empty());
    parts.try_fold(object.get(first)?, |value, part| value.get(part))
}

/// Sets the value at a dotted path.
fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = object.entry(first).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Registry;

    fn scale_of(plural: &str, value: Value) -> Value {
        let registry = Registry::with_builtins();
        let (_, kind) = registry.find(plural).unwrap();
        let Value::Object(value) = value else {
            panic!("an object")
        };
        let scale = of(kind, &StoredObject::new(kind, value, 7)).unwrap();
        Value::Object(scale.value().clone())
    }

    #[test]
    fn selectors_are_written_in_the_order_of_their_keys() {
        let scale = scale_of(
            "deployments",
            json!({"metadata": {"name": "d"}, "spec": {"replicas": 3, "selector": {
                "matchLabels": {"app": "web", "z": "y"},
                "matchExpressions": [{"key": "x", "operator": "In", "values": ["b", "a"]}, {"key": "b", "operator": "NotIn", "values": ["c"]},
                    {"key": "e", "operator": "Exists"}, {"key": "n", "operator": "DoesNotExist"}]}},
                "status": {"replicas": 2}}),
        );
        assert_eq!(scale["spec"], json!({"replicas": 3}));
        assert_eq!(
            scale["status"],
            json!({"replicas": 2, "selector": "app=web,b notin (c),e,!n,x in (a,b),z=y"})
        );
        let scale = scale_of("rc", json!({"spec": {"selector": {"b": "2", "a": "1"}}}));
        assert_eq!(
            scale["status"],
            json!({"replicas": 0, "selector": "a=1,b=2"})
        );
    }
}
