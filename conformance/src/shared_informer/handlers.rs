//! Handlers, and what they are told.

use alloc::collections::BTreeMap;

use informer_core::processor::ListenerId;
use informer_core::{Cause, Certainty, Notification};
use serde_json::{Map, Value, json};

use super::Tested;
use crate::vector::{Objects, Thing};

/// The handlers by name, and what each of them was told in the present step.
#[derive(Default)]
pub(super) struct Handlers {
    registered: BTreeMap<String, Handler>,
    notes: BTreeMap<String, Vec<Value>>,
}

struct Handler {
    listener: ListenerId,
    /// Only objects with this value of the label `app` are for this handler.
    filter: Option<String>,
}

impl Handlers {
    pub(super) fn add(&mut self, name: String, listener: ListenerId, filter: Option<String>) {
        self.registered.insert(name, Handler { listener, filter });
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<ListenerId> {
        Some(self.registered.remove(name)?.listener)
    }

    /// Lets every handler hear all that there is for it.
    pub(super) fn listen(&mut self, informer: &mut Tested, objects: &Objects) {
        for (name, handler) in &self.registered {
            while let Some(notification) = informer.poll_notification(handler.listener) {
                if let Some(passed) = handler.filter(notification) {
                    let note = objects.notification(&passed);
                    self.notes.entry(name.clone()).or_default().push(note);
                }
            }
        }
    }

    pub(super) fn take_notes(&mut self) -> Value {
        json!(core::mem::take(&mut self.notes))
    }

    /// Handler → whether it has dealt with its initial state.
    pub(super) fn synced(&self, informer: &Tested) -> Value {
        let synced = |(name, handler): (&String, &Handler)| {
            let status = informer.listener_status(handler.listener);
            (name.clone(), json!(status.map(|status| status.synced)))
        };
        Value::Object(self.registered.iter().map(synced).collect::<Map<_, _>>())
    }
}

impl Handler {
    /// What passes the filter of the handler, as client-go's `FilteringResourceEventHandler` has it: an
    /// object whose update makes it pass is new to the handler, and one that ceases to pass is gone.
    fn filter(&self, notification: Notification<Thing>) -> Option<Notification<Thing>> {
        match notification {
            Notification::Added { ref object, .. } => self.passes(object).then_some(notification),
            Notification::Updated {
                ref old, ref new, ..
            } => match (self.passes(old), self.passes(new)) {
                (true, true) => Some(notification),
                (false, true) => Some(Notification::Added {
                    object: new.clone(),
                    initial: false,
                    cause: Cause::Watch,
                }),
                (true, false) => Some(Notification::Deleted {
                    key: old.key.clone(),
                    last: Some(old.clone()),
                    certainty: Certainty::Observed,
                    cause: Cause::Watch,
                }),
                (false, false) => None,
            },
            Notification::Deleted { ref last, .. } => {
                let passes = match last {
                    Some(last) => self.passes(last),
                    None => self.filter.is_none(),
                };
                passes.then_some(notification)
            }
        }
    }

    fn passes(&self, object: &Thing) -> bool {
        match &self.filter {
            Some(app) => object.labels.get("app") == Some(app),
            None => true,
        }
    }
}
