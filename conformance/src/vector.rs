//! The format of the vectors: one case per line, with objects referenced by number.

use alloc::collections::BTreeMap;

use informer_core::flow::{Certainty, Deletion, Delta};
use informer_core::queue::{Transform, TransformError};
use informer_core::{Notification, Object, ObjectKey};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::compare;

/// A recorded case: how to build a machine, what to do to it, and what client-go answered.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub(crate) id: String,
    pub(crate) family: String,
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default)]
    pub(crate) tags: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) config: Value,
    #[serde(default)]
    pub(crate) objects: Objects,
    #[serde(default)]
    steps: Vec<Step>,
    /// Members that only some families have. Cases of `keys` and `selectors` consist of them.
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
struct Step {
    op: Value,
    res: Value,
}

/// Where and how a case differs from the record.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// The number of the step, from 1; `None` if the first step was not reached.
    pub(crate) step: Option<usize>,
    pub(crate) what: String,
}

impl Mismatch {
    pub(crate) const fn before_the_steps(what: String) -> Self {
        Self { step: None, what }
    }
}

impl Case {
    /// Parses a case from its line.
    ///
    /// # Errors
    /// The line is not a case.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// The id of the case.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().flatten().any(|own| own == tag)
    }

    /// The configuration in the form of a family.
    pub(crate) fn config<C: DeserializeOwned>(&self) -> Result<C, String> {
        C::deserialize(&self.config).map_err(|error| format!("config: {error}"))
    }

    /// Replays every step with `play`, and compares each whole answer with the recorded one.
    pub(crate) fn replay<Op: DeserializeOwned>(
        &self,
        mut play: impl FnMut(Op) -> Result<Value, String>,
    ) -> Result<(), Mismatch> {
        for (at, step) in self.steps.iter().enumerate() {
            let mismatch = |what: String| {
                let name = step.op.get("op").and_then(Value::as_str).unwrap_or("?");
                Mismatch {
                    step: Some(at + 1),
                    what: format!("{name}: {what}"),
                }
            };
            let op = Op::deserialize(&step.op).map_err(|error| mismatch(error.to_string()))?;
            let got = play(op).map_err(mismatch)?;
            if let Some(difference) = compare::first_difference(&step.res, &got) {
                return Err(mismatch(difference));
            }
        }
        Ok(())
    }

    /// Replays a case without steps, in which question and answer are side by side. `answer`
    /// returns the members of the question and the answer. Every other member belongs to the
    /// answer.
    pub(crate) fn ask<Question: DeserializeOwned>(
        &self,
        answer: impl FnOnce(Question) -> (&'static [&'static str], Value),
    ) -> Result<(), Mismatch> {
        // The only action counts as the first step.
        let mismatch = |what| Mismatch {
            step: Some(1),
            what,
        };
        let question = Question::deserialize(Value::Object(self.rest.clone()))
            .map_err(|error| mismatch(error.to_string()))?;
        let (asked, got) = answer(question);
        let recorded = self.rest.iter();
        let expected: Map<_, _> = recorded
            .filter(|(name, _)| *name != "kind" && !asked.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match compare::first_difference(&Value::Object(expected), &got) {
            Some(difference) => Err(mismatch(difference)),
            None => Ok(()),
        }
    }
}

/// The number of an object. -1 stands for something without metadata, which has no object here.
pub(crate) type Ref = i64;

/// An object as our decoders build it.
pub(crate) type Thing = Object<Payload>;

/// The objects' payload besides their metadata.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(crate) struct Payload {
    pub(crate) value: String,
}

