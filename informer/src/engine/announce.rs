//! Wake-ups, log events and reports after a change.

use std::mem;
use std::task::Waker;
use std::time::Duration;

use informer_core::reflector::{Phase, Reflector};
use informer_core::{Clock, Instant, SourceId};

use super::State;
use crate::hooks::Report;
use crate::log::Log;
use crate::sparing::Say;

/// The facts that waiting tasks were last woken for.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Announced {
    phase: Option<mem::Discriminant<Phase>>,
    synced: bool,
    failures: u64,
    full_states: u64,
    tasks: usize,
    listeners_synced: usize,
    /// A listener may lack only held-up notifications to be synced, so this is a reason to wake.
    stalled: bool,
    started: bool,
    broken: bool,
    lost: usize,
    gone: bool,
    /// How many handlers are paused.
    paused: usize,
}

impl<K: Send + Sync + 'static> State<K> {
    /// Collects wakers, log events and reports. The caller wakes and logs after it releases the lock.
    pub(super) fn announce(&mut self, clock: &dyn Clock) -> Vec<Waker> {
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
                woken.extend(listener.waker.take());
            }
        }
        if mem::take(&mut self.driver_wanted) {
            woken.extend(self.driver.take());
        }
        if !self.version_waiting.is_empty() {
            self.publish();
            woken.extend(self.version_waiting.take());
        }
        let announced = self.announcement();
        if announced != self.announced {
            self.tell(&announced, clock.now());
            self.announced = announced;
            self.turned = true;
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
        let reflector = self.core.reflector(SourceId::FIRST);
        Announced {
            phase: reflector.map(|reflector| mem::discriminant(&reflector.phase())),
            synced: self.core.is_synced(),
            failures: reflector.map_or(0, Reflector::failures),
            full_states: reflector.map_or(0, Reflector::full_states),
            tasks: self.tasks,
            listeners_synced: self.listeners_synced,
            stalled: self.core.is_stalled(),
            started: self.started,
            broken: self.broken.is_some(),
            lost: self.listeners_lost,
            gone: reflector.is_gone(),
            paused: self.listeners_paused,
        }
    }

    fn tell(&mut self, announced: &Announced, now: Instant) {
        if announced.synced && !self.announced.synced {
            // A task that sees "synced" must find the objects in the cache.
            self.publish();
        }
        if announced.full_states != self.announced.full_states {
            self.measure_state();
        }
        let status = self.core.status();
        if announced.failures != self.announced.failures
            && let Some(last) = status.last_failure
        {
            self.timeline.fail(last.clone());
            self.logs.push(Log::Failed(last.clone()));
            self.reports.push(Report::Failed(last.clone()));
        }
        if announced.gone != self.announced.gone && !self.core.is_stopped() {
            let next_try = match status.phase {
                Phase::Waiting { until, .. } => until.since(now),
                _ => Duration::ZERO,
            };
            self.logs.push(Log::Gone {
                is_gone: announced.gone,
                objects: status.objects,
                next_try,
            });
        }
        if announced.phase != self.announced.phase {
            self.timeline.enter(status.phase, now);
            self.logs.push(Log::Phase {
                phase: status.phase,
                version: status.version.unwrap_or_default().to_owned(),
            });
        }
        if announced.synced && !self.announced.synced {
            self.logs.push(Log::Synced {
                objects: status.objects,
            });
        }
    }
}
