//! The objects of an informer of any kind: one by its key, some by a selector, all as a dump.

// What is shown of the bodies.
mod bodies;

// All objects, piece by piece.
mod dump;

// The changes of an informer.
mod follow;

// The values of indices as text.
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use informer_core::indexer::{IndexFn, Subject};
use informer_core::{Labels, Object, ObjectKey};
use informer_indexers::Query;
use informer_indexers::selector::{FieldSelector, LabelSelector};
use informer_indexers::shared::Snapshot;
use serde::Serialize;
use serde_json::value::RawValue;

use bodies::{Opened, form_name};
pub use bodies::{Opener, WithBodies};
pub(super) use dump::Pieces;
pub(super) use follow::Follow;
use follow::Following;

use crate::engine::Engine;

/// What the port shows of the objects of an informer. Nothing here takes the engine's lock, except `follow`.
pub(crate) trait Contents: Send + Sync {
    /// The names of the indices whose values may be shown.
    fn indices(&self) -> Vec<String>;

    /// Says why bodies are not shown, if they are not.
    fn why_no_bodies(&self) -> Option<&'static str>;

    fn object(&self, key: &ObjectKey) -> Option<Found>;

    /// # Errors
    /// What is wrong with the question.
    fn select(&self, wanted: &Wanted) -> Result<Selected, String>;

    /// All objects as JSON, with their bodies if they are asked for and may be shown.
    fn dump(&self, id: &str, bodies: bool) -> Box<dyn Pieces>;

    /// Follows the changes from now on; `None` if the informer has ended.
    fn follow(&self) -> Option<Box<dyn Follow>>;
}

/// An object, for people.
#[derive(Serialize)]
pub(crate) struct Found {
    pub(super) key: String,
    pub(super) version: String,
    pub(super) uid: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) indices: BTreeMap<String, Vec<String>>,
    pub(super) provenance: Provenance,
    pub(super) json: Option<Box<RawValue>>,
    pub(super) why_no_json: Option<String>,
}

/// Where an object comes from and how it is kept.
#[derive(Serialize)]
pub(crate) struct Provenance {
    pub(super) source: String,
    pub(super) form: String,
    pub(super) size: usize,
    /// What caused its last change, if it was noted.
    pub(super) cause: Option<String>,
    pub(super) seconds_ago: Option<f64>,
}

/// A question for objects.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(super) labels: Option<LabelSelector>,
    pub(super) fields: Option<FieldSelector>,
    /// The name of an index, and a value.
    pub(super) index: Option<(String, String)>,
    pub(super) limit: usize,
}

/// The objects that match a question.
#[derive(Serialize)]
pub(crate) struct Selected {
    /// How they were found.
    pub(super) plan: String,
    pub(super) total: usize,
    /// The first of them.
    pub(super) keys: Vec<Line>,
}

/// One object in a list.
#[derive(Serialize)]
pub(crate) struct Line {
    pub(super) key: String,
    pub(super) version: String,
}

impl Line {
    fn of<K>(object: &Object<K>) -> Self {
        Self {
            key: object.key().to_string(),
            version: object.version().to_owned(),
        }
    }
}

/// The objects of one informer, with or without access to their bodies.
pub(crate) struct Reading<K> {
    engine: Arc<Engine<K>>,
    opened: Option<Opened<K>>,
    /// Whether these are Secrets, of which nothing is shown but keys, versions and labels.
    secret: bool,
}

