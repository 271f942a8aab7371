//! The parts of an answer that are compared: everything that is the same in every run.

use hyper::header::HeaderMap;
use serde_json::{Map, Value, json};

use crate::endpoint::Reply;
use crate::names::Names;
use crate::probe::Probe;

/// The headers that a client acts on.
const HEADERS: [&str; 3] = ["content-type", "retry-after", "warning"];

/// Our name for the bookmark at the end of a streamed list.
const END_OF_STATE: &str = "BOOKMARK of the end";

/// Its annotation.
const END_MARK: &str = "/metadata/annotations/k8s.io~1initial-events-end";

/// An answer without the versions, uids and times of one run. If the body is not JSON, only the
/// head is compared.
pub(crate) fn normalised(probe: &Probe, reply: &Reply, names: &Names) -> Value {
    let reader = Reader {
        names,
        has_defaults: probe.has_defaults(),
    };
    let mut answer = headers(&reply.headers);
    answer.insert("status".to_owned(), reply.status.into());
    let content_type = answer.get("content-type").and_then(Value::as_str);
    let is_text = content_type.is_none_or(|it| it.contains("json") || it.starts_with("text/plain"));
    if !is_text {
        return Value::Object(answer);
    }
    if probe.is_watch() && reply.status == 200 {
        let lines = reply.body.split(|byte| *byte == b'\n');
        let events = lines.filter(|line| !line.is_empty());
        let mut events: Vec<Value> = events.map(|line| reader.event(line)).collect();
        without_chance(&mut events);
        answer.insert("events".to_owned(), events.into());
        let end = if reply.is_whole { "clean" } else { "broken" };
        answer.insert("end".to_owned(), end.into());
    } else {
        answer.insert("body".to_owned(), reader.body(&reply.body));
    }
    Value::Object(answer)
}

/// The number of bookmarks before the end depends on a timer, and a bookmark after the state
/// depends on other writes.
fn without_chance(events: &mut Vec<Value>) {
    let is_plain = |event: &Value| event.get("BOOKMARK").is_some();
    events.dedup_by(|later, earlier| {
        is_plain(later) && (later == earlier || earlier.get(END_OF_STATE).is_some())
    });
}

fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let mut found = Map::new();
    for name in HEADERS {
        let values = headers.get_all(name).iter();
        let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        if !values.is_empty() {
            found.insert(name.to_owned(), values.join(" | ").into());
        }
    }
    found
}

struct Reader<'a> {
    names: &'a Names,
    has_defaults: bool,
}

impl Reader<'_> {
    fn body(&self, bytes: &[u8]) -> Value {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(body) if body.get("items").is_some() => self.list(body),
            Ok(body) => self.whole(body),
            Err(_) => self.names.masked(&String::from_utf8_lossy(bytes)).into(),
        }
    }

    /// A list: its own fields in full, its items shortened.
    fn list(&self, mut list: Value) -> Value {
        let items = match list.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items.iter().map(|item| self.short(item)).collect(),
            Some(other) => other,
            None => Value::Null,
        };
        let mut list = self.whole(list);
        if let Value::Object(fields) = &mut list {
            fields.insert("items".to_owned(), items);
        }
        list
    }

    /// A line of a watch: `TYPE` and the shortened object, or everything if it is not a normal
    /// object.
    fn event(&self, line: &[u8]) -> Value {
        let Ok(mut event) = serde_json::from_slice::<Value>(line) else {
            return self.names.masked(&String::from_utf8_lossy(line)).into();
        };
        let object = event.get_mut("object").map(Value::take).unwrap_or_default();
        let kind = event.get("type").and_then(Value::as_str).unwrap_or("?");
        match kind {
            "ADDED" | "MODIFIED" | "DELETED" => {
                let object = match object.get("rows").and_then(Value::as_array) {
                    Some(rows) => {
                        let columns = object
                            .get("columnDefinitions")
                            .is_some_and(|c| !c.is_null());
                        let rows = rows
                            .iter()
                            .map(|row| self.short(row.get("object").unwrap_or(row)));
                        json!({"hasColumns": columns, "rows": rows.collect::<Vec<_>>()})
                    }
                    None => self.short(&object),
                };
                json!({ kind: object })
            }
            _ => {
                let reader = Self {
                    has_defaults: false,
                    ..*self
                };
                let is_end = object.pointer(END_MARK).is_some();
                let kind = if is_end { END_OF_STATE } else { kind };
                json!({ kind: reader.whole(object) })
            }
        }
    }

    /// An object in one line: `name@version`, its labels and the names of its fields.
    fn short(&self, object: &Value) -> Value {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let mut line = format!(
            "{}@{}",
            self.names.masked(text("/metadata/name").unwrap_or("?")),
            self.names
                .version(text("/metadata/resourceVersion").unwrap_or("?")),
        );
        if text("/metadata/deletionTimestamp").is_some() {
            line += " deleting";
        }
        if let Some(app) = text("/metadata/labels/app") {
            line += &format!(" app={app}");
        }
        for (key, value) in object.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("kind" | "apiVersion", Value::String(value)) => line += &format!(" {key}={value}"),
                _ => line += &format!(" {key}"),
            }
        }
        line.into()
    }

    /// The owners of fields, in an order that does not depend on the second of their writes. Only a
    /// real server fills in fields, so only there does somebody own them.
    fn owners(&self, mut owners: Vec<Value>) -> Value {
        if self.has_defaults {
            owners.retain(|owner| owner.get("operation") == Some(&"Apply".into()));
        }
        let order = ["operation", "subresource", "apiVersion", "manager"];
        sort_by_texts(&mut owners, order);
        self.whole(owners.into())
    }

    /// The causes of a refusal. The owners of conflicting fields come in any order.
    fn causes(&self, mut causes: Vec<Value>) -> Value {
        let is_conflict =
            |cause: &Value| cause.get("reason") == Some(&"FieldManagerConflict".into());
        if causes.iter().all(is_conflict) {
            sort_by_texts(&mut causes, ["message", "field"]);
        }
        self.whole(causes.into())
    }

    /// Everything, except for what differs from run to run.
    fn whole(&self, value: Value) -> Value {
        match value {
            Value::Object(fields) => Value::Object(self.fields(fields)),
            Value::Array(items) => items.into_iter().map(|item| self.whole(item)).collect(),
            Value::String(text) if is_age(&text) => "<age>".into(),
            Value::String(text) => self.names.masked(&text).into(),
            other => other,
        }
    }

    fn fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let is_object = fields.contains_key("metadata");
        let mut out = Map::new();
        for (key, value) in fields {
            let value = match (key.as_str(), value) {
                ("managedFields", Value::Array(entries)) => self.owners(entries),
                ("causes", Value::Array(causes)) => self.causes(causes),
                ("resourceVersion", Value::String(text)) => self.names.version(&text).into(),
                ("continue", Value::String(text)) => self.names.token(&text),
                ("spec" | "status", Value::Object(_)) if is_object && self.has_defaults => {
                    "<filled in>".into()
                }
                (key, Value::String(_)) if key.ends_with("Timestamp") => "<time>".into(),
                (_, value) => self.whole(value),
            };
            out.insert(key, value);
        }
        out
    }
}

/// Sorts values by some of their texts.
fn sort_by_texts<const N: usize>(values: &mut [Value], fields: [&str; N]) {
    values.sort_by_key(|value| {
        fields.map(|field| {
            let text = value.get(field).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        })
    });
}

/// Whether a text is an age as in tables: `5s`, `2m10s`.
fn is_age(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(['s', 'm', 'h', 'd'])
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || "smhd".contains(c))
}
