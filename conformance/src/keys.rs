//! The family `keys`: namespace/name keys.

use informer_core::flow::Deletion;
use informer_core::{Object, ObjectKey};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::vector::{Case, Mismatch, key_from_text};

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Question {
    KeyOf {
        namespace: String,
        name: String,
    },
    Split {
        key: String,
    },
    KeyOfTombstone {
        tombstone_key: String,
        namespace: String,
        name: String,
    },
}

/// Whether the case asks for the key of something that is not an object.
pub(crate) fn asks_for_no_object(case: &Case) -> bool {
    case.rest.get("kind").and_then(Value::as_str) == Some("key_of_other")
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    case.ask(answer)
}

/// The members of the question, and the answer.
fn answer(question: Question) -> (&'static [&'static str], Value) {
    match question {
        Question::KeyOf { namespace, name } => {
            let key = ObjectKey::new(&namespace, &name);
            let object_name = json!({"namespace": key.namespace(), "name": key.name()});
            let got = json!({"key": key.as_str(), "object_name": object_name});
            (&["namespace", "name"], got)
        }
        Question::Split { key } => {
            let parsed = key.parse::<ObjectKey>();
            let (namespace, name) = match &parsed {
                Ok(key) => (key.namespace(), key.name()),
                Err(_) => ("", ""),
            };
            let got = json!({"err": parsed.is_err(), "namespace": namespace, "name": name});
            (&["key"], got)
        }
        Question::KeyOfTombstone {
            tombstone_key,
            namespace,
            name,
        } => {
            let gone = Deletion::Inferred {
                key: key_from_text(&tombstone_key),
                last: Some(Object::builder(ObjectKey::new(&namespace, &name)).body(())),
            };
            // client-go's plain key function accepts anything and refuses a tombstone at run time.
            // Ours is `Resource::key`, which a deletion does not have, so the compiler refuses.
            let got = json!({"key": gone.key().as_str(), "plain_key_func_err": true});
            (&["tombstone_key", "namespace", "name"], got)
        }
    }
}
