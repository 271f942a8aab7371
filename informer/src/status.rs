//! How an informer is doing, for people, probes and hooks.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use informer_core::informer::{Counts, RejectedObject};
use informer_core::processor::ListenerStatus;
use informer_core::reflector::{LastFailure, Phase};
use informer_core::{Instant, ObjectKey};

use crate::engine::State;
use crate::handler::Progress;
use crate::panics::panic_text;
use crate::runtime::RuntimeError;
use crate::words::{counted, roughly};

/// How an informer is doing, at one moment.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// What it follows: resource, namespace, selectors.
    pub name: String,
    /// Whether it was started.
    pub started: bool,
    /// What it is doing, and if it waits, why and until when.
    pub phase: Phase,
    /// Whether the first full state is in the store. It never turns back.
    pub synced: bool,
    /// Whether the changes reach it now: a watch has been answered, and nothing has failed since.
    pub following: bool,
    /// The version up to which the server has reported everything; `None` before the first full state.
    pub version: Option<String>,
    /// Objects in the store.
    pub objects: usize,
    /// Changes between the server and the store.
    pub queued: usize,
    /// Whether a handler holds up everything, by its policy.
    pub stalled: bool,
    /// Whether the newest full state contained an object that could not even be named, so that nothing
    /// was deleted.
    pub unswept: bool,
    /// The failure that happened last, with what the server or the transport said.
    pub last_failure: Option<LastFailure<String>>,
    /// How long ago the last byte came.
    pub last_byte: Option<Duration>,
    /// How long ago the last event or object came.
    pub last_event: Option<Duration>,
    /// How long ago the last bookmark came.
    pub last_bookmark: Option<Duration>,
    /// Counters since the start.
    pub counts: Counts,
    /// One for each handler.
    pub handlers: Vec<HandlerStatus>,
    /// A decoder, transform or index function panicked, and that ended the informer.
    pub panic: Option<String>,
    /// The informer has ended because its task was lost: why.
    pub lost: Option<RuntimeError>,
}

/// What ends an informer with a panic.
pub(crate) const PANICKED: &str = "a decoder, transform or index function panicked";

impl Status {
    pub(crate) fn of<K: Send + Sync + 'static>(name: &str, state: &State<K>, now: Instant) -> Self {
        let status = state.core.status();
        let age = |at: Option<Instant>| at.map(|at| now.since(at));
        Self {
            name: name.to_owned(),
            started: state.started,
            phase: status.phase,
            synced: status.synced,
            following: status.following,
            version: status.version.map(str::to_owned),
            objects: status.objects,
            queued: status.queued,
            stalled: status.stalled,
            unswept: status.unswept,
            last_failure: status.last_failure.cloned(),
            last_byte: age(status.last_byte),
            last_event: age(status.last_event),
            last_bookmark: age(status.last_bookmark),
            counts: status.counts,
            handlers: state.handlers(now),
            panic: state.broken.clone(),
            lost: state.lost.clone(),
        }
    }

    /// Whether something is different that one would act on.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        let what = |status: &Self| {
            let count = |which: fn(&HandlerStatus) -> bool| {
                status.handlers.iter().filter(|it| which(it)).count()
            };
            let handlers = (count(|it| it.synced), count(|it| it.lost));
            let phase = std::mem::discriminant(&status.phase);
            let counts = (status.counts.failures, status.counts.full_states);
            (
                phase,
                status.started,
                status.synced,
                counts,
                handlers,
                status.panic.is_some(),
            )
        };
        what(self) != what(other)
    }

    /// Why it has not come further, in words.
    pub(crate) fn reason(&self) -> String {
        let failure = self.last_failure.as_ref().map(|last| {
            let Self { counts, .. } = self;
            let message = if last.message.is_empty() {
                String::new()
            } else {
                format!(" ({})", last.message)
            };
            let failures = counted(counts.failures, "failure");
            format!("; {failures}, the last: {}{message}", last.failure)
        });
        let failure = failure.unwrap_or_default();
        let held_up = self.held_up().unwrap_or_default();
        if let Some(panic) = &self.panic {
            return format!("{PANICKED}: {panic}");
        }
        if let Some(lost) = &self.lost {
            return format!("{lost}; make a new informer, on a runtime that outlives it");
        }
        match self.phase {
            _ if !self.started => "it was not started; call `start`".to_owned(),
            Phase::Stopped => format!("it was stopped{failure}"),
            Phase::Waiting { cause, .. } => {
                let message = self.last_failure.as_ref().map_or("", |last| &last.message);
                let message = if message.is_empty() {
                    String::new()
                } else {
                    format!(" ({message})")
                };
                let times = counted(self.counts.failures, "time");
                format!("{cause}{message}; tried {times} so far")
            }
            Phase::Listing { items: 0, .. } | Phase::Streaming { items: 0 } | Phase::Idle => {
                format!("the server has not answered yet{failure}")
            }
            Phase::Listing { items, remaining } => {
                let left = remaining.map_or(String::new(), |left| format!(", {left} to come"));
                let listed = counted(items, "object");
                format!("{listed} listed so far{left}{held_up}{failure}")
            }
            Phase::Streaming { items } => {
                let received = counted(items, "object");
                format!("{received} received so far{held_up}{failure}")
            }
            Phase::Watching if !self.following => {
                format!("the watch has not been answered yet{failure}")
            }
            Phase::Watching if self.synced && !self.stalled => {
                format!("it follows the server, which has told nothing newer{failure}")
            }
            Phase::Watching => format!("the state is being applied{held_up}{failure}"),
        }
    }

    /// That a handler holds it up, and whether that is because a call does not return.
    fn held_up(&self) -> Option<String> {
        let stalls = self.handlers.iter().filter(|handler| handler.stalls);
        let in_call = stalls.map(|handler| handler.in_call).max()?;
        let why = in_call.map_or_else(
            || "it has not taken its notifications".to_owned(),
            |time| format!("its present call has not returned for {}", roughly(time)),
        );
        let held_up = || format!("; a handler with `Backlog::Stall` holds it up: {why}");
        self.stalled.then(held_up)
    }
}

