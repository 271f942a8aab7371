//! The objects in the body of a list, in either encoding.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protobuf::{self, wire};
use crate::store::object::key;

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// The number of the items in the protobuf of every list.
const ITEMS: u32 = 2;

/// The objects of a list; none if it is not a list. In protobuf, they have no envelopes.
pub(crate) fn items(body: &[u8]) -> Vec<&[u8]> {
    if let Some(list) = protobuf::message_in(body) {
        let items = wire::fields(list).filter(|field| field.number == ITEMS);
        return items.map(|field| field.bytes).collect();
    }
    let list: Result<List<'_>, _> = serde_json::from_slice(body);
    let items = list.map(|list| list.items).unwrap_or_default();
    items
        .into_iter()
        .map(|item| item.get().as_bytes())
        .collect()
}

/// Replaces the objects of a list, with or without envelopes.
pub(crate) fn with_items<T: AsRef<[u8]>>(body: &[u8], items: &[T]) -> Vec<u8> {
    if let Some(list) = protobuf::message_in(body) {
        let head = wire::fields(list).filter(|field| field.number != ITEMS);
        let mut list: Vec<u8> = head.flat_map(|field| field.whole).copied().collect();
        for item in items.iter().map(AsRef::as_ref) {
            let item = protobuf::message_in(item).unwrap_or(item);
            wire::bytes(&mut list, ITEMS, item);
        }
        return protobuf::with_message(body, &list);
    }
    let own = self::items(body);
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return body.to_vec();
    };
    let at = |text: &[u8]| text.as_ptr() as usize - body.as_ptr() as usize;
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

/// `namespace/name` of an object, with or without an envelope.
pub(crate) fn key_of(object: &[u8]) -> Option<String> {
    if !is_json(object) {
        let metadata = wire::field(protobuf::message_in(object).unwrap_or(object), 1)?;
        let text = |number| str::from_utf8(wire::field(metadata, number)?).ok();
        let namespace = text(3).filter(|namespace| !namespace.is_empty());
        return Some(key(namespace, text(1)?));
    }
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
    Some(key(metadata.namespace.as_deref(), &metadata.name))
}

/// Makes an object unreadable but keeps its borders, so that a reader finds its end. Without `nameless`, the
/// name can still be read.
pub(crate) fn corrupted(object: &[u8], nameless: bool) -> Vec<u8> {
    if let Some(message) = protobuf::message_in(object) {
        return protobuf::with_message(object, &corrupted(message, nameless));
    }
    let mut out = object.to_vec();
    if !is_json(object) {
        // No field has the number 0.
        match out.first_mut().filter(|_| nameless) {
            Some(metadata) => *metadata = 2,
            None => out.push(2),
        }
        return out;
    }
    let name = br#""name":"#;
    let at = out.windows(name.len()).position(|window| window == name);
    match at {
        Some(at) if nameless => {
            out.splice(at..at + name.len(), br#""nama":"#.iter().copied());
        }
        _ => out.insert(out.len().saturating_sub(1), b'!'),
    }
    out
}

/// Whether an object is JSON. No message of protobuf begins like that.
fn is_json(object: &[u8]) -> bool {
    object.first() == Some(&b'{')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Page;

    #[test]
    fn items_are_found_and_replaced() {
        let body = br#"{"kind":"PodList","items":[{"a":1}, {"b":[2]}],"metadata":{}}"#;
        assert_eq!(items(body), [br#"{"a":1}"#.as_slice(), br#"{"b":[2]}"#]);
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

    /// A pod with this name, without its envelope.
    fn pod(name: &str) -> Vec<u8> {
        let pod = serde_json::json!({"metadata": {"name": name, "namespace": "b"}});
        protobuf::metadata(pod.as_object().unwrap()).unwrap()
    }

    #[test]
    fn protobuf_has_items_and_keys_too() {
        let page = Page {
            version: 7,
            continue_token: String::new(),
            remaining: None,
        };
        let list =
            |items: &[Vec<u8>]| protobuf::enveloped("v1", "PodList", &protobuf::list(&page, items));
        let body = list(&[pod("a"), pod("c")]);
        assert_eq!(items(&body), [pod("a"), pod("c")]);
        let enveloped = protobuf::enveloped("v1", "Pod", &pod("d"));
        assert_eq!(key_of(&enveloped).as_deref(), Some("b/d"));
        assert_eq!(key_of(&pod("d")).as_deref(), Some("b/d"));
        assert_eq!(
            with_items(&body, &[pod("c"), enveloped]),
            list(&[pod("c"), pod("d")])
        );
    }

    #[test]
    fn corruption_keeps_the_borders() {
        let object = br#"{"metadata":{"name":"a"},"status":{}}"#;
        assert_eq!(
            corrupted(object, false),
            br#"{"metadata":{"name":"a"},"status":{}!}"#
        );
        assert_eq!(
            corrupted(object, true),
            br#"{"metadata":{"nama":"a"},"status":{}}"#
        );
        let enveloped = protobuf::enveloped("v1", "Pod", &pod("a"));
        let with_key = corrupted(&enveloped, false);
        assert_eq!(with_key.len(), enveloped.len() + 1);
        assert_eq!(key_of(&with_key).as_deref(), Some("b/a"));
        let nameless = corrupted(&enveloped, true);
        assert_eq!(nameless.len(), enveloped.len());
        assert_eq!(key_of(&nameless), None);
    }
}
