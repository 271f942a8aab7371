//! Sets of fields, as in `fieldsV1`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A set of paths. Each step is a text as in `fieldsV1`: `f:name`, `k:{"name":"c"}`, `v:"item"`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FieldSet {
    members: BTreeSet<String>,
    children: BTreeMap<String, Self>,
}

impl FieldSet {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// Adds a path.
    pub(super) fn insert(&mut self, path: &[String]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Adds a step at the top.
    pub(super) fn insert_member(&mut self, step: String) {
        self.members.insert(step);
    }

    pub(super) fn has(&self, step: &str) -> bool {
        self.members.contains(step)
    }

    /// What is below a step.
    pub(super) fn below(&self, step: &str) -> Option<&Self> {
        self.children.get(step).filter(|set| !set.is_empty())
    }

    /// The steps at the top that something is below of.
    pub(super) fn parents(&self) -> impl Iterator<Item = (&String, &Self)> {
        self.children.iter()
    }

    pub(super) fn set_below(&mut self, step: &str, below: Self) {
        if below.is_empty() {
            self.children.remove(step);
        } else {
            self.children.insert(step.to_owned(), below);
        }
    }

    pub(super) fn union(mut self, other: &Self) -> Self {
        self.members.extend(other.members.iter().cloned());
        for (step, below) in &other.children {
            let mine = self.children.remove(step).unwrap_or_default();
            self.children.insert(step.clone(), mine.union(below));
        }
        self
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        let mut left = Self {
            members: self.members.difference(&other.members).cloned().collect(),
            children: BTreeMap::new(),
        };
        for (step, below) in &self.children {
            let below = match other.children.get(step) {
                Some(others) => below.difference(others),
                None => below.clone(),
            };
            left.set_below(step, below);
        }
        left
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members);
        let mut both = Self {
            members: members.cloned().collect(),
            children: BTreeMap::new(),
        };
        for (step, below) in &self.children {
            if let Some(others) = other.children.get(step) {
                both.set_below(step, below.intersection(others));
            }
        }
        both
    }

    /// Without a step at the top and everything below it.
    pub(super) fn without(mut self, step: &str) -> Self {
        self.members.remove(step);
        self.children.remove(step);
        self
    }

    /// Only what is at or below a step at the top.
    pub(super) fn only(mut self, step: &str) -> Self {
        self.members.retain(|member| member == step);
        self.children.retain(|parent, _| parent == step);
        self
    }

    /// Removes single paths, not what is below them.
    pub(super) fn strip(&mut self, paths: &[&[&str]]) {
        for path in paths {
            match path {
                [] => {}
                [last] => {
                    self.members.remove(*last);
                }
                [first, rest @ ..] => {
                    if let Some(below) = self.children.get_mut(*first) {
                        below.strip(&[rest]);
                    }
                }
            }
        }
        self.children.retain(|_, below| !below.is_empty());
    }

    /// All paths, members first, as people read them.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.members.iter().map(|step| readable(step)).collect();
        for (step, below) in &self.children {
            let step = readable(step);
            let below = below.paths().into_iter();
            paths.extend(below.map(|path| format!("{step}{path}")));
        }
        paths
    }

    /// Parses `fieldsV1`.
    pub(super) fn parse(value: &Value) -> Self {
        let mut set = Self::default();
        for (step, below) in value.as_object().into_iter().flatten() {
            let inner = Self::parse(below);
            let is_member = below
                .as_object()
                .is_none_or(|it| it.is_empty() || it.contains_key("."));
            if step != "." && is_member {
                set.members.insert(step.clone());
            }
            set.set_below(step, inner);
        }
        set
    }

    /// Writes `fieldsV1`.
    pub(super) fn to_value(&self) -> Value {
        let mut out = Map::new();
        for step in &self.members {
            out.insert(step.clone(), Value::Object(Map::new()));
        }
        for (step, below) in &self.children {
            let mut inner = below.to_value();
            if let (Value::Object(inner), true) = (&mut inner, self.has(step)) {
                inner.insert(".".to_owned(), Value::Object(Map::new()));
            }
            out.insert(step.clone(), inner);
        }
        Value::Object(out)
    }
}

/// A step as people read it: `.name`, `[name="c"]`, `[="item"]`.
fn readable(step: &str) -> String {
    let (kind, rest) = step.split_once(':').unwrap_or(("f", step));
    match kind {
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(rest).unwrap_or_default();
            let mut out = String::new();
            for (key, value) in keys {
                let comma = if out.is_empty() { "" } else { "," };
                // Writing to a text cannot fail.
                let _ = write!(out, "{comma}{key}={value}");
            }
            format!("[{out}]")
        }
        "v" => format!("[={rest}]"),
        _ => format!(".{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sets_are_read_and_written() {
        let fields = json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:finalizers": {"v:\"a\"": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}});
        let set = FieldSet::parse(&fields);
        assert_eq!(set.to_value(), fields);
        assert_eq!(
            set.paths(),
            [
                ".metadata.labels",
                ".metadata.finalizers[=\"a\"]",
                ".metadata.labels.app",
                ".spec.containers[name=\"c\"]",
                ".spec.containers[name=\"c\"].image",
            ]
        );
    }

    #[test]
    fn sets_are_combined() {
        let set = |value: Value| FieldSet::parse(&value);
        let (left, right) = (
            set(json!({"f:a": {".": {}, "f:x": {}}, "f:b": {}})),
            set(json!({"f:a": {"f:x": {}, "f:y": {}}})),
        );
        assert_eq!(left.difference(&right), set(json!({"f:a": {}, "f:b": {}})));
        assert_eq!(left.intersection(&right), set(json!({"f:a": {"f:x": {}}})));
        assert_eq!(
            left.clone().union(&right),
            set(json!({"f:a": {".": {}, "f:x": {}, "f:y": {}}, "f:b": {}}))
        );
        assert_eq!(left.clone().without("f:a"), set(json!({"f:b": {}})));
        let mut stripped = left;
        stripped.strip(&[&["f:a"], &["f:a", "f:x"]]);
        assert_eq!(stripped, set(json!({"f:b": {}})));
    }
}
