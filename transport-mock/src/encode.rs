//! JSON as the real server writes it.
//!
//! Built-in objects begin with `kind` and `apiVersion`, and their metadata has the field order of
//! the Go type. Custom resources have all keys in alphabetical order. Both escape `<`, `>` and `&`,
//! as Go's encoder does.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Value};

use crate::api::ApiKind;

/// The field order of `ObjectMeta`.
const METADATA_ORDER: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// An object as bytes, encoded once and shared. It knows the positions of the parts that vary
/// between answers, so no answer encodes the object again.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    /// The whole object, with kind and apiVersion.
    pub(crate) whole: Arc<[u8]>,
    /// The value of `metadata`.
    pub(crate) metadata: Range<usize>,
    /// The digits of `metadata.resourceVersion`.
    version: Range<usize>,
    /// Where a built-in object continues after `kind` and `apiVersion`. `None` if list items keep
    /// them.
    item: Option<usize>,
}

impl Encoded {
    /// Encodes `object`, which must have kind, apiVersion and metadata.
    pub(crate) fn new(kind: &ApiKind, object: &Map<String, Value>) -> Self {
        let mut out = Vec::with_capacity(512);
        let mut places = Places::default();
        let item = if kind.is_custom() {
            out.push(b'{');
            for (n, (key, value)) in object.iter().enumerate() {
                field(&mut out, key, n == 0);
                places.value(&mut out, kind, key, value);
            }
            None
        } else {
            out.extend_from_slice(kind.opening());
            let item = out.len();
            let metadata = object.get("metadata").unwrap_or(&Value::Null);
            field(&mut out, "metadata", true);
            places.value(&mut out, kind, "metadata", metadata);
            let rest = object
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "kind" | "apiVersion" | "metadata"));
            for (key, value) in rest {
                field(&mut out, key, false);
                json(&mut out, value);
            }
            Some(item)
        };
        out.push(b'}');
        Self {
            whole: out.into(),
            metadata: places.metadata,
            version: places.version,
            item,
        }
    }

    /// Encodes a bookmark, optionally with the annotation that marks the end of the initial events.
    pub(crate) fn bookmark(kind: &ApiKind, version: u64, is_end_of_state: bool) -> Self {
        let mark = r#""annotations":{"k8s.io/initial-events-end":"true"}"#;
        let version = format!(r#""resourceVersion":"{version}""#);
        let metadata = match (is_end_of_state, kind.is_custom()) {
            (false, _) => format!("{{{version}}}"),
            (true, true) => format!("{{{mark},{version}}}"),
            (true, false) => format!("{{{version},{mark}}}"),
        };
        let opening = match kind.is_custom() {
            true => format!(
                r#"{{"apiVersion":"{}","kind":"{}","metadata":"#,
                kind.api_version(),
                kind.kind()
            ),
            false => format!(r#"{}"metadata":"#, String::from_utf8_lossy(kind.opening())),
        };
        Self {
            whole: format!("{opening}{metadata}{}}}", kind.blank())
                .into_bytes()
                .into(),
            metadata: opening.len()..opening.len() + metadata.len(),
            version: 0..0,
            item: None,
        }
    }

    /// Writes the object as a list item.
    pub(crate) fn write_item(&self, out: &mut Vec<u8>) {
        match self.item.and_then(|at| self.whole.get(at..)) {
            Some(rest) => {
                out.push(b'{');
                out.extend_from_slice(rest);
            }
            None => out.extend_from_slice(&self.whole),
        }
    }

    /// The same object at another version.
    pub(crate) fn at_version(&self, version: u64) -> Self {
        let digits = version.to_string();
        let mut out = Vec::with_capacity(self.whole.len() + digits.len());
        out.extend_from_slice(self.whole.get(..self.version.start).unwrap_or_default());
        out.extend_from_slice(digits.as_bytes());
        out.extend_from_slice(self.whole.get(self.version.end..).unwrap_or_default());
        let shift = |at: usize| at - self.version.len() + digits.len();
        Self {
            whole: out.into(),
            metadata: self.metadata.start..shift(self.metadata.end),
            version: self.version.start..self.version.start + digits.len(),
            item: self.item,
        }
    }

    /// The bytes of `metadata`.
    pub(crate) fn metadata(&self) -> &[u8] {
        self.whole.get(self.metadata.clone()).unwrap_or_default()
    }
}

/// The positions found while writing.
#[derive(Default)]
struct Places {
    metadata: Range<usize>,
    version: Range<usize>,
}

impl Places {
    fn value(&mut self, out: &mut Vec<u8>, kind: &ApiKind, key: &str, value: &Value) {
        let (true, Value::Object(metadata)) = (key == "metadata", value) else {
            return json(out, value);
        };
        let start = out.len();
        out.push(b'{');
        if kind.is_custom() {
            for (n, (key, value)) in metadata.iter().enumerate() {
                self.metadata_field(out, key, value, n == 0);
            }
        } else {
            let known = METADATA_ORDER
                .iter()
                .filter_map(|key| metadata.get_key_value(*key));
            for (n, (key, value)) in known.enumerate() {
                self.metadata_field(out, key, value, n == 0);
            }
        }
        out.push(b'}');
        self.metadata = start..out.len();
    }

    fn metadata_field(&mut self, out: &mut Vec<u8>, key: &str, value: &Value, first: bool) {
        field(out, key, first);
        let start = out.len();
        json(out, value);
        if key == "resourceVersion" {
            // Between the quotes.
            self.version = start + 1..out.len() - 1;
        }
    }
}

/// Writes a field name.
fn field(out: &mut Vec<u8>, key: &str, first: bool) {
    if !first {
        out.push(b',');
    }
    json(out, key);
    out.push(b':');
}

/// Writes any value as Go does.
pub(crate) fn json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let mut serializer = serde_json::Serializer::with_formatter(out, GoStrings);
    // Writing to a Vec cannot fail, nor can serializing a Value or a text.
    let _ = value.serialize(&mut serializer);
}

