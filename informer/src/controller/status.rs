//! What a controller is doing.

use std::fmt;
use std::time::Duration;

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
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ControllerStatus<Q> {
    /// Keys that are ready for a worker.
    pub queued: usize,
    /// Keys that wait for a delay or a retry.
    pub delayed: usize,
    /// The workers.
    pub workers: usize,
    /// The keys that workers have, the oldest first.
    pub working: Vec<Working<Q>>,
    /// Reconciliations that succeeded.
    pub succeeded: u64,
    /// Reconciliations that failed.
    pub failed: u64,
    /// Keys that were dropped after a failure.
    pub given_up: u64,
    /// Whether this replica leads, and so its workers may work; `None` without an election.
    pub leads: Option<bool>,
    /// Whether the controller was stopped.
    pub stopped: bool,
}

/// A key that a worker has.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Working<Q> {
    /// The key.
    pub key: Q,
    /// For how long.
    pub time: Duration,
}

/// A reconciliation that takes longer than this is named.
const LONG: Duration = Duration::from_secs(60);

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
