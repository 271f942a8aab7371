//! The last phases and failures of an informer, for those who look later.

use std::collections::VecDeque;
use std::sync::Arc;

use informer_core::Instant;
use informer_core::reflector::{LastFailure, Phase};

/// How many moments are kept. At one failure a minute, this is half an hour.
const KEPT: usize = 64;

/// What happened, oldest first.
#[derive(Default)]
pub(crate) struct Timeline {
    moments: VecDeque<Moment>,
    /// How many moments there have been.
    count: u64,
}

/// A change of the phase, or a failure: see [`SharedInformer::timeline`](crate::SharedInformer::timeline).
///
/// ```
/// use informer::MomentKind;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
///
/// // `pods` follows a mock API server.
/// pods.synced(std::time::Duration::from_secs(30)).await?;
/// let phases: Vec<_> = pods.timeline().iter().filter_map(|moment| match &moment.kind {
///     MomentKind::Phase(phase) => Some(phase.name()),
///     _ => None,
/// }).collect();
/// assert_eq!(phases, ["streaming", "watching"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Moment {
    /// When it was, on the clock of the runtime.
    pub at: Instant,
    /// The source where it happened: its target as text.
    pub source: Arc<str>,
    /// What happened.
    pub kind: MomentKind,
}

/// What happened at a [`Moment`].
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum MomentKind {
    /// The source entered this phase.
    Phase(Phase),
    /// A list or a watch failed.
    Failure(LastFailure<String>),
}

impl Timeline {
    pub(super) fn enter(&mut self, source: &Arc<str>, phase: Phase, now: Instant) {
        self.push(now, source, MomentKind::Phase(phase));
    }

    pub(super) fn fail(&mut self, source: &Arc<str>, last: LastFailure<String>) {
        self.push(last.at, source, MomentKind::Failure(last));
    }

    fn push(&mut self, at: Instant, source: &Arc<str>, kind: MomentKind) {
        if self.moments.len() == KEPT {
            self.moments.pop_front();
        }
        let source = Arc::clone(source);
        self.moments.push_back(Moment { at, source, kind });
        self.count += 1;
    }

    /// How many moments there have been, and those after the first `seen`, as far as they are kept.
    pub(crate) fn after(&self, seen: u64) -> (u64, Vec<Moment>) {
        let new = usize::try_from(self.count.saturating_sub(seen)).unwrap_or(KEPT);
        let skipped = self.moments.len().saturating_sub(new);
        let moments = self.moments.iter().skip(skipped).cloned();
        (self.count, moments.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_moments_are_kept_and_numbered() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.after(0).0, 0);
        let at = Instant::from_micros;
        let source = Arc::from("pods.v1");
        for second in 0..100 {
            timeline.enter(&source, Phase::Watching, at(second));
        }
        let (seen, all) = timeline.after(0);
        assert_eq!((seen, all.len()), (100, KEPT));
        assert_eq!(all.first().map(|it| it.at), Some(at(36)));
        timeline.enter(&source, Phase::Stopped, at(100));
        let (seen, new) = timeline.after(seen);
        assert_eq!((seen, new.len()), (101, 1));
        assert_eq!(timeline.after(seen).1.len(), 0);
    }
}