impl<K: Send + Sync + 'static> Reading<K> {
    pub(crate) fn closed(engine: Arc<Engine<K>>) -> Self {
        let target = &engine.target;
        let secret = target.group.is_empty() && target.plural == "secrets";
        Self {
            engine,
            opened: None,
            secret,
        }
    }

    fn open(engine: Arc<Engine<K>>, opened: Opened<K>) -> Self {
        let closed = Self::closed(engine);
        Self {
            opened: (!closed.secret).then_some(opened),
            ..closed
        }
    }

    fn snapshot(&self) -> Snapshot<Object<K>> {
        self.engine.reader.snapshot()
    }

    /// Whether the values of an index may be shown. Those of Secrets may tell what is in them.
    fn shows(&self, index: &IndexFn<Object<K>>) -> bool {
        use Subject::{Key, Label, LabelPairs, Namespace};
        !self.secret || matches!(index.subject(), Namespace | Key | Label(_) | LabelPairs)
    }

    fn values(&self, object: &Object<K>) -> BTreeMap<String, Vec<String>> {
        let snapshot = self.snapshot();
        let shown = snapshot.indices().filter(|(.., index)| self.shows(index));
        let with_values =
            shown.map(|(_, name, index)| (name.to_owned(), values::of(index, object)));
        with_values.collect()
    }

    fn json(&self, object: &Object<K>) -> Result<Box<RawValue>, String> {
        match &self.opened {
            Some(opened) => opened.json(object),
            None => Err(self.why_no_bodies().unwrap_or_default().to_owned()),
        }
    }
}

impl<K: Send + Sync + 'static> Contents for Reading<K> {
    fn indices(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let shown = snapshot.indices().filter(|(.., index)| self.shows(index));
        shown.map(|(_, name, _)| name.to_owned()).collect()
    }

    fn why_no_bodies(&self) -> Option<&'static str> {
        match &self.opened {
            Some(_) => None,
            None if self.secret => Some("Secrets are never shown, whatever the program allows."),
            None => Some(
                "The program does not allow bodies; it can add the informer with `add_with_bodies`.",
            ),
        }
    }

    fn object(&self, key: &ObjectKey) -> Option<Found> {
        let object = self.snapshot().get(key)?.clone();
        let (json, why_no_json) = match self.json(&object) {
            Ok(json) => (Some(json), None),
            Err(why) => (None, Some(why)),
        };
        let Line { key, version } = Line::of(&object);
        Some(Found {
            key,
            version,
            uid: object.uid().to_owned(),
            labels: owned(object.labels()),
            indices: self.values(&object),
            provenance: Provenance {
                source: self.engine.target.path(),
                form: form_name::<K>(),
                size: object.size(),
                cause: None,
                seconds_ago: None,
            },
            json,
            why_no_json,
        })
    }

    fn select(&self, wanted: &Wanted) -> Result<Selected, String> {
        let snapshot = self.snapshot();
        let mut query = Query::new();
        if let Some(labels) = &wanted.labels {
            query = query.labels(labels);
        }
        if let Some(fields) = &wanted.fields {
            let Some(opened) = &self.opened else {
                let why = self.why_no_bodies().unwrap_or_default();
                return Err(format!("Field selectors read bodies. {why}"));
            };
            query = opened.with_fields(query, fields, &snapshot)?;
        }
        let Some((index, value)) = &wanted.index else {
            let plan = snapshot.plan(&query).to_string();
            return Ok(first(snapshot.select(&query), wanted.limit, plan));
        };
        if !self.indices().contains(index) {
            let names = self.indices().join(", ");
            return Err(format!("There is no index {index:?}; there are: {names}."));
        }
        let filed = values::find(&snapshot, index, value).map_err(|error| format!("{error}."))?;
        let plan = format!(
            "{} filed under {value:?} in the index {index:?}",
            filed.len()
        );
        let matching = filed.filter(|object| query.matches(object));
        Ok(first(matching, wanted.limit, plan))
    }

    fn dump(&self, id: &str, bodies: bool) -> Box<dyn Pieces> {
        let opened = self.opened.filter(|_| bodies);
        Box::new(dump::Dump::new(id, self.snapshot(), opened))
    }

    fn follow(&self) -> Option<Box<dyn Follow>> {
        Some(Box::new(Following::of(&self.engine)?))
    }
}

fn first<'a, K: 'a>(
    objects: impl Iterator<Item = &'a Object<K>>,
    limit: usize,
    plan: String,
) -> Selected {
    let mut keys = Vec::new();
    let mut total = 0;
    for object in objects {
        if total < limit {
            keys.push(Line::of(object));
        }
        total += 1;
    }
    Selected { plan, total, keys }
}

fn owned(labels: Labels<'_>) -> BTreeMap<String, String> {
    let owned = labels
        .iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    owned.collect()
}
