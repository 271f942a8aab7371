//! A handle of a controller that runs.

use std::fmt;
#[cfg(feature = "metrics")]
use std::sync::Weak;
use std::sync::{Arc, OnceLock};

use informer_core::ObjectKey;

use super::context::Surroundings;
use super::{ControllerStatus, Queue};
use crate::election::Election;
#[cfg(feature = "metrics")]
use crate::inspect::Inspected;

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
    running: Arc<OnceLock<Opened>>,
}

/// A controller that runs, or has run.
pub(crate) struct Opened {
    pub(crate) queue: Queue<ObjectKey>,
    pub(crate) election: Option<Election>,
    /// Gone when the controller has ended: a handle keeps no caches.
    #[cfg(feature = "metrics")]
    surroundings: Weak<Surroundings>,
}

#[cfg(feature = "metrics")]
impl Opened {
    /// Calls `look` with each informer of the controller.
    pub(crate) fn each_informer(&self, look: impl FnMut(Inspected)) {
        if let Some(surroundings) = self.surroundings.upgrade() {
            let sources = surroundings.sources.iter();
            sources.map(|source| source.inspected()).for_each(look);
        }
    }
}

impl ControllerHandle {
    /// The controller runs from now on.
    pub(super) fn open(&self, queue: &Queue<ObjectKey>, surroundings: &Arc<Surroundings>) {
        // A builder runs once.
        let _ = self.running.set(Opened {
            queue: queue.clone(),
            election: surroundings.election.clone(),
            #[cfg(feature = "metrics")]
            surroundings: Arc::downgrade(surroundings),
        });
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn downgrade(&self) -> Weak<OnceLock<Opened>> {
        Arc::downgrade(&self.running)
    }

    /// What the controller is doing now; `None` before it runs.
    #[must_use]
    pub fn status(&self) -> Option<ControllerStatus<ObjectKey>> {
        let Opened {
            queue, election, ..
        } = self.running.get()?;
        Some(ControllerStatus {
            leads: election.as_ref().map(Election::is_leader),
            ..queue.status()
        })
    }

    /// Its queue, to add keys; `None` before it runs.
    #[must_use]
    pub fn queue(&self) -> Option<Queue<ObjectKey>> {
        self.running.get().map(|opened| opened.queue.clone())
    }
}

impl fmt::Debug for ControllerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerHandle")
            .field("status", &self.status())
            .finish()
    }
}
