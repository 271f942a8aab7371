//! The informers of a factory.

use std::any::Any;
use std::time::Duration;

use informer_core::Object;
use informer_core::indexer::IndexFn;

use super::conflict::{NotShared, SettingConflict};
use super::waiting::Waiting;
use crate::builder::{Identity, Likeness, Settings};
use crate::error::{BuildError, NotSynced, StartError};
use crate::indices;
#[cfg(feature = "metrics")]
use crate::inspect::{Inspect, Inspected};
use crate::shared::SharedInformer;
use crate::status::Status;

/// The informers of a factory, in the order of their targets.
#[derive(Default)]
pub(super) struct Members {
    members: Vec<Member>,
    pub(super) started: bool,
}

pub(super) struct Member {
    pub(super) identity: Identity,
    /// `Settings<K>`, where `K` is the body of the form in the identity.
    settings: Box<dyn Any + Send + Sync>,
    /// `SharedInformer<K>`.
    pub(super) informer: Box<dyn AnyInformer>,
}

/// The informer for a request, and where the request contradicts it.
pub(super) struct Found<K: Send + Sync + 'static> {
    informer: SharedInformer<K>,
    conflicts: Vec<SettingConflict>,
}

impl Members {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// A handle of each informer. Informers with a handle are used, so they are not let go meanwhile.
    pub(super) fn handles(&self) -> Vec<Box<dyn AnyInformer>> {
        self.iter().map(|member| member.informer.handle()).collect()
    }

    /// The informer for a request, if there is one that has not ended.
    pub(super) fn find<K: Send + Sync + 'static>(
        &self,
        identity: &Identity,
        requested: &Settings<K>,
    ) -> Option<Found<K>> {
        let mut members = self.iter().filter(|it| it.identity == *identity);
        members.find_map(|member| {
            let (running, informer) = member.parts::<K>()?;
            // If it is unclear, too, there cannot be another one that is the same: one of the two would
            // have been refused.
            let other = running.likeness_of_forms(requested) == Likeness::Different;
            (!other && !informer.is_stopped()).then(|| Found {
                informer: informer.clone(),
                conflicts: running.conflicts(requested),
            })
        })
    }

    /// Adds an informer, unless another thread has added one for the same request. Returns the one that is
    /// there now, and ended ones that it replaces.
    pub(super) fn add<K: Send + Sync + 'static>(
        &mut self,
        identity: Identity,
        settings: Settings<K>,
        made: &SharedInformer<K>,
    ) -> (Found<K>, Vec<Member>) {
        if let Some(found) = self.find(&identity, &settings) {
            return (found, Vec::new());
        }
        let replaced = self
            .members
            .extract_if(.., |it| it.identity == identity && it.informer.is_stopped());
        let replaced = replaced.collect();
        let at = self.members.partition_point(|it| it.identity <= identity);
        let member = Member {
            identity,
            settings: Box::new(settings),
            informer: Box::new(made.clone()),
        };
        self.members.insert(at, member);
        let found = Found {
            informer: made.clone(),
            conflicts: Vec::new(),
        };
        (found, replaced)
    }

    /// Takes an informer out.
    pub(super) fn take<K: Send + Sync + 'static>(
        &mut self,
        informer: &SharedInformer<K>,
    ) -> Vec<Member> {
        let is_it = |it: &mut Member| {
            let same = it.informer.any().downcast_ref::<SharedInformer<K>>();
            same.is_some_and(|it| it.is_same(informer))
        };
        self.members.extract_if(.., is_it).collect()
    }

    /// Takes the informers out that nobody uses. Nobody can get hold of them again: that takes a handle, or
    /// the factory, which is locked.
    pub(super) fn take_unused(&mut self) -> Vec<Member> {
        let unused = |it: &mut Member| !it.informer.is_used_elsewhere();
        self.members.extract_if(.., unused).collect()
    }
}

impl Member {
    fn parts<K: Send + Sync + 'static>(&self) -> Option<(&Settings<K>, &SharedInformer<K>)> {
        let settings = self.settings.downcast_ref()?;
        Some((settings, self.informer.any().downcast_ref()?))
    }
}

impl<K: Send + Sync + 'static> Found<K> {
    /// The informer, with these indices, if nothing contradicts the request.
    pub(super) fn share(
        self,
        asked: &[(String, IndexFn<Object<K>>)],
    ) -> Result<SharedInformer<K>, BuildError> {
        let Self {
            informer,
            mut conflicts,
        } = self;
        if conflicts.is_empty() {
            conflicts = informer.add_missing_indices(asked)?;
        } else {
            conflicts.extend(indices::conflicts(&informer.snapshot(), asked));
        }
        if conflicts.is_empty() {
            return Ok(informer);
        }
        Err(BuildError::NotShared(NotShared {
            name: informer.engine().name.clone(),
            conflicts,
        }))
    }
}

/// An informer of any kind.
pub(super) trait AnyInformer: Send + Sync {
    fn any(&self) -> &dyn Any;
    /// Another handle of it.
    fn handle(&self) -> Box<dyn AnyInformer>;
    fn start(&self) -> Result<(), StartError>;
    fn stop(&self);
    fn is_stopped(&self) -> bool;
    fn is_used_elsewhere(&self) -> bool;
    fn status(&self) -> Status;
    #[cfg(feature = "metrics")]
    fn inspected(&self) -> Inspected;
    fn synced(&self, timeout: Duration) -> Waiting<Result<(), NotSynced>>;
    fn join(&self) -> Waiting<()>;
}

impl<K: Send + Sync + 'static> AnyInformer for SharedInformer<K> {
    fn any(&self) -> &dyn Any {
        self
    }

    fn handle(&self) -> Box<dyn AnyInformer> {
        Box::new(self.clone())
    }

    fn start(&self) -> Result<(), StartError> {
        Self::start(self)
    }

    fn stop(&self) {
        Self::stop(self);
    }

    fn is_stopped(&self) -> bool {
        Self::is_stopped(self)
    }

    fn is_used_elsewhere(&self) -> bool {
        Self::is_used_elsewhere(self)
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    #[cfg(feature = "metrics")]
    fn inspected(&self) -> Inspected {
        Inspect::inspected(self)
    }

    fn synced(&self, timeout: Duration) -> Waiting<Result<(), NotSynced>> {
        let informer = self.clone();
        Box::pin(async move {
            if !informer.is_started() {
                return Err(NotSynced::of(informer.status(), Duration::ZERO));
            }
            Self::synced(&informer, timeout).await
        })
    }

    fn join(&self) -> Waiting<()> {
        let informer = self.clone();
        Box::pin(async move { Self::join(&informer).await })
    }
}
