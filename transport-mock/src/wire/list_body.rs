//! The objects in the text of a list.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// The texts of a list's objects; none if it is not a list.
pub(crate) fn items(body: &[u8]) -> Vec<&str> {
    let list: Result<List<'_>, _> = serde_json::from_slice(body);
    let items = list.map(|list| list.items).unwrap_or_default();
    items.into_iter().map(RawValue::get).collect()
}

/// Replaces the objects of a list.
pub(crate) fn with_items<T: AsRef<[u8]>>(body: &[u8], items: &[T]) -> Vec<u8> {
    let own = self::items(body);
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return body.to_vec();
    };
    let at = |text: &str| text.as_ptr() as usize - body.as_ptr() as usize;
    let (start, end) = (at(first), at(last) + last.len());
    let mut out = body.get(..start).unwrap_or_default().to_vec();
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.extend_from_slice(body.get(end..).unwrap_or_default());
    out
}

/// `namespace/name` of an object.
pub(crate) fn key_of(object: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Text {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        name: String,
        #[serde(default)]
        namespace: Option<String>,
    }
    let Text { metadata } = serde_json::from_slice(object).ok()?;
    Some(crate::store::object::key(
        metadata.namespace.as_deref(),
        &metadata.name,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_and_replaced() {
        let body = br#"{"kind":"PodList","items":[{"a":1}, {"b":[2]}],"metadata":{}}"#;
        assert_eq!(items(body), [r#"{"a":1}"#, r#"{"b":[2]}"#]);
        let swapped = with_items(body, &[r#"{"b":[2]}"#, r#"{"a":1}"#]);
        assert_eq!(
            swapped,
            br#"{"kind":"PodList","items":[{"b":[2]},{"a":1}],"metadata":{}}"#
        );
        assert!(items(b"{}").is_empty());
        assert_eq!(with_items(b"{}", &["x"]), b"{}");
    }

    #[test]
    fn keys() {
        let object = br#"{"metadata":{"name":"a","namespace":"b"}}"#;
        assert_eq!(key_of(object).as_deref(), Some("b/a"));
        assert_eq!(
            key_of(br#"{"metadata":{"name":"a"}}"#).as_deref(),
            Some("a")
        );
        assert_eq!(key_of(b"{}"), None);
    }
}
