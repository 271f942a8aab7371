//! An informer of any kind.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::{Inspect, Inspected, Part, sealed::Sealed};
use crate::engine::Engine;
#[cfg(feature = "ops")]
use crate::engine::Moment;
use crate::factory::SharedInformerFactory;
use crate::informer::Informer;
use crate::meters::InformerMeters;
use crate::shared::SharedInformer;
use crate::status::Status;

/// What can be asked of an informer, whatever it keeps.
pub(crate) trait InformerPart: Send + Sync {
    /// The same for all handles of an informer, and for no other.
    fn identity(&self) -> usize;

    /// The name of its target.
    fn name(&self) -> String;

    fn status(&self) -> Status;

    /// What is measured of it, from the first call on.
    fn measure(&self) -> InformerMeters;

    fn is_fresh(&self, within: Duration) -> bool;

    /// How many moments there have been, and those after the first `seen`, with their ages.
    #[cfg(feature = "ops")]
    fn timeline(&self, seen: u64) -> (u64, Vec<(Duration, Moment)>);

    /// Its objects, without their bodies.
    #[cfg(feature = "ops")]
    fn contents(self: Arc<Self>) -> Arc<dyn crate::ops::Contents>;
}

impl<K: Send + Sync + 'static> InformerPart for Engine<K> {
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    fn measure(&self) -> InformerMeters {
        self.lock().measure().clone()
    }

    fn is_fresh(&self, within: Duration) -> bool {
        Self::is_fresh(self, within)
    }

    #[cfg(feature = "ops")]
    fn timeline(&self, seen: u64) -> (u64, Vec<(Duration, Moment)>) {
        let (count, moments) = self.lock().timeline.after(seen);
        let now = self.clock.now();
        let aged = moments
            .into_iter()
            .map(|moment| (now.since(moment.at), moment));
        (count, aged.collect())
    }

    #[cfg(feature = "ops")]
    fn contents(self: Arc<Self>) -> Arc<dyn crate::ops::Contents> {
        Arc::new(crate::ops::Reading::closed(self))
    }
}

impl<K: Send + Sync + 'static> Sealed for SharedInformer<K> {}

impl<K: Send + Sync + 'static> Inspect for SharedInformer<K> {
    fn inspected(&self) -> Inspected {
        let engine: Weak<Engine<K>> = Arc::downgrade(self.engine());
        Inspected::one(move || Some(Part::Informer(engine.upgrade()?)))
    }
}

impl<K: Send + Sync + 'static> Sealed for Informer<K> {}

impl<K: Send + Sync + 'static> Inspect for Informer<K> {
    fn inspected(&self) -> Inspected {
        self.shared().inspected()
    }
}

impl<C> Sealed for SharedInformerFactory<C> {}

/// All informers of the factory, also those that it makes later.
impl<C> Inspect for SharedInformerFactory<C> {
    fn inspected(&self) -> Inspected {
        let informers = self.weak_informers();
        Inspected::new(move |parts| {
            let all = informers();
            for informer in &all {
                informer.look(parts);
            }
            true
        })
    }
}
