//! What a handler knows of the world by what it was told, and whether that made sense.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use informer::{Notification, Shared, Snapshot};

/// Versions by key, folded from notifications. Nobody may be told what does not follow from what they
/// were told before.
#[derive(Clone, Default)]
pub struct Folded(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    view: View,
    told: usize,
    closed: bool,
    faults: Vec<String>,
}

pub type View = BTreeMap<String, String>;

impl Folded {
    pub fn tell<K>(&self, notification: &Notification<Shared<K>>) {
        let mut state = self.0.lock().unwrap();
        state.told += 1;
        if state.closed {
            state.faults.push("told after its removal".to_owned());
        }
        let fault = match notification {
            Notification::Added { object, .. } => {
                let key = object.key.to_string();
                let before = state.view.insert(key, object.version.to_string());
                before.map(|before| format!("add of {} known at {before}", object.key))
            }
            Notification::Updated { old, new, .. } => {
                let key = new.key.to_string();
                let before = state.view.insert(key, new.version.to_string());
                (before.as_deref() != Some(&*old.version))
                    .then(|| format!("update of {} at {before:?}, not {}", new.key, old.version))
            }
            Notification::Deleted { key, .. } => {
                let before = state.view.remove(&key.to_string());
                before.is_none().then(|| format!("delete of unknown {key}"))
            }
        };
        state.faults.extend(fault);
    }

    /// From now on it must not be told anything.
    pub fn close(&self) {
        self.0.lock().unwrap().closed = true;
    }

    pub fn view(&self) -> View {
        self.0.lock().unwrap().view.clone()
    }

    pub fn told(&self) -> usize {
        self.0.lock().unwrap().told
    }

    pub fn faults(&self) -> Vec<String> {
        self.0.lock().unwrap().faults.clone()
    }
}

/// What the store holds.
pub fn view_of<K>(snapshot: &Snapshot<Shared<K>>) -> View {
    let objects = snapshot.iter();
    objects
        .map(|object| (object.key.to_string(), object.version.to_string()))
        .collect()
}
