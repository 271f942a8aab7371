//! What one source of an informer is doing.

use std::time::Duration;

use informer_core::SourceId;
use informer_core::informer::Counts;
use informer_core::reflector::{History, LastFailure, Phase};
use informer_core::transport::Target;

use super::Status;

/// What one source of an informer is doing at one moment: see
/// [`SharedInformer::sources`](crate::SharedInformer::sources).
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SourceStatus {
    /// For [`SharedInformer::remove_source`](crate::SharedInformer::remove_source).
    pub id: SourceId,
    /// The target as text, behind its cluster if that has a name.
    pub name: String,
    /// The cluster that its keys name; empty if they name none.
    pub cluster: String,
    /// The resource, namespace and selectors that it follows.
    pub target: Target,
    /// The current phase. While it waits, it says why and until when.
    pub phase: Phase,
    /// How long it has been in this phase.
    pub phase_for: Duration,
    /// Whether the cache holds its first full state. Never becomes false again.
    pub synced: bool,
    /// Whether the server has answered a watch and nothing has failed since.
    pub following: bool,
    /// Whether the server does not serve the kind: see [`Status::gone`].
    pub gone: bool,
    /// Whether it was removed, and what only it shows is being deleted.
    pub leaving: bool,
    /// The version up to which the server has sent all changes; `None` before the first full state.
    pub version: Option<String>,
    /// Whether the last relist contained an object without a readable key: see [`Status::unswept`].
    pub unswept: bool,
    /// The last failure, with the message of the server or the transport.
    pub last_failure: Option<LastFailure<String>>,
    /// The time since the last byte from the server.
    pub last_byte: Option<Duration>,
    /// The time since the last event or object.
    pub last_event: Option<Duration>,
    /// The time since the last bookmark.
    pub last_bookmark: Option<Duration>,
    /// Counters since it was added. Changes that changed nothing are counted for the informer alone.
    pub counts: Counts,
    /// What was asked of the server since it was added, and what came of it.
    pub requests: History,
}

impl Status {
    /// The status as if this were the only source, to put it into words.
    pub(super) fn of_source(&self, source: &SourceStatus) -> Self {
        Self {
            name: source.name.clone(),
            phase: source.phase,
            phase_for: source.phase_for,
            synced: source.synced,
            following: source.following,
            gone: source.gone,
            version: source.version.clone(),
            unswept: source.unswept,
            last_failure: source.last_failure.clone(),
            last_byte: source.last_byte,
            last_event: source.last_event,
            last_bookmark: source.last_bookmark,
            counts: source.counts,
            requests: source.requests,
            sources: Vec::new(),
            namespaces: Vec::new(),
            ..self.clone()
        }
    }

    /// The sources that hold up the informer: those that are not synced, or else those that do not follow the
    /// server. Empty if there is only one source.
    pub(super) fn behind(&self) -> Vec<&SourceStatus> {
        let several = self.sources.len() > 1 || !self.namespaces.is_empty();
        let of = |is_behind: fn(&SourceStatus) -> bool| {
            let sources = self.sources.iter().filter(|_| several);
            let behind = sources.filter(|it| !it.leaving && is_behind(it));
            behind.collect::<Vec<_>>()
        };
        let unsynced = of(|it| !it.synced);
        match unsynced.is_empty() {
            true => of(|it| !it.following),
            false => unsynced,
        }
    }
}
