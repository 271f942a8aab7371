//! A controller that runs.

use std::error::Error;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use informer_core::ObjectKey;

use super::context::{Context, Surroundings};
use super::queue::End;
use super::source::find;
use super::status::Unfinished;
use super::{Next, Queue};
use crate::election::{ElectionStopped, Guard};
use crate::error::{BuildError, StartError};
use crate::runtime::RuntimeError;

/// How long to wait for a sync before saying why it takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What workers do with a key: they reconcile the object, if there is one.
pub(super) fn work<B, R, E>(
    surroundings: &Arc<Surroundings>,
    reconcile: impl Fn(Context<B>) -> R + Send + Sync + 'static,
) -> impl Fn(ObjectKey, Option<Guard>) -> Work<E> + Clone + Send + Sync + 'static
where
    B: Send + Sync + 'static,
    R: Future<Output = Result<Next, E>> + Send + 'static,
    E: Send + 'static,
{
    let surroundings = Arc::clone(surroundings);
    let reconcile = Arc::new(reconcile);
    move |key, guard| {
        let informer = find::<B>(&surroundings.sources);
        let object = informer.and_then(|informer| informer.lister().by_key(&key));
        let context = object.map(|object| Context {
            object,
            guard,
            surroundings: Arc::clone(&surroundings),
        });
        match context {
            Some(context) => Box::pin(reconcile(context)),
            None => Box::pin(async { Ok(Next::Done) }),
        }
    }
}

type Work<E> = Pin<Box<dyn Future<Output = Result<Next, E>> + Send>>;

/// The informers of a running controller.
pub(super) struct Running {
    pub(super) queue: Queue<ObjectKey>,
    pub(super) surroundings: Arc<Surroundings>,
}

impl Running {
    /// Waits until all caches hold their first full state, and says why if that takes long.
    pub(super) async fn synced(&self) -> Result<(), RunError> {
        let Surroundings { name, sources, .. } = &*self.surroundings;
        for source in sources {
            while let Err(why) = source.synced(PATIENCE).await {
                source.check()?;
                tracing::warn!(controller = name, %why, "a controller waits for its caches");
            }
        }
        Ok(())
    }

    /// Waits until an informer, the election or the workers have ended, which they should not.
    pub(super) async fn ended(&self) -> RunError {
        let mut informers: Vec<_> = self
            .surroundings
            .sources
            .iter()
            .map(|source| source.join())
            .collect();
        let mut election = pin!(self.election_ended());
        let mut workers = pin!(self.queue.ended());
        poll_fn(|cx| {
            let is_over = |informer: &mut Pin<Box<dyn Future<Output = ()> + Send + '_>>| {
                informer.as_mut().poll(cx).is_ready()
            };
            let ended = informers.iter_mut().position(is_over);
            if let Some(source) = ended.and_then(|at| self.surroundings.sources.get(at))
                && let Err(error) = source.check()
            {
                return Poll::Ready(error.into());
            }
            if let Poll::Ready(stopped) = election.as_mut().poll(cx) {
                return Poll::Ready(RunError::Election(stopped));
            }
            workers
                .as_mut()
                .poll(cx)
                .map(|()| RuntimeError::ended().into())
        })
        .await
    }

    /// Waits until this replica can never lead again.
    async fn election_ended(&self) -> ElectionStopped {
        let Some(election) = &self.surroundings.election else {
            return pending().await;
        };
        loop {
            match election.leading().await {
                Ok(guard) => guard.lost().await,
                Err(stopped) => return stopped,
            }
        }
    }
}

/// Ends the workers after the keys that they have.
impl Drop for Running {
    fn drop(&mut self) {
        if !self.queue.is_shut_down() {
            let controller = &self.surroundings.name;
            let status = self.queue.status();
            tracing::warn!(
                controller,
                %status,
                "a controller ends without a shutdown: its future was dropped, or it has failed"
            );
            self.queue.shut_down(End::Finish);
        }
    }
}

/// Why a controller did not run, or did not end well.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RunError {
    /// An informer cannot be built.
    Build(BuildError),
    /// An informer has ended.
    Ended(StartError),
    /// The election has ended, so that nobody may work here any more. Stop the controller before the election.
    Election(ElectionStopped),
    /// The runtime cannot run workers, or has dropped them.
    Runtime(RuntimeError),
    /// Reconciliations did not finish in time, and were dropped.
    Unfinished(Unfinished<ObjectKey>),
}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<StartError> for RunError {
    fn from(error: StartError) -> Self {
        Self::Ended(error)
    }
}

impl From<RuntimeError> for RunError {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl From<Unfinished<ObjectKey>> for RunError {
    fn from(error: Unfinished<ObjectKey>) -> Self {
        Self::Unfinished(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => write!(f, "cannot run the controller: {error}"),
            Self::Ended(error) => write!(f, "the controller cannot go on: {error}"),
            Self::Election(stopped) => write!(f, "the controller cannot go on: {stopped}"),
            Self::Runtime(error) => write!(f, "the controller has no workers: {error}"),
            Self::Unfinished(error) => error.fmt(f),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Build(error) => error,
            Self::Ended(error) => error,
            Self::Election(error) => error,
            Self::Runtime(error) => error,
            Self::Unfinished(error) => error,
        })
    }
}
