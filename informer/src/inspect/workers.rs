//! Controllers and elections.

use std::sync::Arc;

use super::{Inspect, Inspected, Part, sealed::Sealed};
use crate::controller::{Controller, ControllerHandle, ControllerStatus, Key, Queue};
use crate::election::{Election, ElectionStatus, WeakElection};
use crate::meters::QueueMeters;

/// What can be asked of a controller, whatever its keys are.
pub(crate) trait ControllerPart: Send + Sync {
    /// The same for all handles of a controller, and for no other.
    fn identity(&self) -> usize;

    fn name(&self) -> String;

    fn status(&self) -> ControllerStatus<String>;

    /// What is measured of it, from the first call on.
    fn measure(&self) -> QueueMeters;
}

/// What can be asked of an election.
pub(crate) trait ElectionPart: Send + Sync {
    /// The same for all handles of a replica, and for no other.
    fn identity(&self) -> usize;

    /// The Lease.
    fn name(&self) -> String;

    fn status(&self) -> ElectionStatus;
}

struct Looked<Q: Key> {
    queue: Queue<Q>,
    election: Option<Election>,
}

impl<Q: Key> ControllerPart for Looked<Q> {
    fn identity(&self) -> usize {
        self.queue.identity()
    }

    fn name(&self) -> String {
        self.queue.name()
    }

    fn status(&self) -> ControllerStatus<String> {
        ControllerStatus {
            leads: self.election.as_ref().map(Election::is_leader),
            ..self.queue.status().in_words()
        }
    }

    fn measure(&self) -> QueueMeters {
        self.queue.measure()
    }
}

impl<Q: Key> Sealed for Controller<Q> {}

impl<Q: Key> Inspect for Controller<Q> {
    fn inspected(&self) -> Inspected {
        let queue = self.queue().downgrade();
        let election = self.election().map(Election::downgrade);
        Inspected::one(move || {
            let queue = queue.upgrade()?;
            let election = election.as_ref().and_then(WeakElection::upgrade);
            Some(Part::Controller(Arc::new(Looked { queue, election })))
        })
    }
}

/// A controller that has not been run yet.
struct NotRunning {
    address: usize,
}

impl ControllerPart for NotRunning {
    fn identity(&self) -> usize {
        self.address
    }

    fn name(&self) -> String {
        "controller".to_owned()
    }

    fn status(&self) -> ControllerStatus<String> {
        ControllerStatus {
            name: self.name(),
            queued: 0,
            delayed: 0,
            adds: 0,
            retries: 0,
            workers: 0,
            working: Vec::new(),
            succeeded: 0,
            requeued: 0,
            failed: 0,
            panics: 0,
            given_up: 0,
            leads: None,
            stopped: false,
        }
    }

    fn measure(&self) -> QueueMeters {
        QueueMeters::default()
    }
}

impl Sealed for ControllerHandle {}

/// The controller with its informers and its election, as soon as it runs. Before that, it is one without
/// workers.
impl Inspect for ControllerHandle {
    fn inspected(&self) -> Inspected {
        let handle = self.downgrade();
        Inspected::new(move |parts| {
            let Some(running) = handle.upgrade() else {
                return false;
            };
            let Some(running) = running.get() else {
                let address = std::ptr::from_ref(&*running).addr();
                parts.push(Part::Controller(Arc::new(NotRunning { address })));
                return true;
            };
            parts.push(Part::Controller(Arc::new(Looked {
                queue: running.queue.clone(),
                election: running.election.clone(),
            })));
            running.each_informer(|informer| {
                informer.look(parts);
            });
            if let Some(election) = &running.election {
                election.inspected().look(parts);
            }
            true
        })
    }
}

impl ElectionPart for Election {
    fn identity(&self) -> usize {
        self.address()
    }

    fn name(&self) -> String {
        self.lease().to_string()
    }

    fn status(&self) -> ElectionStatus {
        Self::status(self)
    }
}

impl Sealed for Election {}

impl Inspect for Election {
    fn inspected(&self) -> Inspected {
        let election = self.downgrade();
        Inspected::one(move || Some(Part::Election(Arc::new(election.upgrade()?))))
    }
}
