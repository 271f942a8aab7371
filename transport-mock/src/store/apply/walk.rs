//! Walks over typed values: their fields, their differences, their merge.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::FieldSet;
use super::schema::{ListRule, Type};

/// The fields in which two objects differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    pub(super) removed: FieldSet,
    pub(super) changed: FieldSet,
}

/// Compares two objects. What was added and what was modified counts as changed.
pub(super) fn compare(
    kind: Type<'_>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Comparison {
    let mut walk = Compare {
        path: Vec::new(),
        found: Comparison::default(),
    };
    walk.maps(kind, Some(before), Some(after));
    walk.found
}

struct Compare {
    path: Vec<String>,
    found: Comparison,
}

impl Compare {
    fn values(&mut self, kind: Type<'_>, before: Option<&Value>, after: Option<&Value>) {
        let is_leaf = match (before, after) {
            (Some(Value::Object(_)) | None, Some(Value::Object(_)) | None)
            | (Some(Value::Null), Some(Value::Object(_)))
            | (Some(Value::Object(_)), Some(Value::Null)) => {
                let maps = [before, after].map(|it| it.and_then(Value::as_object));
                let is_empty = maps.iter().flatten().all(|map| map.is_empty());
                let is_leaf = is_empty || kind.is_atomic_map();
                if !is_leaf {
                    let [before, after] = maps;
                    self.maps(kind, before, after);
                }
                is_leaf
            }
            (Some(Value::Array(_)) | None, Some(Value::Array(_)) | None)
            | (Some(Value::Null), Some(Value::Array(_)))
            | (Some(Value::Array(_)), Some(Value::Null)) => {
                let lists = [before, after].map(|it| it.and_then(Value::as_array));
                let is_empty = lists.iter().flatten().all(|list| list.is_empty());
                let rule = kind.list();
                let is_leaf = is_empty || rule == ListRule::Atomic;
                if !is_leaf {
                    let [before, after] = lists;
                    self.lists(kind, &rule, before, after);
                }
                is_leaf
            }
            _ => true,
        };
        match (before, after) {
            (None, _) => self.found.changed.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            _ if is_leaf && before != after => self.found.changed.insert(&self.path),
            _ => {}
        }
    }

    fn maps(
        &mut self,
        kind: Type<'_>,
        before: Option<&Map<String, Value>>,
        after: Option<&Map<String, Value>>,
    ) {
        for (key, old) in before.into_iter().flatten() {
            let new = after.and_then(|after| after.get(key));
            self.at(format!("f:{key}"), kind.field(key).0, Some(old), new);
        }
        for (key, new) in after.into_iter().flatten() {
            if before.is_none_or(|before| !before.contains_key(key)) {
                self.at(format!("f:{key}"), kind.field(key).0, None, Some(new));
            }
        }
    }

    fn lists(
        &mut self,
        kind: Type<'_>,
        rule: &ListRule<'_>,
        before: Option<&Vec<Value>>,
        after: Option<&Vec<Value>>,
    ) {
        let items = |list: Option<&Vec<Value>>| -> BTreeMap<String, Value> {
            let items = list.into_iter().flatten();
            items
                .map(|item| (Type::step(rule, item), item.clone()))
                .collect()
        };
        let (before, after) = (items(before), items(after));
        for (step, old) in &before {
            self.at(step.clone(), kind.item(), Some(old), after.get(step));
        }
        for (step, new) in after {
            if !before.contains_key(&step) {
                self.at(step, kind.item(), None, Some(&new));
            }
        }
    }

    fn at(&mut self, step: String, kind: Type<'_>, before: Option<&Value>, after: Option<&Value>) {
        self.path.push(step);
        self.values(kind, before, after);
        self.path.pop();
    }
}

/// The fields of an object.
pub(super) fn fields_of(kind: Type<'_>, object: &Map<String, Value>) -> FieldSet {
    let mut set = FieldSet::default();
    for (key, value) in object {
        let step = format!("f:{key}");
        let (field, is_named) = kind.field(key);
        let (below, is_leaf) = below(field, value);
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if is_leaf || is_empty || !is_named {
            set.insert_member(step.clone());
        }
        set.set_below(&step, below);
    }
    set
}

