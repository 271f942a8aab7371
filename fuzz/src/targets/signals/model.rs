//! A naive model of the store. For ambiguous input it gives no result; the other oracles cover
//! that.

use std::collections::BTreeMap;

use serde_json::Value;

use super::conversation::{Asked, Key, Stamp};
use crate::targets::repeated::has_repeated_members;

type State = BTreeMap<Key, Stamp>;

/// The store after these answers.
pub(super) fn store(answered: &[(Asked, &[u8])]) -> Option<State> {
    let mut store = State::new();
    let mut pages = State::new();
    let mut is_whole = true;
    for (asked, answer) in answered {
        match asked {
            Asked::List { first } => {
                if *first {
                    pages.clear();
                }
                is_whole = read_list(answer, &mut pages)?;
                if is_whole {
                    store = std::mem::take(&mut pages);
                }
            }
            // A watch that fails changes nothing.
            Asked::Watch { initial: false } if answer.starts_with(b"!") => {}
            Asked::Watch { initial: false } => read_watch(answer, &mut store, &mut None)?,
            Asked::Watch { initial: true } => {
                let mut streamed = Some(State::new());
                read_watch(answer, &mut store, &mut streamed)?;
                if streamed.is_some() {
                    // It never signalled that it was complete.
                    return None;
                }
            }
        }
    }
    // Unanswered pages count as far as they arrived.
    is_whole.then_some(store)
}

/// Adds the items of a page. Returns whether it is the last one.
fn read_list(answer: &[u8], pages: &mut State) -> Option<bool> {
    let list = value(answer)?;
    let list = list.as_object()?;
    if list
        .get("kind")
        .is_some_and(|kind| kind == "Status" || kind == "Table")
    {
        return None;
    }
    text(list.get("kind"))?;
    text(list.get("apiVersion"))?;
    match list.get("items")? {
        Value::Null => {}
        items => pages.extend(
            items
                .as_array()?
                .iter()
                .map(object)
                .collect::<Option<Vec<_>>>()?,
        ),
    }
    let metadata = match list.get("metadata") {
        None | Some(Value::Null) => return Some(true),
        Some(metadata) => metadata.as_object()?,
    };
    text(metadata.get("resourceVersion"))?;
    Some(text(metadata.get("continue"))?.is_empty())
}

/// Reads the lines of a watch. While `streamed` is present, the state is incomplete.
fn read_watch(answer: &[u8], store: &mut State, streamed: &mut Option<State>) -> Option<()> {
    let (lines, _cut_off) = answer.split_at(answer.iter().rposition(|byte| *byte == b'\n')? + 1);
    for line in lines.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let event = value(line)?;
        let found = event.get("object")?;
        let state = streamed.as_mut().unwrap_or(store);
        match event.get("type")?.as_str()? {
            "ADDED" | "MODIFIED" => {
                state.extend([object(found)?]);
            }
            "DELETED" => {
                state.remove(&object(found)?.0);
            }
            "BOOKMARK" => {
                let metadata = found.get("metadata")?;
                object(&name_it(found)?)?;
                if metadata.get("resourceVersion")?.as_str()?.is_empty() {
                    return None;
                }
                let end = metadata.pointer("/annotations/k8s.io~1initial-events-end");
                if end.is_some_and(|end| end == "true")
                    && let Some(complete) = streamed.take()
                {
                    *store = complete;
                }
            }
            _ => return None,
        }
    }
    Some(())
}

/// Adds a name to a bookmark, which otherwise must be a valid object.
fn name_it(bookmark: &Value) -> Option<Value> {
    let mut named = bookmark.clone();
    let metadata = named.get_mut("metadata")?.as_object_mut()?;
    metadata.insert("name".to_owned(), "any".into());
    Some(named)
}

/// The value, if its meaning is unambiguous.
fn value(json: &[u8]) -> Option<Value> {
    let is_plain = !has_repeated_members(json);
    is_plain.then(|| serde_json::from_slice(json).ok())?
}

fn object(value: &Value) -> Option<(Key, Stamp)> {
    let object = value.as_object()?;
    if object.get("kind").is_some_and(|kind| kind == "Table") {
        return None;
    }
    text(object.get("kind"))?;
    text(object.get("apiVersion"))?;
    let metadata = object.get("metadata")?.as_object()?;
    let part = |name: &str| text(metadata.get(name));
    let labels_are_texts = match metadata.get("labels") {
        None | Some(Value::Null) => true,
        Some(labels) => labels.as_object()?.values().all(Value::is_string),
    };
    let key = (part("namespace")?, part("name")?);
    let stamp = (part("uid")?, part("resourceVersion")?);
    (labels_are_texts && !key.1.is_empty()).then_some((key, stamp))
}

/// A text that may be missing.
fn text(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    }
}
