//! Values that only the server knows: versions, uids, tokens, the namespace. Requests use names for
//! them, and in answers they are replaced by these names.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// The values known so far, by name.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    namespace: String,
    /// Versions of objects and lists.
    versions: BTreeMap<String, u64>,
    /// Uids, generated names and continue tokens.
    texts: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            versions: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    /// Keeps version, uid and name of an object.
    pub(crate) fn keep_object(&mut self, name: &str, object: &Value) {
        self.keep_version(name, object);
        for field in ["uid", "name"] {
            self.keep_text(name, field, object);
        }
    }

    /// Keeps version and token of a list.
    pub(crate) fn keep_page(&mut self, name: &str, list: &Value) {
        self.keep_version(name, list);
        self.keep_text(name, "continue", list);
    }

    fn keep_version(&mut self, name: &str, value: &Value) {
        let text = value.pointer("/metadata/resourceVersion");
        if let Some(version) = text.and_then(Value::as_str).and_then(|v| v.parse().ok()) {
            self.versions.insert(name.to_owned(), version);
        }
    }

    fn keep_text(&mut self, name: &str, field: &str, value: &Value) {
        let text = value.pointer(&format!("/metadata/{field}"));
        if let Some(text) = text.and_then(Value::as_str) {
            self.texts
                .insert(format!("{name}.{field}"), text.to_owned());
        }
    }

    /// Replaces names by their values.
    pub(crate) fn filled(&self, text: &str) -> String {
        let mut filled = text.replace("{ns}", &self.namespace);
        for (name, version) in &self.versions {
            filled = filled.replace(&format!("{{{name}}}"), &version.to_string());
        }
        for (name, text) in &self.texts {
            filled = filled.replace(&format!("{{{name}}}"), text);
        }
        filled
    }

    /// The name of a version. A server makes writes of its own, so everything from the newest known
    /// version on counts as the present.
    pub(crate) fn version(&self, text: &str) -> String {
        let Ok(version) = text.parse::<u64>() else {
            return text.to_owned();
        };
        if self.versions.values().all(|known| version >= *known) {
            return "<now>".to_owned();
        }
        self.name_of(version).unwrap_or_else(|| "<past>".to_owned())
    }

    fn name_of(&self, version: u64) -> Option<String> {
        let mut versions = self.versions.iter();
        let (name, _) = versions.find(|(_, known)| **known == version)?;
        Some(format!("{{{name}}}"))
    }

    /// A token, with its version as a name.
    pub(crate) fn token(&self, text: &str) -> Value {
        let bytes = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        let Ok(mut token) = serde_json::from_slice::<Value>(&bytes) else {
            return Value::from(text);
        };
        if let Some(Value::String(start)) = token.get_mut("start") {
            *start = self.masked(start);
        }
        if let Some(version) = token.get_mut("rv")
            && version.as_i64() != Some(-1)
        {
            *version = self.version(&version.to_string()).into();
        }
        token
    }

    /// Replaces known values, and those that may differ each time, by names.
    pub(crate) fn masked(&self, text: &str) -> String {
        let mut masked = text.replace(&self.namespace, "{ns}");
        for (name, known) in &self.texts {
            // A name that the request chose is the same everywhere.
            if known.len() > 8 {
                masked = masked.replace(known, &format!("{{{name}}}"));
            }
        }
        let masked = without(&masked, b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "<uid>");
        let masked = without(&masked, b"xxxx-xx-xxTxx:xx:xxZ", "<time>");
        self.without_versions(&masked)
    }

    /// Replaces numbers that are versions: known ones, and those in places where only a version can
    /// be.
    fn without_versions(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let (before, tail) = rest.split_at(start);
            let end = tail
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(tail.len());
            let (number, after) = tail.split_at(end);
            out += before;
            // Only a version can be here, but an unknown one.
            let is_place = before.ends_with("current: ") || is_in_parentheses(before, after);
            match number
                .parse()
                .ok()
                .and_then(|version| self.name_of(version))
            {
                _ if is_place => out += "<version>",
                Some(name) => out += &name,
                None => out += number,
            }
            rest = after;
        }
        out + rest
    }
}

fn is_in_parentheses(before: &str, after: &str) -> bool {
    before.ends_with('(') && after.starts_with(')')
}

/// Replaces texts of a shape, in which `x` stands for a hexadecimal digit and everything else for
/// itself.
fn without(text: &str, shape: &[u8], name: &str) -> String {
    let is_it = |bytes: &[u8]| {
        bytes.iter().zip(shape).all(|(byte, shape)| match shape {
            b'x' => byte.is_ascii_hexdigit(),
            other => byte == other,
        })
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let candidate = rest.get(..shape.len());
        if candidate.is_some_and(|text| is_it(text.as_bytes())) {
            out += name;
            rest = rest.get(shape.len()..).unwrap_or_default();
        } else {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names() -> Names {
        let mut names = Names::new("probes-7");
        let uid = "0f0f0f0f-1111-2222-3333-444444444444";
        names.keep_object(
            "a",
            &json!({"metadata": {"name": "a", "resourceVersion": "205", "uid": uid}}),
        );
        names.keep_object(
            "b",
            &json!({"metadata": {"name": "b", "resourceVersion": "210"}}),
        );
        names
    }

    #[test]
    fn questions_are_filled() {
        let target = "/namespaces/{ns}/x?resourceVersion={a}&uid={a.uid}";
        assert_eq!(
            names().filled(target),
            "/namespaces/probes-7/x?resourceVersion=205&uid=0f0f0f0f-1111-2222-3333-444444444444"
        );
    }

    #[test]
    fn versions_have_names_until_they_are_the_newest() {
        let names = names();
        for (text, name) in [
            ("205", "{a}"),
            ("206", "<past>"),
            ("210", "<now>"),
            ("999", "<now>"),
            ("x", "x"),
        ] {
            assert_eq!(names.version(text), name);
        }
    }

    #[test]
    fn texts_are_the_same_in_every_run() {
        let names = names();
        for (text, masked) in [
            ("in probes-7, at 205", "in {ns}, at {a}"),
            ("uid 0f0f0f0f-1111-2222-3333-444444444444", "uid {a.uid}"),
            ("uid ffffffff-1111-2222-3333-444444444444!", "uid <uid>!"),
            (
                "large: 9999, current: 211",
                "large: 9999, current: <version>",
            ),
            ("made 2026-11-16T08:56:23Z", "made <time>"),
            ("too old: 1 (213)", "too old: 1 (<version>)"),
            ("no more than 63 characters", "no more than 63 characters"),
        ] {
            assert_eq!(names.masked(text), masked);
        }
    }
}
