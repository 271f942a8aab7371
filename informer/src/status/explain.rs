//! A status in words: one line, a reason for errors, and sentences that explain it.

use std::fmt;
use std::time::Duration;

use informer_core::reflector::{LastFailure, Phase};

use super::{HandlerStatus, Status};
use crate::words::{counted, roughly};

/// Says which user code can end an informer with a panic.
pub(crate) const PANICKED: &str = "a decoder, transform, index function or transport panicked";

/// Why an informer has ended that nobody stopped.
pub(crate) const DROPPED: &str = "its last handle was dropped; keep a handle or a lister of it";

/// Why an informer has ended by itself.
pub(crate) const GONE: &str =
    "the server does not serve its kind, and it was told to stop then (`WhenGone::Stop`)";

/// What to do after a runtime has ended.
pub(crate) const NEW_RUNTIME: &str = "build a new informer on a runtime that outlives it";

impl Status {
    /// Why the informer has not got further, for error messages.
    pub(crate) fn reason(&self) -> String {
        if let Some(reason) = self.reason_of_sources() {
            return reason;
        }
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
            return format!("{lost}; {NEW_RUNTIME}");
        }
        match self.phase {
            _ if !self.started => "it was not started; call `start`".to_owned(),
            Phase::Stopped if self.dropped => format!("{DROPPED}{failure}"),
            Phase::Stopped if self.gone => format!("{GONE}{failure}"),
            Phase::Stopped => format!("it was stopped{failure}"),
            Phase::Suspended => "it is suspended; call `resume`".to_owned(),
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
                format!("the server has not answered the watch yet{failure}")
            }
            Phase::Watching if self.synced && !self.stalled => {
                format!("it is watching, and the server has sent nothing newer{failure}")
            }
            Phase::Watching => {
                format!("received changes are not in the cache yet{held_up}{failure}")
            }
        }
    }

    /// Which source has not got further, and why, if there are several.
    fn reason_of_sources(&self) -> Option<String> {
        if !self.started || self.phase == Phase::Stopped {
            return None;
        }
        let unsynced = self.namespaces.iter().filter(|it| !it.synced);
        let unsynced = unsynced.map(|it| (&it.name, it.reason()));
        let behind = self.behind().into_iter();
        let behind = behind.map(|it| (&it.name, self.of_source(it).reason()));
        let mut all = unsynced.chain(behind);
        let (name, reason) = all.next()?;
        Some(match all.count() {
            0 => format!("{name}: {reason}"),
            more => format!(
                "{name}: {reason}; and {}",
                counted(more as u64, "more source")
            ),
        })
    }

    /// Explains the status in sentences, the most important first: what the informer does and for how long,
    /// what it waits for, what failed last, what happens next, and which handlers lag.
    ///
    /// ```
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let target = informer::Target::new("", "v1", "pods");
    /// # let pods = informer::InformerBuilder::lean_at(target)
    /// #     .build(&server.connect(), informer::runtime::Tokio::current()?)?;
    /// // `pods` was built, but not started.
    /// assert_eq!(pods.status().explain(), ["It was not started: call `start`."]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        if !self.started && self.phase == Phase::Idle {
            return vec!["It was not started: call `start`.".to_owned()];
        }
        let mut sentences = self.explain_sources();
        if sentences.is_empty() {
            sentences.push(self.explain_phase());
        }
        sentences.extend(self.explain_cache());
        if self.following || self.sources.len() < 2 {
            sentences.extend(self.explain_failure());
        }
        if self.stalled {
            let why = self.held_up().unwrap_or_default();
            let why = why.trim_start_matches("; ");
            sentences.push(format!("Received changes wait: {why}."));
        }
        if self.unswept {
            sentences.push(
                "The last full state had an object without a readable name, so nothing was deleted: objects \
                 that are gone may still be in the cache."
                    .to_owned(),
            );
        }
        if self.counts.rejected > 0 {
            let rejected = counted(self.counts.rejected, "object");
            sentences.push(format!(
                "{rejected} could not be used; the log names them, with the reason."
            ));
        }
        let handlers = self.handlers.iter().filter(|it| !it.looks_on);
        sentences.extend(handlers.filter_map(HandlerStatus::explain));
        sentences
    }

    /// How many sources follow the server, and what the others are doing. Nothing if there is only one.
    fn explain_sources(&self) -> Vec<String> {
        let staying = self.sources.iter().filter(|it| !it.leaving);
        let (all, leaving) = (staying.count(), self.sources.iter().filter(|it| it.leaving));
        let only = self.sources.len() == 1 && self.namespaces.is_empty();
        if only || matches!(self.phase, Phase::Stopped | Phase::Suspended) {
            return Vec::new();
        }
        let following = self.sources.iter().filter(|it| !it.leaving && it.following);
        let mut sentences = vec![match all {
            0 => "It has no source, so it follows nothing.".to_owned(),
            _ => format!(
                "{} of {} follow the server.",
                following.count(),
                counted(all as u64, "source")
            ),
        }];
        let behind = self
            .sources
            .iter()
            .filter(|it| !it.leaving && !(it.synced && it.following));
        sentences.extend(behind.map(|it| {
            let status = self.of_source(it);
            let failure = status
                .explain_failure()
                .map_or(String::new(), |it| format!(" {it}"));
            format!("{}: {}{failure}", it.name, status.explain_phase())
        }));
        sentences.extend(leaving.map(|it| {
            format!(
                "{}: It was removed, and its objects are being deleted.",
                it.name
            )
        }));
        let namespaces = self
            .namespaces
            .iter()
            .filter(|it| !(it.synced && it.following));
        sentences.extend(namespaces.map(|it| format!("{}: {}", it.name, it.explain().join(" "))));
        sentences
    }

    /// What it is doing, for how long, and what comes next.
    fn explain_phase(&self) -> String {
        let time = roughly(self.phase_for);
        if self.phase == Phase::Stopped {
            let reason = self.reason();
            return format!("It ended {time} ago: {reason}.");
        }
        match self.phase {
            Phase::Waiting { until, cause, then } => {
                let left = roughly(until.since(self.at));
                format!("It waits, since {time}: {cause}. In {left} it will {then}.")
            }
            Phase::Listing { items, remaining } => {
                let left = remaining.map_or(String::new(), |left| format!(", {left} to come"));
                let items = counted(items, "object");
                format!("It has been listing for {time}: {items} received{left}.")
            }
            Phase::Streaming { items } => {
                let items = counted(items, "object");
                format!("It has been streaming the state for {time}: {items} received.")
            }
            Phase::Watching if !self.following => {
                format!("It has been opening a watch for {time}, and waits for the answer.")
            }
            Phase::Watching => format!("It has been watching for {time}."),
            Phase::Suspended => {
                format!("It has been suspended for {time}: it goes on when you call `resume`.")
            }
            Phase::Idle | Phase::Stopped => "It has not begun yet.".to_owned(),
        }
    }

    /// What the cache holds, and how fresh that is.
    fn explain_cache(&self) -> Option<String> {
        let objects = counted(self.objects as u64, "object");
        let heard = self.last_byte.map_or(String::new(), |silence| {
            format!("; the server was last heard {} ago", roughly(silence))
        });
        let at = |version: &Option<String>| match version {
            Some(version) => format!(" at version {version}"),
            None => String::new(),
        };
        Some(match (&self.version, self.synced) {
            (_, false) => format!(
                "It is not synced: the first full state is not complete, and the cache holds {objects}{heard}."
            ),
            (version, true) if self.following => {
                let at = at(version);
                format!("The cache follows the server: {objects}{at}{heard}.")
            }
            (version, true) => {
                let at = at(version);
                format!("The cache keeps its last state, which may be old: {objects}{at}{heard}.")
            }
        })
    }

    /// The last failure, and how long ago it was.
    fn explain_failure(&self) -> Option<String> {
        let LastFailure {
            failure,
            message,
            at,
            ..
        } = self.last_failure.as_ref()?;
        let ago = roughly(self.at.since(*at));
        let failures = counted(self.counts.failures, "failure");
        let message = match message.as_str() {
            "" => String::new(),
            message => format!(" ({message})"),
        };
        let over = if self.following {
            " It has recovered since."
        } else {
            ""
        };
        Some(format!(
            "The last of {failures} was {ago} ago: {failure}{message}.{over}"
        ))
    }

    /// Says that a handler holds up the informer, and why.
    fn held_up(&self) -> Option<String> {
        let mut stalls = self.handlers.iter().filter(|handler| handler.stalls);
        let paused = stalls.clone().find(|handler| handler.paused);
        let longest = stalls.by_ref().max_by_key(|handler| handler.in_call)?;
        let why = match (paused, longest.in_call) {
            (Some(HandlerStatus { name, .. }), _) => {
                format!("the handler {name} is paused; call `resume` on its registration")
            }
            (None, Some(time)) => {
                let time = roughly(time);
                format!("its current call has not returned for {time}")
            }
            (None, None) => "it has not taken its notifications".to_owned(),
        };
        let held_up = || format!("; a handler with `Backlog::Stall` holds it up: {why}");
        self.stalled.then(held_up)
    }
}

