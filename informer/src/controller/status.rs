//! What a controller is doing.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::Serializer;

use crate::status::seconds;
use crate::words::{counted, roughly};

/// What a controller is doing at one moment.
///
/// ```
/// use informer::controller::Controller;
/// use informer::runtime::Tokio;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let controller = Controller::new(Tokio::current()?);
/// controller.queue().add("shop");
/// let status = controller.status();
/// assert_eq!(status.queued, 1);
/// assert_eq!(status.to_string(), "1 key queued, 0 delayed; no workers");
/// # controller.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(bound = "Q: fmt::Debug")]
#[non_exhaustive]
pub struct ControllerStatus<Q> {
    /// The name of the controller.
    pub name: String,
    /// Keys that are ready for a worker.
    pub queued: usize,
    /// Keys that wait for a delay or a retry.
    pub delayed: usize,
    /// How many times a key was queued. A key that is queued already does not count.
    pub adds: u64,
    /// How many times a key was to be queued after a delay: after a failure, or because it was asked for.
    pub retries: u64,
    /// The workers.
    pub workers: usize,
    /// The keys that workers have, the oldest first.
    pub working: Vec<Working<Q>>,
    /// Reconciliations that succeeded.
    pub succeeded: u64,
    /// Those among them that asked to be called again after a delay.
    pub requeued: u64,
    /// Reconciliations that failed.
    pub failed: u64,
    /// Those among them that panicked.
    pub panics: u64,
    /// Keys that were dropped after a failure.
    pub given_up: u64,
    /// Whether this replica leads, and so its workers may work; `None` without an election.
    pub leads: Option<bool>,
    /// Whether the controller was stopped.
    pub stopped: bool,
}

/// A key that a worker has.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(bound = "Q: fmt::Debug")]
#[non_exhaustive]
pub struct Working<Q> {
    /// The key. As data, it is the text of its `Debug`.
    #[serde(serialize_with = "as_text")]
    pub key: Q,
    /// For how long.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
}

fn as_text<Q: fmt::Debug, S: Serializer>(key: &Q, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&text_of(key))
}

/// The `Debug` of a text has quotes, which would be in the way. That of a key is user code and may panic.
fn text_of(key: &impl fmt::Debug) -> String {
    let text = catch_unwind(AssertUnwindSafe(|| format!("{key:?}")));
    let text = text.unwrap_or_else(|_| "a key whose `Debug` panics".to_owned());
    text.trim_matches('"').to_owned()
}

/// A reconciliation that takes longer than this is named.
const LONG: Duration = Duration::from_secs(60);

impl<Q: fmt::Debug> ControllerStatus<Q> {
    /// The same with the texts of the keys.
    #[cfg(feature = "metrics")]
    pub(crate) fn in_words(self) -> ControllerStatus<String> {
        let working = self.working.iter().map(|Working { key, time }| Working {
            key: text_of(key),
            time: *time,
        });
        ControllerStatus {
            working: working.collect(),
            name: self.name,
            queued: self.queued,
            delayed: self.delayed,
            adds: self.adds,
            retries: self.retries,
            workers: self.workers,
            succeeded: self.succeeded,
            requeued: self.requeued,
            failed: self.failed,
            panics: self.panics,
            given_up: self.given_up,
            leads: self.leads,
            stopped: self.stopped,
        }
    }

    /// Explains the status in sentences, the most important first: what the workers do, what waits, and what
    /// went wrong.
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        let busy = self.working.len();
        let workers = counted(self.workers as u64, "worker");
        let queued = counted(self.queued as u64, "key");
        let mut sentences = vec![match (self.stopped, self.workers, self.leads) {
            (true, 0, _) => format!("It was stopped, with {queued} left."),
            (true, ..) => {
                format!("It is stopping: {busy} of {workers} have not finished, {queued} left.")
            }
            (false, 0, _) => format!("It has no workers yet; {queued} queued."),
            (false, _, Some(false)) => {
                format!(
                    "Another replica leads, so its {workers} wait; {queued} queued for the time when this one leads."
                )
            }
            (false, ..) => format!("{busy} of {workers} are busy; {queued} queued."),
        }];
        if self.delayed > 0 {
            let delayed = counted(self.delayed as u64, "key");
            sentences.push(format!("{delayed} delayed, for a retry or by request."));
        }
        let long = self.working.iter().filter(|working| working.time >= LONG);
        sentences.extend(long.map(|Working { key, time }| {
            let time = roughly(*time);
            format!("The worker of {key:?} has not returned for {time}.")
        }));
        if self.failed > 0 {
            let failed = counted(self.failed, "reconciliation");
            let (succeeded, given_up) = (self.succeeded, counted(self.given_up, "key"));
            sentences.push(format!(
                "{failed} failed and {succeeded} succeeded since the start; {given_up} given up."
            ));
        }
        sentences
    }
}

/// One line for people.
impl<Q: fmt::Debug> fmt::Display for ControllerStatus<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queued = counted(self.queued as u64, "key");
        write!(f, "{queued} queued, {} delayed", self.delayed)?;
        match self.workers {
            0 => f.write_str("; no workers")?,
            _ => {
                let workers = counted(self.workers as u64, "worker");
                write!(f, "; {} of {workers} busy", self.working.len())?;
            }
        }
        if let Some(Working { key, time }) = self.working.first()
            && *time >= LONG
        {
            let time = roughly(*time);
            write!(f, "; the worker of {key:?} has not returned for {time}")?;
        }
        if self.failed > 0 {
            write!(f, "; {}", counted(self.failed, "failure"))?;
        }
        if self.given_up > 0 {
            write!(f, ", {} given up", self.given_up)?;
        }
        if self.leads == Some(false) {
            f.write_str("; another replica leads")?;
        }
        if self.stopped {
            f.write_str("; stopped")?;
        }
        Ok(())
    }
}

/// Reconciliations did not finish in time, and were dropped at their last `await`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unfinished<Q> {
    /// Their keys.
    pub keys: Vec<Q>,
    /// How long they were waited for.
    pub waited: Duration,
}

impl<Q: fmt::Debug> fmt::Display for Unfinished<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, waited } = self;
        let waited = roughly(*waited);
        write!(
            f,
            "the reconciliations of {keys:?} had not finished {waited} after the controller was stopped, \
             and were dropped"
        )
    }
}

impl<Q: fmt::Debug> std::error::Error for Unfinished<Q> {}
