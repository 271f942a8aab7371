//! JSON patches (RFC 6902), with the liberties of the library that the real server uses: negative
//! indices count from the end, and a replaced field need not exist.

use serde_json::{Map, Value};

use crate::status::ApiError;
use crate::store::metadata::json_type;

/// How many operations a patch may have.
const MOST: usize = 10_000;

/// Parses `body` and applies its operations to `target`.
pub(crate) fn apply(target: &mut Map<String, Value>, body: &[u8]) -> Result<(), ApiError> {
    let operations = parsed(body)?;
    let mut document = Value::Object(std::mem::take(target));
    for operation in operations {
        operation
            .apply(&mut document)
            .ok_or_else(ApiError::unusable_patch)?;
    }
    match document {
        Value::Object(fields) => {
            *target = fields;
            Ok(())
        }
        _ => Err(ApiError::unusable_patch()),
    }
}

fn parsed(body: &[u8]) -> Result<Vec<Operation>, ApiError> {
    let wrong =
        |why: &dyn std::fmt::Display| ApiError::bad_request(format!("error decoding patch: {why}"));
    let list = match serde_json::from_slice(body).map_err(|error| wrong(&error))? {
        Value::Array(list) => list,
        // Go reads null as an empty list.
        Value::Null => Vec::new(),
        other => {
            return Err(wrong(&unreadable(
                &other,
                "value",
                "[]handlers.jsonPatchOp",
            )));
        }
    };
    if list.len() > MOST {
        return Err(ApiError::too_many_operations(MOST, list.len()));
    }
    list.into_iter()
        .map(|operation| Operation::parse(operation).map_err(|why| wrong(&why)))
        .collect()
}

/// The error of Go's JSON reader.
fn unreadable(value: &Value, place: &str, expected: &str) -> String {
    let given = json_type(value);
    format!("json: cannot unmarshal {given} into Go {place} of type {expected}")
}

/// One operation. What it lacks is noticed when it is applied, as on a real server.
struct Operation {
    op: String,
    path: Option<String>,
    from: Option<String>,
    value: Option<Value>,
}

impl Operation {
    fn parse(operation: Value) -> Result<Self, String> {
        let mut fields = match operation {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            other => return Err(unreadable(&other, "value", "handlers.jsonPatchOp")),
        };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Null) | None => Ok(None),
            Some(other) => {
                let field = format!("struct field jsonPatchOp.{name}");
                Err(unreadable(&other, &field, "string"))
            }
        };
        Ok(Self {
            op: text("op")?.unwrap_or_default(),
            path: text("path")?,
            from: text("from")?,
            value: fields.remove("value"),
        })
    }

    /// Changes `document`; `None` if that cannot be done.
    fn apply(self, document: &mut Value) -> Option<()> {
        let Self {
            op,
            path,
            from,
            value,
        } = self;
        match op.as_str() {
            "add" => add(document, &path?, value.unwrap_or_default()),
            "remove" => remove(document, &path?).map(drop),
            "replace" => replace(document, &path?, value?),
            "move" => {
                let value = remove(document, &from?)?;
                add(document, &path?, value)
            }
            "copy" => {
                let value = get(document, &from?)?.cloned().unwrap_or_default();
                add(document, &path?, value)
            }
            "test" => {
                let found = match path?.as_str() {
                    "" => Some(&*document),
                    path => get(document, path)?,
                };
                // An absent field equals null.
                let null = Value::Null;
                let is_equal = found.unwrap_or(&null) == value.as_ref().unwrap_or(&null);
                (is_equal && (value.is_some() || found.is_none())).then_some(())
            }
            _ => None,
        }
    }
}