/// The fields below a value, and whether it is itself one.
fn below(kind: Type<'_>, value: &Value) -> (FieldSet, bool) {
    match value {
        Value::Object(fields) if !kind.is_atomic_map() => (fields_of(kind, fields), false),
        Value::Array(items) if kind.list() != ListRule::Atomic => {
            let rule = kind.list();
            let mut set = FieldSet::default();
            for item in items {
                let step = Type::step(&rule, item);
                set.insert_member(step.clone());
                set.set_below(&step, below(kind.item(), item).0);
            }
            (set, false)
        }
        _ => (FieldSet::default(), true),
    }
}

/// Merges `config` into `live`.
pub(super) fn merge(
    kind: Type<'_>,
    live: &Map<String, Value>,
    config: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = live.clone();
    for (key, value) in config {
        let field = kind.field(key).0;
        let value = match live.get(key) {
            Some(old) => merge_values(field, old, value),
            None => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

fn merge_values(kind: Type<'_>, live: &Value, config: &Value) -> Value {
    match (live, config) {
        (Value::Object(live), Value::Object(config)) if !kind.is_atomic_map() => {
            Value::Object(merge(kind, live, config))
        }
        (Value::Array(live), Value::Array(config)) if kind.list() != ListRule::Atomic => {
            Value::Array(merge_lists(kind, live, config))
        }
        (_, config) => config.clone(),
    }
}

/// Merges lists: the applied items in their order, and the others where they were.
fn merge_lists(kind: Type<'_>, live: &[Value], config: &[Value]) -> Vec<Value> {
    let rule = kind.list();
    let step = |item: &Value| Type::step(&rule, item);
    let steps: Vec<String> = config.iter().map(step).collect();
    let find = |items: &[Value], wanted: &str| {
        let mut items = items.iter();
        items.find(|item| step(item) == wanted).cloned()
    };
    let mut merged = Vec::new();
    let mut applied = config.iter().zip(&steps).peekable();
    let take = |(new, step): (&Value, &String)| match find(live, step) {
        Some(old) => merge_values(kind.item(), &old, new),
        None => new.clone(),
    };
    for old in live {
        let old_step = step(old);
        if !steps.contains(&old_step) {
            merged.push(old.clone());
            continue;
        }
        // Everything applied up to this item. One that came earlier already is skipped.
        let is_ahead = applied.clone().any(|(_, step)| *step == old_step);
        while is_ahead && let Some(next) = applied.next() {
            let is_it = *next.1 == old_step;
            merged.push(take(next));
            if is_it {
                break;
            }
        }
    }
    merged.extend(applied.map(take));
    merged
}

/// Removes fields. What is empty then is removed, too.
pub(super) fn remove(
    kind: Type<'_>,
    object: &Map<String, Value>,
    gone: &FieldSet,
) -> Map<String, Value> {
    let mut left = Map::new();
    for (key, value) in object {
        let step = format!("f:{key}");
        if gone.has(&step) {
            continue;
        }
        match gone.below(&step) {
            Some(below) => {
                if let Some(value) = remove_from(kind.field(key).0, value, below) {
                    left.insert(key.clone(), value);
                }
            }
            None => {
                left.insert(key.clone(), value.clone());
            }
        }
    }
    left
}

fn remove_from(kind: Type<'_>, value: &Value, gone: &FieldSet) -> Option<Value> {
    match value {
        Value::Object(fields) if !kind.is_atomic_map() => {
            let left = remove(kind, fields, gone);
            (!left.is_empty()).then_some(Value::Object(left))
        }
        Value::Array(items) if kind.list() != ListRule::Atomic => {
            let rule = kind.list();
            let items = items.iter().filter_map(|item| {
                let step = Type::step(&rule, item);
                if gone.has(&step) {
                    return None;
                }
                match gone.below(&step) {
                    Some(below) => remove_from(kind.item(), item, below),
                    None => Some(item.clone()),
                }
            });
            let left: Vec<Value> = items.collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        other => Some(other.clone()),
    }
}

/// The same set, in which every named field that something is below of is a member, too.
pub(super) fn with_parents(kind: Type<'_>, set: &FieldSet) -> FieldSet {
    let mut all = set.clone();
    for (step, below) in set.parents() {
        let field = match step.strip_prefix("f:") {
            Some(key) => {
                let (field, is_named) = kind.field(key);
                if is_named && !matches!(kind, Type::Unknown) {
                    all.insert_member(step.clone());
                }
                field
            }
            None => kind.item(),
        };
        all.set_below(step, with_parents(field, below));
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::Registry;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else {
            panic!("an object")
        };
        map
    }

    fn with_pods<T>(act: impl FnOnce(Type<'_>) -> T) -> T {
        let registry = Registry::with_builtins();
        act(Type::of(registry.find("pods").unwrap().1))
    }

    #[test]
    fn fields_of_a_pod() {
        let pod = json!({"metadata": {"labels": {"app": "web"}, "finalizers": ["a/b"], "ownerReferences": [{"uid": "u", "name": "n"}]},
            "spec": {"containers": [{"name": "c", "args": ["x"], "ports": [{"containerPort": 80}], "resources": {}}], "nodeSelector": {"a": "b"}}});
        let set = with_pods(|pods| fields_of(pods, &map(pod)));
        assert_eq!(
            set.to_value(),
            json!({"f:metadata": {"f:labels": {"f:app": {}}, "f:finalizers": {"v:\"a/b\"": {}}, "f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}},
                "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:args": {}, "f:resources": {},
                    "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}},
                    "f:nodeSelector": {}}})
        );
    }

    #[test]
    fn differences_of_a_pod() {
        let before = json!({"spec": {"containers": null, "nodeName": "a", "dnsPolicy": "x"}});
        let after = json!({"spec": {"containers": [{"name": "c"}], "nodeName": "b"}, "status": {"phase": "Running"}});
        let found = with_pods(|pods| compare(pods, &map(before), &map(after)));
        assert_eq!(
            found.changed.to_value(),
            json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}, "f:nodeName": {}},
                "f:status": {".": {}, "f:phase": {}}})
        );
        assert_eq!(
            found.removed.to_value(),
            json!({"f:spec": {"f:dnsPolicy": {}}})
        );
    }

    #[test]
    fn lists_merge_in_the_order_of_what_is_applied() {
        let list =
            |names: &[&str]| -> Value { names.iter().map(|name| json!({"name": name})).collect() };
        let merged = |live: &[&str], config: &[&str]| {
            let spec = |names| map(json!({"spec": {"containers": list(names)}}));
            let merged = with_pods(|pods| merge(pods, &spec(live), &spec(config)));
            let items = merged["spec"]["containers"].as_array().unwrap().iter();
            items
                .map(|item| item["name"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(merged(&["a", "b"], &["b"]), ["a", "b"]);
        assert_eq!(merged(&["a", "b"], &["c", "a"]), ["c", "a", "b"]);
        assert_eq!(merged(&["a", "b"], &["b", "a"]), ["b", "a"]);
        assert_eq!(merged(&[], &["b", "a"]), ["b", "a"]);
        assert_eq!(merged(&["a", "x", "b"], &["b", "c"]), ["a", "x", "b", "c"]);
    }

    #[test]
    fn what_is_removed_leaves_nothing_empty_behind() {
        let pod = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d"}]}});
        let gone = FieldSet::parse(&json!({"f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}, "k:{\"name\":\"d\"}": {}}}}));
        let left = with_pods(|pods| remove(pods, &map(pod), &gone));
        assert_eq!(
            Value::Object(left),
            json!({"spec": {"containers": [{"name": "c"}]}})
        );
    }
}
