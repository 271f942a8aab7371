//! The part of a source that the core does not know: its target, its driver and what was told of it.

use std::mem;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use informer_core::informer::{AddSourceError, Counts};
use informer_core::reflector::{History, Phase};
use informer_core::transport::Target;
use informer_core::{Instant, SourceId};

use super::{Decoder, Engine, Namespaces, State};
use crate::error::{BuildError, StartError};
use crate::runtime::{RuntimeError, Task};
use crate::status::SourceStatus;

/// A target that the informer follows, over a connection of its own.
pub(super) struct Source {
    /// The target as text, behind its cluster if that has a name.
    pub(super) name: Arc<str>,
    cluster: String,
    pub(super) target: Target,
    pub(super) driver: Option<Waker>,
    /// Set while the driver waits: until when, if there is a time.
    pub(super) waits_until: Option<Option<Instant>>,
    /// Whether a listener held up what the driver last offered.
    pub(super) stalled: bool,
    /// Whether the phase or the failures may differ from what the driver saw.
    pub(super) turned: bool,
    pub(super) told: Told,
    pub(super) phase_since: Option<Instant>,
}

/// The facts of a source that were last told.
#[derive(Clone, Copy, PartialEq, Default)]
pub(super) struct Told {
    pub(super) phase: Option<mem::Discriminant<Phase>>,
    pub(super) failures: u64,
    pub(super) full_states: u64,
    pub(super) gone: bool,
}

/// What sources have done that were removed. Counters must not go back.
#[derive(Default)]
pub(crate) struct Removed {
    counts: Counts,
    requests: History,
}

impl<K: Send + Sync + 'static> Engine<K> {
    /// Adds a source. Somebody must drive it.
    pub(crate) fn add_source(
        &self,
        cluster: &str,
        target: Target,
        decoder: Decoder<K>,
    ) -> Result<SourceId, BuildError> {
        let now = self.clock.now();
        self.update(|state| {
            let added = state.core.add_source(decoder, now);
            let id = added.map_err(|error| match (error, state.end()) {
                (AddSourceError::Stopped, Some(reason)) => BuildError::from(self.ended(reason)),
                (error, _) => BuildError::Source(error),
            })?;
            state.sources.insert(id, Source::new(cluster, target));
            Ok(id)
        })
    }

    /// Removes a source and returns whether there was one.
    pub(crate) fn remove_source(&self, id: SourceId) -> bool {
        let now = self.clock.now();
        self.update(|state| {
            let last = state.core.source_status(id).map(|it| it.counts);
            let requests = state.core.reflector(id).map(|it| *it.history());
            let removed = state.core.remove_source(id, now);
            if removed && let (Some(last), Some(requests)) = (last, requests) {
                state.removed.counts += &last;
                state.removed.requests += &requests;
            }
            // If it had nothing to end, it is gone now.
            state.core.advance(now);
            state.touch();
            state.publish();
            let source = state.sources.get_mut(&id);
            let driver = source.and_then(|it| it.driver.take());
            state.woken.extend(driver);
            removed
        })
    }

    /// From now on, an informer on `namespaces` decides which sources there are. Until it has done so, the
    /// sources so far are not all yet.
    pub(crate) fn follow(&self, namespaces: Arc<Namespaces>) {
        let now = self.clock.now();
        self.update(|state| {
            state.namespaces.push(namespaces);
            state.undecided += 1;
            state.core.expect_sources(true, now);
            state.touch();
        });
    }

    /// The informer on `namespaces` has decided, for the first time.
    pub(crate) fn decided(&self) {
        let now = self.clock.now();
        self.update(|state| {
            state.undecided -= 1;
            state.core.expect_sources(state.undecided > 0, now);
            state.touch();
        });
    }

    /// Whether the cache follows the server, and so do those that decide on its sources.
    pub(crate) fn is_fresh(&self, within: Duration) -> bool {
        let now = self.clock.now();
        let (fresh, namespaces) = {
            let state = self.lock();
            (state.core.is_fresh(within, now), state.namespaces.clone())
        };
        fresh && namespaces.iter().all(|it| it.is_fresh(within))
    }

    /// Starts the informer with these drivers.
    pub(crate) fn start(self: &Arc<Self>, drivers: Vec<Task>) -> Result<(), StartError> {
        let now = self.clock.now();
        self.update(|state| {
            state.core.start(now);
            state.started = true;
            state.driver_wanted = true;
        });
        drivers
            .into_iter()
            .try_for_each(|driver| self.drive(driver))
    }

    /// Runs a driver. Without it, the informer cannot go on.
    pub(crate) fn drive(self: &Arc<Self>, driver: Task) -> Result<(), StartError> {
        match self.spawn(driver) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.lose(error.clone());
                Err(StartError::Runtime(error))
            }
        }
    }

    /// The driver of a source was dropped before it had ended.
    pub(crate) fn lose_driver(&self, id: SourceId) {
        let was_needed = {
            let state = self.lock();
            let source = state.core.source_status(id);
            !state.core.is_stopped() && source.is_some_and(|it| !it.leaving)
        };
        if was_needed {
            self.lose(RuntimeError::ended());
        }
    }
}

