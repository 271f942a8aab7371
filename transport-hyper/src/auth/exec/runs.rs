//! When to run a plugin, and how requests share a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::ExecCredential;
use crate::auth::AuthError;

/// How long a request of an informer waits for a plugin. Then it fails, so that the status shows what it
/// waits for. The plugin keeps running, and the next request waits for the same run.
const REQUEST_PATIENCE: Duration = Duration::from_secs(3);

/// The pause after the first failure. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The average time between runs, even successful ones. It bounds the cost of a server that refuses
/// every credential, or of a wrong clock.
const INTERVAL: Duration = Duration::from_secs(15);

/// How many runs may follow each other without a pause.
const BURST: u32 = 5;

type Outcome = Result<Arc<ExecCredential>, AuthError>;

/// The runs of one plugin. Concurrent requests share one run and its outcome.
#[derive(Default)]
pub(super) struct Runs {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The last output.
    last: Option<Arc<ExecCredential>>,
    running: Option<Run>,
    /// The last run, if it failed.
    failed: Option<Failed>,
    /// When the token bucket of runs is full again.
    full_at: Option<Instant>,
}

struct Run {
    outcome: watch::Receiver<Option<Outcome>>,
    task: AbortHandle,
}

struct Failed {
    error: AuthError,
    /// The pause after it.
    pause: Duration,
    until: Instant,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The run takes too long for this request.
pub(super) struct StillRunning;

impl Runs {
    /// The last output, unless it has expired or the server refused it; then the output of `run`, if a
    /// new run is due.
    pub(super) async fn credential<F>(
        &self,
        refused: Option<&Arc<ExecCredential>>,
        run: impl FnOnce() -> F,
    ) -> Result<Outcome, StillRunning>
    where
        F: Future<Output = Result<ExecCredential, AuthError>> + Send + 'static,
    {
        let mut outcome = {
            let mut state = self.lock();
            if let Some(known) = state.known(refused) {
                return Ok(known);
            }
            match &state.running {
                Some(running) => running.outcome.clone(),
                None => self.start(&mut state, run()),
            }
        };
        let waiting = timeout(REQUEST_PATIENCE, outcome.wait_for(Option::is_some));
        let given = match waiting.await {
            Err(_) => return Err(StillRunning),
            Ok(ended) => ended.ok().and_then(|given| given.clone()),
        };
        Ok(given.unwrap_or_else(|| {
            // The task is gone, so later requests must not wait for it.
            let mut state = self.lock();
            let running = &mut state.running;
            running.take_if(|run| run.outcome.same_channel(&outcome));
            Err(AuthError::new(
                "the run of the exec plugin was cancelled; it is run again with the next request",
            ))
        }))
    }

    /// Waits for an outcome, however long that takes, so that
    /// [`credential`](Self::credential) need not wait.
    pub(super) async fn prepare<F>(&self, run: impl Fn() -> F)
    where
        F: Future<Output = Result<ExecCredential, AuthError>> + Send + 'static,
    {
        while let Err(StillRunning) = self.credential(None, &run).await {}
    }

