//! Every state that the server ever had.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Pod;
use crate::StoredObject;
use crate::protobuf;

/// Every state that the server ever had, by version, and which objects were unreadable.
#[derive(Debug, Default)]
pub(super) struct Record {
    states: BTreeMap<u64, Arc<StoredObject>>,
    unreadable: BTreeSet<String>,
}

impl Record {
    /// Records an object that the server stores.
    pub(super) fn write(&mut self, object: &Arc<StoredObject>) {
        self.states.insert(object.version(), Arc::clone(object));
    }

    /// Records that an object under this key was sent in an unreadable form.
    pub(super) fn spoil(&mut self, key: &str) {
        self.unreadable.insert(key.to_owned());
    }

    /// Whether everything sent under this key was readable.
    pub(super) fn is_readable(&self, key: &str) -> bool {
        !self.unreadable.contains(key)
    }

    /// Checks that the server had `pod`: the same key, uid and version, and the same text if it was
    /// requested whole.
    pub(super) fn check(&self, pod: &Pod, is_whole: bool) -> Result<(), String> {
        let state = number(pod.version()).and_then(|version| self.states.get(&version));
        let Some(state) = state else {
            return Err(format!(
                "the server never had {}@{}",
                pod.key(),
                pod.version()
            ));
        };
        if state.key() != pod.key().as_str() || state.uid() != pod.uid() {
            return Err(format!(
                "{} {}@{} is {} {} on the server",
                pod.key(),
                pod.uid(),
                pod.version(),
                state.key(),
                state.uid()
            ));
        }
        let is_right = match pod.json() {
            Ok(text) => body(text.as_bytes()) == body(state.json()),
            Err(_) => {
                let sent = protobuf::message("core.Pod", state.value());
                pod.protobuf().ok().as_deref() == sent.ok().as_deref()
            }
        };
        if is_whole && !is_right {
            return Err(format!(
                "the body of {}@{} is not the server's: {:?}",
                pod.key(),
                pod.version(),
                pod.json(),
            ));
        }
        Ok(())
    }
}

/// Whether two are the same object in the same state, whatever their source.
pub(super) fn is_same(a: &Pod, b: &Pod) -> bool {
    a.uid() == b.uid()
        && a.version() == b.version()
        && match (a.json(), b.json()) {
            (Ok(a), Ok(b)) => body(a.as_bytes()) == body(b.as_bytes()),
            _ => a.protobuf() == b.protobuf(),
        }
}

/// The text of an object without kind and apiVersion, which list items do not have.
fn body(json: &[u8]) -> &[u8] {
    let start = br#""metadata":"#;
    let at = json.windows(start.len()).position(|window| window == start);
    json.get(at.unwrap_or(0)..).unwrap_or_default()
}

/// Parses a version.
pub(super) fn number(version: &str) -> Option<u64> {
    version.parse().ok()
}
