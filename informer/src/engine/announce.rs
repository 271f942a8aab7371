//! Wake-ups, log events and reports after a change.

use std::mem;
use std::task::Waker;
use std::time::Duration;

use informer_core::reflector::Phase;
use informer_core::{Clock, Instant, SourceId};

use super::State;
use super::sources::Told;
use crate::hooks::Report;
use crate::log::Log;
use crate::sparing::Say;

/// The facts that waiting tasks were last woken for.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Announced {
    synced: bool,
    tasks: usize,
    listeners_synced: usize,
    /// A listener may lack only held-up notifications to be synced, so this is a reason to wake.
    stalled: bool,
    started: bool,
    stopped: bool,
    broken: bool,
    lost: usize,
    sources: usize,
    /// How many handlers are paused.
    paused: usize,
}

impl<K: Send + Sync + 'static> State<K> {
    /// Collects wakers, those of handlers apart, log events and reports. The caller wakes and logs after it releases
    /// the lock.
    pub(super) fn announce(&mut self, clock: &dyn Clock, handlers: &mut Vec<Waker>) -> Vec<Waker> {
        let mut woken = mem::take(&mut self.woken);
        let mut now = None;
        let arrived = self.arrived.take();
        while let Some(id) = self.core.poll_ready_listener() {
            if let Some(listener) = self.listeners.get_mut(&id) {
                let now = *now.get_or_insert_with(|| clock.now());
                listener.busy_since.get_or_insert(now);
                if self.meters.is_some() && !listener.looks_on {
                    let since = arrived.unwrap_or(now);
                    listener.ready_since.get_or_insert(since);
                }
                handlers.extend(listener.waker.take());
            }
        }
        if self.core.sources().count() < self.sources.len() {
            self.forget_sources();
            woken.append(&mut self.woken);
        }
        let all = mem::take(&mut self.driver_wanted);
        woken.append(&mut self.drivers_to_wake(all));
        if !self.version_waiting.is_empty() {
            self.publish();
            woken.extend(self.version_waiting.take());
        }
        let announced = self.announcement();
        let turned = self.turned_sources();
        if self.announced.stalled && !announced.stalled {
            // What held up a driver may have been the walk of another source.
            self.unstall();
            woken.append(&mut self.woken);
        }
        if announced != self.announced || !turned.is_empty() {
            self.tell(&announced, turned, clock.now());
            self.announced = announced;
            woken.extend(self.status_waiting.take());
        }
        while let Some(rejected) = self.core.poll_rejected() {
            if let Some(Say { not_logged }) = self.rejections.say(clock.now()) {
                self.logs.push(Log::Rejected {
                    object: rejected.clone(),
                    not_logged,
                });
            }
            self.reports.push(Report::Rejected(rejected));
        }
        woken
    }

    /// Cheaper than the whole status, because it runs on every change.
    fn announcement(&self) -> Announced {
        Announced {
            synced: self.core.is_synced(),
            tasks: self.tasks,
            listeners_synced: self.listeners_synced,
            stalled: self.core.is_stalled(),
            started: self.started,
            stopped: self.core.is_stopped(),
            broken: self.broken.is_some(),
            lost: self.listeners_lost,
            sources: self.sources.len(),
            paused: self.listeners_paused,
        }
    }

    /// The sources of which there is something to tell, in the order of their additions.
    fn turned_sources(&self) -> Vec<(SourceId, Told)> {
        let all = self.sources.iter();
        let facts = all.map(|(id, source)| (*id, source.told, self.facts(*id)));
        facts
            .filter(|(_, told, facts)| told != facts)
            .map(|(id, _, facts)| (id, facts))
            .collect()
    }

    fn tell(&mut self, announced: &Announced, turned: Vec<(SourceId, Told)>, now: Instant) {
        let synced = announced.synced && !self.announced.synced;
        if synced {
            // A task that sees "synced" must find the objects in the cache.
            self.publish();
        }
        for (id, facts) in turned {
            self.tell_of(id, facts, now);
        }
        if synced {
            self.logs.push(Log::Synced {
                objects: self.core.store().len(),
            });
        }
    }

    fn tell_of(&mut self, id: SourceId, facts: Told, now: Instant) {
        let label = self.label(id);
        let (Some(source), Some(status)) = (self.sources.get_mut(&id), self.core.source_status(id))
        else {
            return;
        };
        source.turned = true;
        let told = mem::replace(&mut source.told, facts);
        if facts.failures != told.failures
            && let Some(last) = status.last_failure
        {
            self.timeline.fail(&source.name, last.clone());
            self.logs.push(Log::Failed {
                last: last.clone(),
                source: label.clone(),
            });
            self.reports.push(Report::Failed(last.clone()));
        }
        if facts.gone != told.gone && !self.core.is_stopped() {
            let next_try = match status.phase {
                Phase::Waiting { until, .. } => until.since(now),
                _ => Duration::ZERO,
            };
            self.logs.push(Log::Gone {
                is_gone: facts.gone,
                objects: self.core.store().len(),
                next_try,
                source: label.clone(),
            });
        }
        if facts.phase != told.phase {
            source.phase_since = Some(now);
            self.timeline.enter(&source.name, status.phase, now);
            self.logs.push(Log::Phase {
                phase: status.phase,
                version: status.version.unwrap_or_default().to_owned(),
                source: label,
            });
        }
        if facts.full_states != told.full_states {
            self.measure_state(id);
        }
    }
}