    /// Starts a run in its own task, so that one request can give up without affecting the others.
    fn start<F>(&self, state: &mut State, run: F) -> watch::Receiver<Option<Outcome>>
    where
        F: Future<Output = Result<ExecCredential, AuthError>> + Send + 'static,
    {
        let (sender, outcome) = watch::channel(None);
        let shared = Arc::downgrade(&self.state);
        let task = tokio::spawn(async move {
            let outcome = run.await.map(Arc::new);
            // This also drops the handle to this task, whose work is done.
            if let Some(state) = shared.upgrade() {
                lock(&state).ended(&outcome);
            }
            // It is fine if no request waits any more.
            let _ = sender.send(Some(outcome));
        });
        state.spend();
        state.running = Some(Run {
            outcome: outcome.clone(),
            task: task.abort_handle(),
        });
        outcome
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// The answer without a new run: because none is needed, or because it is too early for one.
    fn known(&self, refused: Option<&Arc<ExecCredential>>) -> Option<Outcome> {
        let last = self.last.as_ref();
        let good = last.filter(|last| {
            last.is_fresh(SystemTime::now())
                && refused.is_none_or(|refused| !Arc::ptr_eq(refused, last))
        });
        if let Some(good) = good {
            return Some(Ok(good.clone()));
        }
        let now = Instant::now();
        match (&self.running, &self.failed) {
            (Some(_), _) => None,
            (None, Some(failed)) if now < failed.until => Some(Err(failed.error.clone())),
            // Too early to run again: let the server judge the old credential.
            (None, None) if self.is_spent(now) => last.cloned().map(Ok),
            _ => None,
        }
    }

    fn ended(&mut self, outcome: &Outcome) {
        self.running = None;
        match outcome {
            Ok(credential) => {
                self.last = Some(credential.clone());
                self.failed = None;
            }
            Err(error) => {
                let longer = self.failed.as_ref().map(|failed| failed.pause * 2);
                let pause = longer.unwrap_or(FIRST_PAUSE).min(LONGEST_PAUSE);
                self.failed = Some(Failed {
                    error: error.clone(),
                    pause,
                    until: Instant::now() + pause,
                });
            }
        }
    }

    /// Whether the bucket of runs is empty.
    fn is_spent(&self, now: Instant) -> bool {
        self.full_at
            .is_some_and(|full_at| full_at > now + INTERVAL * (BURST - 1))
    }

    fn spend(&mut self) {
        let now = Instant::now();
        self.full_at = Some(self.full_at.map_or(now, |at| at.max(now)) + INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A plugin that counts its runs.
    #[derive(Default)]
    struct Plugin {
        runs: Runs,
        count: Arc<AtomicU32>,
    }

    fn printed(expires: Option<SystemTime>) -> ExecCredential {
        ExecCredential {
            token: None,
            identity: None,
            expires,
        }
    }

    impl Plugin {
        async fn ask(
            &self,
            refused: Option<&Arc<ExecCredential>>,
            outcome: Result<ExecCredential, &str>,
        ) -> Outcome {
            let outcome = outcome.map_err(AuthError::new);
            let count = Arc::clone(&self.count);
            let run = || async move {
                count.fetch_add(1, Ordering::Relaxed);
                outcome
            };
            let given = self.runs.credential(refused, run).await;
            given.unwrap_or_else(|StillRunning| panic!("it ends at once"))
        }

        fn count(&self) -> u32 {
            self.count.load(Ordering::Relaxed)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_backs_off_and_every_request_gets_the_failure() {
        let plugin = Plugin::default();
        let began = Instant::now();
        let mut at = Vec::new();
        while began.elapsed() < Duration::from_secs(300) {
            for _ in 0..20 {
                let before = plugin.count();
                let error = plugin.ask(None, Err("no")).await.err().unwrap();
                assert_eq!(error.message, "no");
                if plugin.count() > before {
                    at.push(began.elapsed().as_secs());
                }
            }
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(at, [0, 5, 15, 35, 75, 135, 195, 255]);
        // A success resets the back-off: the next failure counts as the first.
        tokio::time::advance(LONGEST_PAUSE).await;
        let first = plugin.ask(None, Ok(printed(None))).await.unwrap();
        assert!(plugin.ask(Some(&first), Err("no")).await.is_err());
        tokio::time::advance(FIRST_PAUSE).await;
        assert!(plugin.ask(Some(&first), Ok(printed(None))).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_that_are_always_refused_are_renewed_a_few_times_a_minute() {
        let plugin = Plugin::default();
        let mut last = plugin.ask(None, Ok(printed(None))).await.unwrap();
        for minute in 1..=5 {
            for _ in 0..600 {
                last = plugin.ask(Some(&last), Ok(printed(None))).await.unwrap();
                tokio::time::advance(Duration::from_millis(100)).await;
            }
            assert_eq!(plugin.count(), BURST - 1 + 4 * minute);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_that_expire_soon_are_renewed() {
        let now = SystemTime::now();
        let ends_in = |seconds| printed(Some(now + Duration::from_secs(seconds)));
        assert!(ends_in(11).is_fresh(now));
        assert!(!ends_in(10).is_fresh(now));
        assert!(!ends_in(9).is_fresh(now));
        assert!(printed(None).is_fresh(now));

        let plugin = Plugin::default();
        plugin.ask(None, Ok(ends_in(5))).await.unwrap();
        plugin.ask(None, Ok(ends_in(3600))).await.unwrap();
        assert_eq!(plugin.count(), 2);
        plugin.ask(None, Ok(ends_in(3600))).await.unwrap();
        assert_eq!(plugin.count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_does_not_wait_forever_and_the_next_one_joins_the_run() {
        let runs = Runs::default();
        let took = Duration::from_secs(50);
        let run = || async move {
            tokio::time::sleep(took).await;
            Ok(printed(None))
        };
        let began = Instant::now();
        assert!(runs.credential(None, run).await.is_err());
        assert_eq!(began.elapsed(), REQUEST_PATIENCE);
        let never = || async { Err(AuthError::new("it is run twice")) };
        assert!(runs.credential(None, never).await.is_err());
        assert_eq!(began.elapsed(), REQUEST_PATIENCE * 2);
        // `prepare` waits for the end.
        runs.prepare(never).await;
        assert_eq!(began.elapsed(), took);
        let outcome = runs.credential(None, never).await;
        assert!(outcome.is_ok_and(|outcome| outcome.is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_run_is_an_error_and_the_next_request_starts_another() {
        let runs = Runs::default();
        let lost = || async {
            let (sender, lost) = tokio::sync::oneshot::channel::<ExecCredential>();
            drop(sender);
            Ok(lost.await.unwrap())
        };
        let outcome = runs.credential(None, lost).await;
        assert!(outcome.is_ok_and(|outcome| outcome.is_err()));
        let outcome = runs.credential(None, || async { Ok(printed(None)) }).await;
        assert!(outcome.is_ok_and(|outcome| outcome.is_ok()));
    }
}