/// The compact format, with Go's additional escapes.
struct GoStrings;

impl Formatter for GoStrings {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, special) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut chars = special.chars();
            if let Some(c) = chars.next() {
                write!(writer, "\\u{:04x}", u32::from(c))?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::Registry;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else {
            panic!("an object")
        };
        map
    }

    fn encoded(plural: &str, value: Value) -> (String, Encoded) {
        let mut registry = Registry::with_builtins();
        registry.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
        let (_, kind) = registry.find(plural).unwrap();
        let encoded = Encoded::new(kind, &object(value));
        (String::from_utf8(encoded.whole.to_vec()).unwrap(), encoded)
    }

    #[test]
    fn a_builtin_has_the_order_of_its_go_type() {
        let (text, encoded) = encoded(
            "pods",
            json!({"apiVersion": "v1", "kind": "Pod", "status": {}, "spec": {"z": 1, "a": "<&>"},
                "metadata": {"annotations": {"a": "b"}, "name": "web", "resourceVersion": "7"}}),
        );
        assert_eq!(
            text,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","resourceVersion":"7","annotations":{"a":"b"}},"spec":{"a":"\u003c\u0026\u003e","z":1},"status":{}}"#
        );
        let mut item = Vec::new();
        encoded.write_item(&mut item);
        assert!(item.starts_with(br#"{"metadata":{"name":"web""#));
        assert_eq!(
            encoded.metadata(),
            br#"{"name":"web","resourceVersion":"7","annotations":{"a":"b"}}"#
        );
    }

    #[test]
    fn a_custom_resource_is_in_alphabetical_order_and_keeps_its_kind_in_lists() {
        let (text, encoded) = encoded(
            "widgets",
            json!({"kind": "Widget", "apiVersion": "example.com/v1",
                "metadata": {"name": "web", "annotations": {"a": "b"}, "resourceVersion": "7"}}),
        );
        assert_eq!(
            text,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"annotations":{"a":"b"},"name":"web","resourceVersion":"7"}}"#
        );
        let mut item = Vec::new();
        encoded.write_item(&mut item);
        assert_eq!(item, text.as_bytes());
    }

    #[test]
    fn another_version_is_spliced_in() {
        let (text, encoded) = encoded(
            "pods",
            json!({"metadata": {"name": "web", "resourceVersion": "99", "labels": {"a": "b"}}, "spec": {}}),
        );
        let newer = encoded.at_version(100);
        assert_eq!(
            String::from_utf8(newer.whole.to_vec()).unwrap(),
            text.replace("\"99\"", "\"100\"")
        );
        assert_eq!(
            newer.metadata(),
            br#"{"name":"web","resourceVersion":"100","labels":{"a":"b"}}"#
        );
        assert_eq!(newer.at_version(99).whole, encoded.whole);
    }
}
