//! Finds the first difference between a recorded and an actual answer.

use serde_json::{Map, Value};

/// How much of a value is shown.
const SHOWN: usize = 160;

/// Describes the first difference, if there is one. A member that only one side has is a difference
/// too.
///
/// The vectors allow one freedom: neighbours in a list with the same number in `g` may come in any
/// order among themselves.
pub(crate) fn first_difference(expected: &Value, got: &Value) -> Option<String> {
    difference("res", Some(expected), Some(got))
}

fn difference(path: &str, expected: Option<&Value>, got: Option<&Value>) -> Option<String> {
    match (expected, got) {
        (Some(Value::Object(expected)), Some(Value::Object(got))) => {
            object_difference(path, expected, got)
        }
        (Some(Value::Array(expected)), Some(Value::Array(got))) => {
            array_difference(path, expected, got)
        }
        _ if expected == got => None,
        _ => Some(format!(
            "{path}: expected {}, got {}",
            show(expected),
            show(got)
        )),
    }
}

fn object_difference(
    path: &str,
    expected: &Map<String, Value>,
    got: &Map<String, Value>,
) -> Option<String> {
    let only_got = got.keys().filter(|name| !expected.contains_key(*name));
    expected
        .keys()
        .chain(only_got)
        .find_map(|name| difference(&format!("{path}.{name}"), expected.get(name), got.get(name)))
}

fn array_difference(path: &str, expected: &[Value], got: &[Value]) -> Option<String> {
    let mut at = 0;
    for group in expected.chunk_by(|a, b| group_of(a).is_some() && group_of(a) == group_of(b)) {
        let end = at + group.len();
        let found = if group.iter().any(|element| group_of(element).is_some()) {
            let got = got.get(at..end).or_else(|| got.get(at..));
            group_difference(path, at, group, got.unwrap_or_default())
        } else {
            difference(&format!("{path}[{at}]"), group.first(), got.get(at))
        };
        if found.is_some() {
            return found;
        }
        at = end;
    }
    difference(&format!("{path}[{at}]"), None, got.get(at))
}

fn group_of(element: &Value) -> Option<&Value> {
    element.get("g")
}

/// Compares one group with as many elements of the answer, in any order.
fn group_difference(path: &str, at: usize, group: &[Value], got: &[Value]) -> Option<String> {
    let mut left: Vec<&Value> = got.iter().collect();
    for expected in group {
        let expected = without_group(expected);
        match left.iter().position(|got| **got == expected) {
            Some(found) => {
                left.swap_remove(found);
            }
            None => {
                return Some(format!(
                    "{path}[{at}..{}]: expected, in any order, {}, got {}",
                    at + group.len(),
                    show(Some(&group.iter().map(without_group).collect())),
                    show(Some(&got.iter().cloned().collect()))
                ));
            }
        }
    }
    None
}

fn without_group(element: &Value) -> Value {
    let mut element = element.clone();
    if let Some(members) = element.as_object_mut() {
        members.remove("g");
    }
    element
}

fn show(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn same(expected: Value, got: Value) -> bool {
        first_difference(&expected, &got).is_none()
    }

    #[test]
    fn every_member_counts_on_both_sides() {
        assert!(same(
            json!({"a": 1, "b": [null]}),
            json!({"b": [null], "a": 1})
        ));
        assert!(!same(json!({"a": 1}), json!({"a": 2})));
        assert!(!same(json!({"a": null}), json!({})));
        assert!(!same(json!({}), json!({"a": null})));
        assert!(!same(json!([1, 2]), json!([2, 1])));
        assert!(!same(json!([1, 2]), json!([1])));
        assert!(!same(json!([1]), json!([1, 2])));
        assert!(!same(json!([]), json!({})));
    }

    #[test]
    fn only_a_group_may_come_in_any_order() {
        let expected =
            json!([{"x": 0}, {"x": 1, "g": 1}, {"x": 2, "g": 1}, {"x": 3, "g": 2}, {"x": 4}]);
        let got = |order: [i32; 5]| order.map(|x| json!({"x": x})).to_vec().into();
        assert!(same(expected.clone(), got([0, 1, 2, 3, 4])));
        assert!(same(expected.clone(), got([0, 2, 1, 3, 4])));
        assert!(!same(expected.clone(), got([1, 0, 2, 3, 4])));
        assert!(!same(expected.clone(), got([0, 1, 3, 2, 4])));
        assert!(!same(expected.clone(), got([0, 1, 1, 3, 4])));
        assert!(!same(expected.clone(), json!([{"x": 0}, {"x": 1}])));
        assert!(!same(expected, json!([{"x": 0}])));
    }

    #[test]
    fn the_first_difference_is_named_and_kept_short() {
        let difference = first_difference(
            &json!({"a": [1, {"b": "x"}]}),
            &json!({"a": [1, {"b": "y"}]}),
        );
        let expected = r#"res.a[1].b: expected "x", got "y""#;
        assert_eq!(difference.as_deref(), Some(expected));
        let long = first_difference(&json!("é".repeat(500)), &json!(null));
        assert!(long.is_some_and(|text| text.chars().count() < 250));
    }
}
