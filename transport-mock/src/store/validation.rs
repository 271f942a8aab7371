//! Validation of names, labels and finalizers.

use serde_json::{Map, Value};

use crate::api::ApiKind;
use crate::status::ApiError;
use crate::status::StatusCause;
use crate::store::metadata::{finalizers, metadata, text};
use crate::store::typed;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Validates the metadata of a new object.
pub(crate) fn for_create(kind: &ApiKind, object: &Map<String, Value>) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    let name = text(object, "name").unwrap_or_default();
    if name.is_empty() {
        causes.push(StatusCause::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        if kind.resource() == "namespaces" {
            push(&mut causes, "metadata.name", name, dns_label(name));
        } else {
            push(&mut causes, "metadata.name", name, dns_subdomain(name));
        }
    }
    if let Some(namespace) = text(object, "namespace") {
        push(
            &mut causes,
            "metadata.namespace",
            namespace,
            dns_label(namespace),
        );
    }
    labels(&mut causes, object);
    annotations(&mut causes, object);
    for finalizer in finalizers(object) {
        push(
            &mut causes,
            "metadata.finalizers",
            finalizer,
            qualified_name(finalizer),
        );
    }
    known_finalizers(&mut causes, kind, object);
    typed::validate(&mut causes, kind, object, None);
    refuse(kind, name, causes)
}

/// Validates the metadata of an object that replaces `before`.
pub(crate) fn for_update(
    kind: &ApiKind,
    object: &Map<String, Value>,
    before: &Map<String, Value>,
) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    if text(before, "deletionTimestamp").is_some() {
        let mut added: Vec<&str> = finalizers(object)
            .filter(|finalizer| finalizers(before).all(|known| known != *finalizer))
            .collect();
        added.sort_unstable();
        if !added.is_empty() {
            let added: Vec<String> = added.iter().map(|text| format!("{text:?}")).collect();
            causes.push(StatusCause::forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    added.join(", ")
                ),
            ));
        }
    }
    labels(&mut causes, object);
    annotations(&mut causes, object);
    known_finalizers(&mut causes, kind, object);
    typed::validate(&mut causes, kind, object, Some(before));
    refuse(kind, text(object, "name").unwrap_or_default(), causes)
}

/// Refuses to change a metadata field that only the server sets. An absent field keeps its value.
pub(crate) fn immutable(
    kind: &ApiKind,
    field: &str,
    object: &Map<String, Value>,
    before: &Map<String, Value>,
) -> Result<(), ApiError> {
    match text(object, field) {
        Some(value) if text(before, field) != Some(value) => {
            let field = format!("metadata.{field}");
            let cause = StatusCause::invalid(&field, value, "field is immutable");
            let name = text(before, "name").unwrap_or_default();
            Err(ApiError::invalid(kind, name, vec![cause]))
        }
        _ => Ok(()),
    }
}

fn refuse(kind: &ApiKind, name: &str, causes: Vec<StatusCause>) -> Result<(), ApiError> {
    if causes.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid(kind, name, causes))
    }
}

/// Adds the problems with a field's value.
pub(super) fn push(
    causes: &mut Vec<StatusCause>,
    field: &str,
    value: &str,
    wrong: impl IntoIterator<Item = String>,
) {
    let wrong = wrong.into_iter();
    causes.extend(wrong.map(|why| StatusCause::invalid(field, value, &why)));
}

fn labels(causes: &mut Vec<StatusCause>, object: &Map<String, Value>) {
    let labels = metadata(object).and_then(|metadata| metadata.get("labels")?.as_object());
    for (key, value) in labels.into_iter().flatten() {
        push(causes, "metadata.labels", key, qualified_name(key));
        let value = value.as_str().unwrap_or_default();
        push(causes, "metadata.labels", value, label_value(value));
    }
}

fn annotations(causes: &mut Vec<StatusCause>, object: &Map<String, Value>) {
    let annotations =
        metadata(object).and_then(|metadata| metadata.get("annotations")?.as_object());
    for key in annotations.into_iter().flat_map(Map::keys) {
        let wrong = qualified_name(&key.to_lowercase());
        push(causes, "metadata.annotations", key, wrong);
    }
}

