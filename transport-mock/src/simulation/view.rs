//! What a store shows, and what it should show.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use informer_core::SourceId;
use informer_core::indexer::{PlainFn, UnknownIndex, View};
use informer_core::storage::Storage;

use super::Pod;
use super::interest::Interest;
use crate::StoredObject;

/// The indices of every informer in a simulation.
pub(super) const INDICES: [(&str, PlainFn<Pod>); 2] =
    [("app", by_app), ("namespace", by_namespace)];

fn by_app(pod: &Pod, file: &mut dyn FnMut(&[u8])) {
    if let Some(app) = pod.labels().get("app") {
        file(app.as_bytes());
    }
}

fn by_namespace(pod: &Pod, file: &mut dyn FnMut(&[u8])) {
    file(pod.key().namespace().as_bytes());
}

/// The keys under each value of an index.
pub(super) type Table = BTreeMap<String, BTreeSet<String>>;

/// The numbers of the sources that show each object.
pub(super) type Holders = BTreeMap<String, BTreeSet<u16>>;

/// The contents of a store: uid and version by key, who shows it, the index tables, its version.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Shown {
    pub(super) objects: BTreeMap<String, String>,
    pub(super) holders: Holders,
    pub(super) indices: BTreeMap<&'static str, Table>,
    pub(super) version: String,
}

impl Shown {
    pub(super) fn of<S: Storage>(store: &View<Pod, S>) -> Result<Self, UnknownIndex> {
        let mut shown = Self {
            objects: store
                .iter()
                .map(|pod| (pod.key().to_string(), state(pod)))
                .collect(),
            holders: store
                .iter()
                .map(|pod| {
                    let sources = store.sources_of(pod.key());
                    (
                        pod.key().to_string(),
                        sources.map(SourceId::number).collect(),
                    )
                })
                .collect(),
            indices: BTreeMap::new(),
            version: store.version().to_owned(),
        };
        for (name, _) in INDICES {
            let mut table = Table::new();
            for (value, pods) in store.table(name)?.rows() {
                let value = String::from_utf8_lossy(value).into_owned();
                table.insert(value, pods.map(|pod| pod.key().to_string()).collect());
            }
            shown.indices.insert(name, table);
        }
        Ok(shown)
    }

    /// The expected contents of a store: those of `objects` that one of `sources` shows.
    pub(super) fn expected(objects: &[Arc<StoredObject>], sources: &[(u16, Interest)]) -> Self {
        let mut shown = Self::default();
        for (name, _) in INDICES {
            shown.indices.insert(name, Table::new());
        }
        for object in objects {
            let shows = |(_, interest): &&(u16, Interest)| interest.covers(object);
            let holders: BTreeSet<u16> = sources.iter().filter(shows).map(|it| it.0).collect();
            if holders.is_empty() {
                continue;
            }
            shown.holders.insert(object.key().to_owned(), holders);
            let state = format!("{}@{}", object.uid(), object.version());
            shown.objects.insert(object.key().to_owned(), state);
            let app = object.label("app").map(|app| ("app", app));
            let namespace = object.namespace().map(|name| ("namespace", name));
            for (index, value) in app.into_iter().chain(namespace) {
                let table = shown.indices.entry(index).or_default();
                let keys = table.entry(value.to_owned()).or_default();
                keys.insert(object.key().to_owned());
            }
        }
        shown
    }

    /// Compares with the expected contents. The error names the first difference.
    pub(super) fn compare(&self, expected: &Self) -> Result<(), String> {
        compare("the store", &self.objects, &expected.objects)?;
        compare("the list of sources", &self.holders, &expected.holders)?;
        for (name, table) in &expected.indices {
            let shown = self.indices.get(name).cloned().unwrap_or_default();
            compare(&format!("the index {name:?}"), &shown, table)?;
        }
        Ok(())
    }
}

/// Uid and version.
pub(super) fn state(pod: &Pod) -> String {
    format!("{}@{}", pod.uid(), pod.version())
}

/// Compares by key. The error names the first difference.
pub(super) fn compare<V: PartialEq + std::fmt::Debug>(
    what: &str,
    shown: &BTreeMap<String, V>,
    expected: &BTreeMap<String, V>,
) -> Result<(), String> {
    for key in shown.keys().chain(expected.keys()) {
        let (shown, expected) = (shown.get(key), expected.get(key));
        if shown != expected {
            return Err(format!(
                "{what} shows {shown:?} for {key:?}, expected {expected:?}"
            ));
        }
    }
    Ok(())
}