/// The value that holds the last part of `path`, and that part.
fn place<'a>(document: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parts, last) = split(path)?;
    let mut at = document;
    for part in parts {
        at = match at {
            Value::Object(fields) => fields.get_mut(&part)?,
            Value::Array(items) => {
                let index = index(&part, items.len())?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    matches!(at, Value::Object(_) | Value::Array(_)).then_some((at, last))
}

/// The parts of a pointer before the last one, and the last one.
fn split(path: &str) -> Option<(Vec<String>, String)> {
    // Whatever comes before the first slash is ignored.
    let (_, path) = path.split_once('/')?;
    let mut parts: Vec<String> = path
        .split('/')
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect();
    let last = parts.pop()?;
    Some((parts, last))
}

/// The index of an existing item.
fn index(part: &str, length: usize) -> Option<usize> {
    let index: isize = part.parse().ok()?;
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => length.checked_sub(index.unsigned_abs())?,
    };
    (index < length).then_some(index)
}

/// The value at `path`: `None` if the path leads nowhere, `Some(None)` if only its last field is
/// absent.
fn get<'a>(document: &'a mut Value, path: &str) -> Option<Option<&'a Value>> {
    match place(document, path)? {
        (Value::Object(fields), last) => Some(fields.get(&last)),
        (Value::Array(items), last) => items.get(index(&last, items.len())?).map(Some),
        _ => None,
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    match place(document, path)? {
        (Value::Object(fields), last) => {
            fields.insert(last, value);
        }
        (Value::Array(items), last) if last == "-" => items.push(value),
        (Value::Array(items), last) => {
            let index = index(&last, items.len() + 1)?;
            items.insert(index, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    match place(document, path)? {
        (Value::Object(fields), last) => fields.remove(&last),
        (Value::Array(items), last) => Some(items.remove(index(&last, items.len())?)),
        _ => None,
    }
}

fn replace(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        *document = value;
        return Some(());
    }
    match place(document, path)? {
        (Value::Object(fields), last) => {
            fields.insert(last, value);
        }
        (Value::Array(items), last) => {
            let index = index(&last, items.len())?;
            *items.get_mut(index)? = value;
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(target: Value, patch: &Value) -> Result<Value, u16> {
        let Value::Object(mut target) = target else {
            panic!("an object")
        };
        apply(&mut target, patch.to_string().as_bytes()).map_err(|refused| refused.code())?;
        Ok(Value::Object(target))
    }

    #[test]
    fn every_operation() {
        let target = || json!({"a": {"b": 1, "x/y": 2, "m~n": 3}, "l": [1, 2, 3]});
        for (patch, expected) in [
            (
                json!([{"op": "add", "path": "/a/c", "value": 5}]),
                json!({"a": {"b": 1, "x/y": 2, "m~n": 3, "c": 5}, "l": [1, 2, 3]}),
            ),
            (
                json!([{"op": "add", "path": "/l/1", "value": 9}, {"op": "add", "path": "/l/-", "value": 8}]),
                json!({"a": {"b": 1, "x/y": 2, "m~n": 3}, "l": [1, 9, 2, 3, 8]}),
            ),
            (
                json!([{"op": "remove", "path": "/a/x~1y"}, {"op": "remove", "path": "/a/m~0n"}, {"op": "remove", "path": "/l/0"}]),
                json!({"a": {"b": 1}, "l": [2, 3]}),
            ),
            (
                json!([{"op": "replace", "path": "/l/-1", "value": 7}, {"op": "replace", "path": "/new", "value": 1}]),
                json!({"a": {"b": 1, "x/y": 2, "m~n": 3}, "l": [1, 2, 7], "new": 1}),
            ),
            (
                json!([{"op": "move", "from": "/a", "path": "/z"}, {"op": "copy", "from": "/l", "path": "/k"}]),
                json!({"z": {"b": 1, "x/y": 2, "m~n": 3}, "l": [1, 2, 3], "k": [1, 2, 3]}),
            ),
            (
                json!([{"op": "test", "path": "/a/b", "value": 1}, {"op": "test", "path": "/none", "value": null},
                    {"op": "test", "path": "/none"}]),
                target(),
            ),
            (
                json!([{"op": "replace", "path": "", "value": {"n": 1}}]),
                json!({"n": 1}),
            ),
            (json!(null), target()),
        ] {
            assert_eq!(patched(target(), &patch), Ok(expected), "{patch}");
        }
    }

    #[test]
    fn what_does_not_apply_is_invalid() {
        for patch in [
            json!([{"op": "test", "path": "/a/b", "value": 2}]),
            json!([{"op": "test", "path": "/a/b"}]),
            json!([{"op": "test", "path": "/nowhere/b", "value": null}]),
            json!([{"op": "remove", "path": "/a/none"}]),
            json!([{"op": "remove", "path": "/l/3"}]),
            json!([{"op": "remove", "path": "/l/-4"}]),
            json!([{"op": "add", "path": "/none/c", "value": 1}]),
            json!([{"op": "add", "path": "/a/b/c", "value": 1}]),
            json!([{"op": "add", "path": "/l/5", "value": 1}]),
            json!([{"op": "add", "path": "a", "value": 1}]),
            json!([{"op": "add", "value": 1}]),
            json!([{"op": "replace", "path": "/l/3", "value": 1}]),
            json!([{"op": "replace", "path": "", "value": 5}]),
            json!([{"op": "move", "path": "/a"}]),
            json!([{"op": "copy", "from": "/none/c", "path": "/a"}]),
            json!([{"op": "grow", "path": "/a"}]),
            json!([{"path": "/a"}]),
        ] {
            let target = json!({"a": {"b": 1}, "l": [1, 2, 3]});
            assert_eq!(patched(target, &patch), Err(422), "{patch}");
        }
    }

    #[test]
    fn what_is_no_patch_is_a_bad_request() {
        for patch in [json!({}), json!([1]), json!("x"), json!([{"op": 5}])] {
            assert_eq!(patched(json!({}), &patch), Err(400), "{patch}");
        }
        let many: Vec<Value> = vec![json!({"op": "test", "path": ""}); MOST + 1];
        assert_eq!(patched(json!({}), &many.into()), Err(413));
    }
}
