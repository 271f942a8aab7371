//! Spans of lists and watches, for `tracing`.
//!
//! A `tracing` subscriber is user code and may call the informer. So spans are created, entered and closed
//! without the lock.

use informer_core::SourceId;
use informer_core::reflector::Phase;
use informer_core::transport::{ExchangeId, Target};
use tracing::Span;

use crate::engine::Core;

/// What is asked of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    List,
    /// A full state that a watch begins with.
    Stream,
    Watch,
}

/// What runs now, compared with what ran before.
pub(crate) struct Change {
    /// `None` while the informer waits.
    part: Option<Part>,
    /// Whether there was a full state before.
    again: bool,
    /// How many failures there were.
    failures: u64,
    /// The class of the last one.
    failure: &'static str,
}

/// A part of an exchange. A streamed state and the watch behind it are one exchange.
type Part = (ExchangeId, What);

/// The span of what runs.
pub(crate) struct Spans {
    span: Span,
    part: Option<Part>,
    /// What ran before, and how many failures there were when it began.
    before: Option<(What, u64)>,
}

impl Spans {
    pub(crate) const fn new() -> Self {
        Self {
            span: Span::none(),
            part: None,
            before: None,
        }
    }

    /// What has changed, if anything has. Runs under the lock, after the commands were taken.
    pub(crate) fn change<K: Send + Sync + 'static>(
        &self,
        core: &Core<K>,
        source: SourceId,
    ) -> Option<Box<Change>> {
        let reflector = core.reflector(source)?;
        let what = match reflector.phase() {
            Phase::Listing { .. } => Some(What::List),
            Phase::Streaming { .. } => Some(What::Stream),
            Phase::Watching => Some(What::Watch),
            // A request that is held back is a wait.
            Phase::Idle | Phase::Waiting { .. } | Phase::Suspended | Phase::Stopped => None,
        };
        let exchange = reflector.request().map(|(exchange, _)| exchange);
        let part = exchange.zip(what);
        let last = reflector.last_failure();
        (part != self.part).then(|| {
            Box::new(Change {
                part,
                again: reflector.full_states() > 0,
                failures: reflector.failures(),
                failure: last.map_or("", |last| last.failure.name()),
            })
        })
    }

    /// Closes the span of what has ended, and opens one for what runs now.
    pub(crate) fn follow(&mut self, change: &Change, informer: &str, target: &Target) {
        self.span = Span::none();
        self.part = change.part;
        if let Some((exchange, what)) = change.part {
            let cause = self.cause(what, change);
            self.span = open(exchange, what, change.again, cause, informer, target);
            self.before = Some((what, change.failures));
        }
    }

    /// The span, if somebody is interested in it.
    #[inline]
    pub(crate) fn span(&self) -> Option<Span> {
        let is_none = self.span.is_none();
        (!is_none).then(|| self.span.clone())
    }

    /// Why this is asked, after what was asked before.
    fn cause(&self, what: What, change: &Change) -> &'static str {
        match self.before {
            None if change.failures == 0 => "first",
            Some((before, failures)) if change.failures == failures => match (before, what) {
                (What::List, What::List) => "next_page",
                (What::List | What::Stream, _) => "state_read",
                (What::Watch, _) => "ended",
            },
            None | Some(_) => change.failure,
        }
    }
}

fn open(
    exchange: ExchangeId,
    what: What,
    again: bool,
    cause: &str,
    informer: &str,
    target: &Target,
) -> Span {
    let (resource, namespace) = (&*target.plural, target.namespace.as_deref());
    let (exchange, streamed) = (exchange.number(), what == What::Stream);
    match what {
        What::Watch => tracing::info_span!(
            parent: None, "watch", informer, resource, namespace, cause, exchange
        ),
        What::List | What::Stream if again => tracing::info_span!(
            parent: None, "relist", informer, resource, namespace, cause, exchange, streamed
        ),
        What::List | What::Stream => tracing::info_span!(
            parent: None, "list", informer, resource, namespace, cause, exchange, streamed
        ),
    }
}