/// The objects of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Spec>")]
pub(crate) struct Objects(Vec<Thing>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    ns: String,
    name: String,
    uid: String,
    rv: String,
    value: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

impl From<Vec<Spec>> for Objects {
    fn from(specs: Vec<Spec>) -> Self {
        let thing = |spec: Spec| {
            Object::builder(ObjectKey::new(&spec.ns, &spec.name))
                .uid(spec.uid)
                .version(spec.rv)
                .labels(spec.labels)
                .body(Payload { value: spec.value })
        };
        Self(specs.into_iter().map(thing).collect())
    }
}

impl Objects {
    pub(crate) fn get(&self, number: Ref) -> Result<Thing, String> {
        let at = usize::try_from(number).ok();
        let found = at.and_then(|at| self.0.get(at));
        found
            .cloned()
            .ok_or_else(|| format!("the case has no object {number}"))
    }

    pub(crate) fn get_all(&self, numbers: &[Ref]) -> Result<Vec<Thing>, String> {
        numbers.iter().map(|number| self.get(*number)).collect()
    }

    /// The number of the object that is equal in all fields, except for its size on the wire. An
    /// unlisted object is shown as it is, and so equals nothing recorded.
    pub(crate) fn number(&self, object: &Thing) -> Value {
        match self.0.iter().position(|listed| listed == object) {
            Some(at) => json!(at),
            None => json!(format!("unlisted {object:?}")),
        }
    }

    pub(crate) fn numbers<'a>(&self, objects: impl IntoIterator<Item = &'a Thing>) -> Value {
        objects.into_iter().map(|o| self.number(o)).collect()
    }

    /// Numbers of objects by key.
    pub(crate) fn by_key<'a>(&self, objects: impl IntoIterator<Item = &'a Thing>) -> Value {
        let entry = |o: &Thing| (o.key().as_str().to_owned(), self.number(o));
        Value::Object(objects.into_iter().map(entry).collect())
    }

    pub(crate) fn delta(&self, delta: &Delta<Thing>) -> Value {
        let (kind, object) = match delta {
            Delta::Added(object) => ("Added", object),
            Delta::Updated(object) => ("Updated", object),
            Delta::Replaced(object) => ("Replaced", object),
            Delta::Sync(object) => ("Sync", object),
            Delta::Deleted(Deletion::Observed(object)) => ("Deleted", object),
            Delta::Deleted(Deletion::Inferred { key, last }) => {
                let last = last.as_ref().map(|last| self.number(last));
                return json!({"t": "Deleted", "o": last, "tombstone": key.as_str()});
            }
            // Nothing in the vectors is unreadable, so this equals nothing recorded.
            Delta::Deleted(Deletion::Unreadable(key) | Deletion::Displaced { key, .. }) => {
                return json!({"t": "Deleted", "unreadable": key.as_str()});
            }
        };
        json!({"t": kind, "o": self.number(object)})
    }

    pub(crate) fn deltas<'a>(&self, deltas: impl IntoIterator<Item = &'a Delta<Thing>>) -> Value {
        deltas.into_iter().map(|delta| self.delta(delta)).collect()
    }

    pub(crate) fn notification(&self, notification: &Notification<Thing>) -> Value {
        match notification {
            Notification::Added {
                object, initial, ..
            } => json!({"on": "add", "obj": self.number(object), "initial": initial}),
            Notification::Updated { old, new, .. } => {
                json!({"on": "update", "old": self.number(old), "new": self.number(new)})
            }
            Notification::Deleted {
                key,
                last,
                certainty,
                ..
            } => {
                let last = last.as_ref().map(|last| self.number(last));
                match certainty {
                    Certainty::Observed => json!({"on": "delete", "obj": last}),
                    Certainty::Inferred => {
                        json!({"on": "delete", "obj": last, "tombstone": key.as_str()})
                    }
                }
            }
        }
    }
}

/// A tombstone for this key, with the last known state.
pub(crate) fn tombstone(key: &str, last: Option<Thing>) -> Deletion<Thing> {
    Deletion::Inferred {
        key: key_from_text(key),
        last,
    }
}

/// The key with this text. A tombstone may carry any text, so everything after the first slash is
/// the name.
pub(crate) fn key_from_text(text: &str) -> ObjectKey {
    let (namespace, name) = text.split_once('/').unwrap_or(("", text));
    ObjectKey::new(namespace, name)
}

/// The transforms that the vectors name.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TransformName {
    #[default]
    None,
    ClearValue,
    RefuseBad,
}

impl TransformName {
    /// Applies the transform to an object.
    pub(crate) fn apply(self, thing: &mut Object<Payload>) -> Result<(), TransformError> {
        match self {
            Self::ClearValue => thing.edit(|body| body.value.clear()),
            Self::RefuseBad if thing.value == "bad" => {
                return Err(TransformError::new("bad value"));
            }
            Self::None | Self::RefuseBad => {}
        }
        Ok(())
    }

    /// The transform as the core takes it.
    pub(crate) fn function(self) -> Option<Transform<Thing>> {
        let apply = move |thing: &mut Thing| self.apply(thing);
        match self {
            Self::None => None,
            Self::ClearValue | Self::RefuseBad => Some(Transform::new(apply)),
        }
    }
}
