//! A handle of a controller that runs.

use std::fmt;
use std::sync::{Arc, OnceLock};

use informer_core::ObjectKey;

use super::{ControllerStatus, Queue};
use crate::election::Election;

/// Says what a controller is doing: see [`ControllerBuilder::handle`](super::ControllerBuilder::handle).
///
/// ```
/// # async fn run<K: informer::Kind>(
/// #     controller: informer::controller::ControllerBuilder<K>,
/// # ) {
/// let handle = controller.handle();
/// // Elsewhere, while the controller runs:
/// if let Some(status) = handle.status() {
///     println!("{status}");
/// }
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ControllerHandle {
    running: Arc<OnceLock<(Queue<ObjectKey>, Option<Election>)>>,
}

impl ControllerHandle {
    /// The controller runs from now on.
    pub(super) fn open(&self, queue: &Queue<ObjectKey>, election: Option<&Election>) {
        // A builder runs once.
        let _ = self.running.set((queue.clone(), election.cloned()));
    }

    /// What the controller is doing now; `None` before it runs.
    #[must_use]
    pub fn status(&self) -> Option<ControllerStatus<ObjectKey>> {
        let (queue, election) = self.running.get()?;
        Some(ControllerStatus {
            leads: election.as_ref().map(Election::is_leader),
            ..queue.status()
        })
    }

    /// Its queue, to add keys; `None` before it runs.
    #[must_use]
    pub fn queue(&self) -> Option<Queue<ObjectKey>> {
        self.running.get().map(|(queue, _)| queue.clone())
    }
}

impl fmt::Debug for ControllerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerHandle")
            .field("status", &self.status())
            .finish()
    }
}
