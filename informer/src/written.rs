//! Waiting until a cache shows what was written.

use std::task::Poll;
use std::time::Duration;

use informer_core::informer::WaitError;
use informer_core::transport::Target;
use informer_core::{ObjectKey, SourceId, compare_versions};

use crate::engine::Core;
use crate::error::NotReached;
use crate::shared::SharedInformer;
use crate::wait::Wait;

/// An object as the server has it after a write.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) key: &'a ObjectKey,
    pub(crate) version: &'a str,
    /// Whether a source with this target shows the object.
    pub(crate) is_shown_by: &'a (dyn Fn(&Target) -> bool + Send + Sync),
}

type Reached<'a> = Result<Poll<()>, WaitError<'a, ObjectKey, String>>;

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Waits until the cache shows what was written, if one of its sources does. The other sources need not have
    /// reached that version: a quiet one hears of it about a minute later.
    pub(crate) async fn shows(
        &self,
        written: Written<'_>,
        timeout: Duration,
    ) -> Result<(), NotReached> {
        let sources = self.sources().into_iter();
        let sources = sources.filter(|it| !it.leaving && (written.is_shown_by)(&it.target));
        let sources: Vec<_> = sources.map(|it| it.id).collect();
        self.waits(written.version, timeout, |core| {
            shows(core, &sources, written)
        })
        .await
    }

    /// Waits until `check` is ready. It is asked after every change of the cache.
    pub(crate) async fn waits(
        &self,
        version: &str,
        timeout: Duration,
        check: impl Fn(&Core<K>) -> Reached<'_>,
    ) -> Result<(), NotReached> {
        let wait = Wait::for_version(self.engine(), |state| {
            let outcome = match check(&state.core) {
                Err(WaitError::NotComparable) => Err(NotReached::NotComparable {
                    version: version.to_owned(),
                }),
                Err(WaitError::Rejected(object)) => Err(NotReached::Rejected {
                    version: version.to_owned(),
                    name: self.engine().name.clone(),
                    object: Box::new(object.clone()),
                }),
                Ok(reached) if reached.is_ready() => Ok(true),
                Ok(_) if state.core.is_stopped() => Ok(false),
                Ok(_) => return None,
            };
            state.publish();
            Some(outcome)
        });
        if wait.within(timeout).await.unwrap_or(Ok(false))? {
            return Ok(());
        }
        let status = self.status();
        Err(NotReached::InTime {
            version: version.to_owned(),
            reason: status.reason(),
            name: status.name,
            waited: timeout,
            reached: status.version,
        })
    }
}

/// Whether one of these sources has reached the version of a write, or another one shows it already. Sources that were
/// removed since do not count.
fn shows<'a, K: Send + Sync + 'static>(
    core: &'a Core<K>,
    sources: &[SourceId],
    written: Written<'_>,
) -> Reached<'a> {
    let Written { key, version, .. } = written;
    let is_shown = core.store().get(key).is_some_and(|object| {
        let order = compare_versions(object.version(), version);
        order.is_ok_and(std::cmp::Ordering::is_ge)
    });
    let mut outcome = Ok(Poll::Ready(()));
    if is_shown {
        return outcome;
    }
    let staying = |id: &&SourceId| core.source_status(**id).is_some_and(|it| !it.leaving);
    for source in sources.iter().filter(staying) {
        outcome = core.wait_for_in(*source, version);
        if matches!(outcome, Ok(Poll::Ready(()))) {
            break;
        }
    }
    outcome
}