impl Source {
    fn new(cluster: &str, target: Target) -> Self {
        let name = match cluster {
            "" => target.to_string(),
            cluster => format!("{cluster}: {target}"),
        };
        Self {
            name: name.into(),
            cluster: cluster.to_owned(),
            target,
            driver: None,
            waits_until: None,
            stalled: false,
            turned: false,
            // That it has not begun is no news.
            told: Told {
                phase: Some(mem::discriminant(&Phase::Idle)),
                ..Told::default()
            },
            phase_since: None,
        }
    }
}

impl<K: Send + Sync + 'static> State<K> {
    /// Whether a driver is at work, so that it will look at this state again soon.
    pub(super) fn is_driven(&self) -> bool {
        let mut sources = self.sources.values();
        sources.any(|source| source.waits_until.is_none())
    }

    /// A handler has made room.
    pub(super) fn unstall(&mut self) {
        let Self { sources, woken, .. } = self;
        for source in sources.values_mut().filter(|it| it.stalled) {
            source.stalled = false;
            woken.extend(source.driver.take());
        }
    }

    /// The wakers of all drivers, or of those that would wake too late.
    pub(super) fn drivers_to_wake(&mut self, all: bool) -> Vec<Waker> {
        let Self { core, sources, .. } = self;
        let mut woken = Vec::new();
        for (id, source) in sources {
            let early = || {
                let until = source.waits_until?;
                let next = core.next_deadline_of(*id)?;
                until.is_none_or(|until| next < until).then_some(())
            };
            if all || early().is_some() {
                woken.extend(source.driver.take());
            }
        }
        woken
    }

    /// Forgets sources that the core has forgotten, so that their drivers end.
    pub(super) fn forget_sources(&mut self) {
        let Self { core, sources, .. } = self;
        let mut woken = Vec::new();
        sources.retain(|id, source| {
            let stays = core.source_status(*id).is_some();
            if !stays {
                woken.extend(source.driver.take());
            }
            stays
        });
        self.woken.extend(woken);
    }

    /// The name of a source, for logs. It is left out where there is only one.
    pub(super) fn label(&self, id: SourceId) -> Option<Arc<str>> {
        let several = self.sources.len() > 1;
        let source = self.sources.get(&id).filter(|_| several)?;
        Some(Arc::clone(&source.name))
    }

    /// What is to be told of a source now.
    pub(super) fn facts(&self, id: SourceId) -> Told {
        let Some(reflector) = self.core.reflector(id) else {
            return Told::default();
        };
        Told {
            phase: Some(mem::discriminant(&reflector.phase())),
            failures: reflector.failures(),
            full_states: reflector.full_states(),
            gone: reflector.is_gone(),
        }
    }

    /// The counters of all sources, also of those that were removed.
    pub(crate) fn counts(&self, sources: &[SourceStatus]) -> Counts {
        let mut counts = self.removed.counts;
        let staying = sources.iter().filter(|it| !it.leaving);
        staying.for_each(|source| counts += &source.counts);
        counts.suppressed = self.core.status().counts.suppressed;
        counts
    }

    /// What was asked of the server for all sources, also for those that were removed.
    pub(crate) fn requests(&self, sources: &[SourceStatus]) -> History {
        let mut requests = self.removed.requests;
        let staying = sources.iter().filter(|it| !it.leaving);
        staying.for_each(|source| requests += &source.requests);
        requests
    }

    pub(crate) fn source_statuses(&self, now: Instant) -> Vec<SourceStatus> {
        let age = |at: Option<Instant>| at.map(|at| now.since(at));
        let sources = self.sources.iter();
        let statuses = sources.filter_map(|(id, source)| {
            let status = self.core.source_status(*id)?;
            Some(SourceStatus {
                id: *id,
                name: source.name.to_string(),
                cluster: source.cluster.clone(),
                target: source.target.clone(),
                phase: status.phase,
                phase_for: age(source.phase_since).unwrap_or_default(),
                synced: status.synced,
                following: status.following,
                gone: status.gone,
                leaving: status.leaving,
                version: status.version.map(str::to_owned),
                unswept: status.unswept,
                last_failure: status.last_failure.cloned(),
                last_byte: age(status.last_byte),
                last_event: age(status.last_event),
                last_bookmark: age(status.last_bookmark),
                counts: status.counts,
                requests: self.core.reflector(*id).map(|it| *it.history())?,
            })
        });
        statuses.collect()
    }
}
