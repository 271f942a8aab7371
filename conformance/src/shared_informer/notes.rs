//! What handlers record.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use informer::{Filter, Handler, Notification};
use serde_json::{Value, json};

use crate::vector::{Objects, Thing};

/// A handler that records its notifications.
pub(super) type Hear = Box<dyn FnMut(Notification<Thing>) + Send>;

/// The notifications of each handler, by name. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Notes(Arc<Mutex<BTreeMap<String, Vec<Notification<Thing>>>>>);

impl Notes {
    /// Creates a handler. With a filter, it gets only objects with this value of the label `app`.
    pub(super) fn handler(&self, name: &str, filter: Option<String>) -> Hear {
        let (notes, name) = (self.clone(), name.to_owned());
        let hear = move |notification| {
            let mut notes = notes.lock();
            notes.entry(name.clone()).or_default().push(notification);
        };
        let Some(app) = filter else {
            return Box::new(hear);
        };
        let passes = move |thing: &Thing| thing.labels().get("app") == Some(&app);
        let mut filter = Filter::new(passes, hear);
        Box::new(move |notification| filter.notified(notification))
    }

    /// Takes the notifications of each handler since the last call.
    pub(super) fn take(&self, objects: &Objects) -> Value {
        let told = core::mem::take(&mut *self.lock());
        let notes = told.into_iter().map(|(name, told)| {
            let notes: Value = told.iter().map(|it| objects.notification(it)).collect();
            (name, notes)
        });
        json!(notes.collect::<BTreeMap<_, _>>())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Notification<Thing>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
