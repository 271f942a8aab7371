//! Compares what the server has with what the cache has, object by object as the list arrives.

use std::collections::{HashMap, HashSet};

use informer_core::failure::message;
use informer_core::indexer::View;
use informer_core::storage::Heap;
use informer_core::{Object, ObjectKey, SourceId, compare_versions};

use crate::engine::Core;

use super::report::{Difference, KEPT, Verified};

/// What a cache shows of a source at one version, and what the informer knows to be wrong with it.
pub(super) struct Cached<K> {
    pub(super) version: String,
    source: SourceId,
    objects: View<Object<K>, Heap>,
    /// Why objects were left out.
    left_out: HashMap<ObjectKey, String>,
    /// Why objects were left out whose keys are not known.
    unnamed: Option<String>,
    /// Whether objects that are gone may still be there.
    unswept: bool,
}

impl<K: Send + Sync + 'static> Cached<K> {
    pub(super) fn of(core: &Core<K>, source: SourceId, version: &str) -> Self {
        let mut left_out = HashMap::new();
        let mut unnamed = None;
        for object in core.left_out() {
            let reason = object.reason.clone();
            match &object.key {
                Some(key) => drop(left_out.insert(key.clone(), reason)),
                None => unnamed = Some(reason),
            }
        }
        Self {
            version: version.to_owned(),
            source,
            objects: core.store().snapshot(),
            left_out,
            unnamed,
            unswept: core.source_status(source).is_some_and(|it| it.unswept),
        }
    }

    /// Whether the source shows an object of the cache.
    fn is_shown(&self, key: &ObjectKey) -> bool {
        self.objects.sources_of(key).any(|it| it == self.source)
    }

    /// Whether another source has brought a state that is newer than what is compared.
    fn is_newer(&self, object: &Object<K>) -> bool {
        let order = compare_versions(object.version(), &self.version);
        order.is_ok_and(core::cmp::Ordering::is_gt)
    }

    /// Why the cache does not show the server's state of an object, if the informer knows.
    fn why_not_shown(&self, key: &ObjectKey) -> Option<String> {
        if let Some(reason) = self.left_out.get(key) {
            return Some(format!("it was left out: {reason}"));
        }
        let unnamed = self.unnamed.as_ref()?;
        Some(format!("perhaps it was left out: {unnamed}"))
    }

    /// Why the cache still shows an object that is gone, if the informer knows.
    fn why_still_shown(&self) -> Option<String> {
        let why = "the last relist had an object without a readable key, so it deleted nothing";
        self.unswept.then(|| why.to_owned())
    }
}

pub(super) struct Comparison<K> {
    cached: Cached<K>,
    /// The objects that both have. Their keys are those of the cache, so this copies no text.
    seen: HashSet<ObjectKey>,
    found: Found,
}

/// The differences so far.
#[derive(Default)]
struct Found {
    missing: usize,
    extra: usize,
    differing: usize,
    explained: usize,
    differences: Vec<Difference>,
}

impl<K: Send + Sync + 'static> Comparison<K> {
    pub(super) fn new(cached: Cached<K>) -> Self {
        Self {
            cached,
            seen: HashSet::new(),
            found: Found::default(),
        }
    }

    /// Takes an object of the server's list.
    pub(super) fn see(&mut self, key: &ObjectKey, version: &str) {
        let object = self.cached.objects.get(key);
        match object {
            Some(object) => {
                self.seen.insert(object.key().clone());
                if object.version() == version || self.cached.is_newer(object) {
                    return;
                }
                self.found.differing += 1;
            }
            None => self.found.missing += 1,
        }
        self.found.note(Difference {
            key: key.clone(),
            cached: object.map(|object| message(object.version())),
            server: Some(message(version)),
            explanation: self.cached.why_not_shown(key),
        });
    }

    /// The list is complete: what it did not have is not on the server.
    pub(super) fn end(mut self, name: String) -> Verified {
        let shown = self.cached.objects.iter();
        let mut objects = 0;
        for object in shown.filter(|it| self.cached.is_shown(it.key())) {
            objects += 1;
            if !self.seen.contains(object.key()) {
                self.found.extra += 1;
                self.found.note(Difference {
                    key: object.key().clone(),
                    cached: Some(message(object.version())),
                    server: None,
                    explanation: self.cached.why_still_shown(),
                });
            }
        }
        let Found {
            missing,
            extra,
            differing,
            explained,
            differences,
        } = self.found;
        Verified {
            name,
            version: self.cached.version,
            objects,
            missing,
            extra,
            differing,
            explained,
            differences,
        }
    }
}

impl Found {
    fn note(&mut self, difference: Difference) {
        self.explained += usize::from(difference.explanation.is_some());
        if self.differences.len() < KEPT {
            self.differences.push(difference);
        }
    }
}