/// How a handler is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HandlerStatus {
    /// Notifications that it has not dealt with: its lag. The one of its present call is one of them.
    pub pending: usize,
    /// Notifications that it has dealt with: its calls that have returned, or what a stream has handed out.
    pub delivered: u64,
    /// Notifications that were merged away because it did not keep up.
    pub coalesced: u64,
    /// Whether it has dealt with its initial state.
    pub synced: bool,
    /// How often it panicked.
    pub panics: u64,
    /// Whether it holds up everybody, by `Backlog::Stall`.
    pub stalls: bool,
    /// For how long its present call has not returned; `None` between calls, and for a stream. A call that
    /// does not return holds up this handler, and by `Backlog::Stall` everybody.
    pub in_call: Option<Duration>,
    /// Whether its task was lost, because its runtime has ended: it is told nothing more.
    pub lost: bool,
}

impl HandlerStatus {
    /// For the core, what was taken counts as delivered.
    pub(crate) fn of(core: ListenerStatus, progress: &Progress, now: Instant) -> Self {
        let taken = progress.taken();
        Self {
            pending: core.pending + taken,
            delivered: core.delivered.saturating_sub(taken as u64),
            coalesced: core.coalesced,
            synced: core.synced,
            panics: 0,
            stalls: core.stalls,
            in_call: progress.in_call(now),
            lost: false,
        }
    }
}

/// Something that went wrong, for hooks.
pub(crate) enum Report {
    Failed(LastFailure<String>),
    Rejected(RejectedObject<ObjectKey, String>),
}

type FailureHook = dyn Fn(&LastFailure<String>) + Send + Sync;
type RejectedHook = dyn Fn(&RejectedObject<ObjectKey, String>) + Send + Sync;

/// What the user wants to be told beside the notifications.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) on_failure: Option<Arc<FailureHook>>,
    pub(crate) on_rejected: Option<Arc<RejectedHook>>,
}

impl Hooks {
    /// Tells the user. A hook that panics harms nobody; what it said is given to `panicked`.
    pub(crate) fn call(&self, reports: Vec<Report>, mut panicked: impl FnMut(String)) {
        for report in reports {
            let told = catch_unwind(AssertUnwindSafe(|| match (report, self) {
                (
                    Report::Failed(failure),
                    Self {
                        on_failure: Some(hook),
                        ..
                    },
                ) => hook(&failure),
                (
                    Report::Rejected(object),
                    Self {
                        on_rejected: Some(hook),
                        ..
                    },
                ) => hook(&object),
                _ => {}
            }));
            if let Err(panic) = told {
                panicked(panic_text(&*panic));
            }
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("on_failure", &self.on_failure.is_some())
            .field("on_rejected", &self.on_rejected.is_some())
            .finish()
    }
}