/// One line for people: what it follows, what it is doing, how much it holds, and what is wrong.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.phase {
            Phase::Waiting { until, cause, then } => {
                let left = roughly(until.since(self.at));
                write!(f, "waiting {left} to {then}: {cause}")?;
            }
            Phase::Watching if !self.following => f.write_str("opening a watch")?,
            phase => phase.fmt(f)?,
        }
        if self.sources.len() > 1 {
            let following = self.sources.iter().filter(|it| it.following).count();
            write!(
                f,
                "; {following} of {} sources follow the server",
                self.sources.len()
            )?;
        }
        write!(f, "; {}", counted(self.objects as u64, "object"))?;
        if let Some(version) = &self.version {
            write!(f, " at version {version}")?;
        }
        if !self.synced {
            f.write_str("; not synced")?;
        }
        if let Some(silence) = self.last_byte {
            write!(f, "; the server was last heard {} ago", roughly(silence))?;
        }
        if let Some(LastFailure {
            failure, message, ..
        }) = &self.last_failure
            && !self.following
        {
            write!(f, "; the last failure: {failure}")?;
            if !message.is_empty() {
                write!(f, " ({message})")?;
            }
        }
        if let Some(held_up) = self.held_up() {
            f.write_str(&held_up)?;
        }
        if self.unswept {
            f.write_str("; objects that are gone may still be there")?;
        }
        if let Some(panic) = &self.panic {
            write!(f, "; {PANICKED}: {panic}")?;
        }
        if self.dropped {
            write!(f, "; {DROPPED}")?;
        }
        match &self.lost {
            Some(lost) => write!(f, "; {lost}; {NEW_RUNTIME}"),
            None => Ok(()),
        }
    }
}

/// A handler that is behind by this many notifications is named.
const BEHIND: usize = 1_000;

/// A call that takes longer than this is named.
const LONG: Duration = Duration::from_secs(10);

impl HandlerStatus {
    /// What is wrong with the handler, if anything is.
    fn explain(&self) -> Option<String> {
        let Self { name, pending, .. } = self;
        if self.lost {
            return Some(format!(
                "The handler {name} was lost: its runtime has ended. It gets no more notifications."
            ));
        }
        if self.paused {
            let pending = counted(*pending as u64, "notification");
            return Some(format!(
                "The handler {name} is paused, with {pending} waiting for it."
            ));
        }
        let in_call = self.in_call.filter(|time| *time >= LONG);
        if *pending < BEHIND && in_call.is_none() {
            return None;
        }
        let call = in_call.map_or(String::new(), |time| {
            format!(
                ", and its current call has not returned for {}",
                roughly(time)
            )
        });
        let pending = counted(*pending as u64, "notification");
        let waited = self.waited.map(roughly).unwrap_or_default();
        Some(format!(
            "The handler {name} has been behind for {waited}, with {pending} left{call}."
        ))
    }
}