/// Built-in kinds accept only the standard finalizers without a prefix.
fn known_finalizers(causes: &mut Vec<StatusCause>, kind: &ApiKind, object: &Map<String, Value>) {
    if kind.is_custom() {
        return;
    }
    for (n, finalizer) in finalizers(object).enumerate() {
        let is_known = matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion");
        if !is_known && !finalizer.contains('/') {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let field = format!("metadata.finalizers[{n}]");
            causes.push(StatusCause::invalid(&field, finalizer, why));
        }
    }
}

fn dns_subdomain(text: &str) -> impl Iterator<Item = String> {
    let is_right = text.split('.').all(is_dns_label);
    too_long(text, 253).chain((!is_right).then(|| SUBDOMAIN.to_owned()))
}

fn dns_label(text: &str) -> impl Iterator<Item = String> {
    too_long(text, 63).chain((!is_dns_label(text)).then(|| LABEL.to_owned()))
}

fn too_long(text: &str, most: usize) -> std::option::IntoIter<String> {
    (text.len() > most)
        .then(|| format!("must be no more than {most} characters"))
        .into_iter()
}

fn is_dns_label(text: &str) -> bool {
    is_word(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), b"-")
}

fn label_value(text: &str) -> impl Iterator<Item = String> {
    let is_right = text.is_empty() || is_label_word(text);
    too_long(text, 63).chain((!is_right).then(|| LABEL_VALUE.to_owned()))
}

/// Validates `name` or `prefix/name`.
pub(super) fn qualified_name(text: &str) -> Vec<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if name.contains('/') {
        return vec![format!(
            "a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )];
    }
    let mut wrong: Vec<String> = match prefix {
        Some("") => vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => dns_subdomain(prefix)
            .map(|wrong| format!("prefix part {wrong}"))
            .collect(),
        None => Vec::new(),
    };
    match name.len() {
        0 => wrong.push("name part must be non-empty".to_owned()),
        64.. => wrong.push("name part must be no more than 63 characters".to_owned()),
        _ => {}
    }
    if !is_label_word(name) {
        wrong.push(format!("name part {QUALIFIED}"));
    }
    wrong
}

fn is_label_word(text: &str) -> bool {
    is_word(text, |c| c.is_ascii_alphanumeric(), b"-_.")
}

/// Whether `text` begins and ends with a letter and has only letters and `inner` in between.
fn is_word(text: &str, is_letter: impl Fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|c| is_letter(*c))
        && bytes.last().is_some_and(|c| is_letter(*c))
        && bytes.iter().all(|c| is_letter(*c) || inner.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "web-1", "a.b-c.d", "0"] {
            assert_eq!(dns_subdomain(good).next(), None, "{good}");
        }
        for bad in ["", "A", "-a", "a-", "a..b", "a_b", "a/b", "ä"] {
            assert_eq!(
                dns_subdomain(bad).next().as_deref(),
                Some(SUBDOMAIN),
                "{bad}"
            );
        }
        assert_eq!(dns_subdomain(&"a".repeat(253)).count(), 0);
        assert_eq!(dns_subdomain(&"a".repeat(254)).count(), 1);
        assert_eq!(dns_label(&"a".repeat(63)).count(), 0);
        assert_eq!(dns_label("a.b").next().as_deref(), Some(LABEL));
    }

    #[test]
    fn label_keys_and_values() {
        for good in ["app", "a/B", "example.com/a_b.C-d"] {
            assert_eq!(qualified_name(good), [""; 0], "{good}");
        }
        for (bad, mistakes) in [
            ("", 2),
            ("/a", 1),
            ("a/", 2),
            ("a/b/c", 1),
            ("A_/-b", 2),
            ("-a", 1),
        ] {
            assert_eq!(qualified_name(bad).len(), mistakes, "{bad}");
        }
        assert_eq!(label_value("").count(), 0);
        assert_eq!(label_value("Web_1.x").count(), 0);
        assert_eq!(label_value("a b").count(), 1);
        assert_eq!(label_value(&"a".repeat(64)).count(), 1);
    }
}
