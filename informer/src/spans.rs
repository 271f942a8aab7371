//! Spans of lists and watches, for `tracing`.
//!
//! A `tracing` subscriber is user code and may call the informer. So spans are created, entered and closed
//! without the lock.

use informer_core::reflector::Phase;
use informer_core::transport::Target;
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

/// The exchange that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Running {
    /// The number of the exchange.
    exchange: u64,
    what: What,
    /// Whether there was a full state before.
    again: bool,
    /// How many failures there were before.
    failures: u64,
    /// The class of the last one.
    failure: &'static str,
}

impl Running {
    /// The exchange that runs, after all commands were taken.
    pub(crate) fn of<K: Send + Sync + 'static>(core: &Core<K>) -> Option<Self> {
        let reflector = core.reflector();
        let what = match reflector.phase() {
            Phase::Listing { .. } => What::List,
            Phase::Streaming { .. } => What::Stream,
            Phase::Watching => What::Watch,
            Phase::Idle | Phase::Waiting { .. } | Phase::Stopped => return None,
        };
        let (exchange, _) = reflector.request()?;
        let last = reflector.last_failure();
        Some(Self {
            exchange: exchange.number(),
            what,
            again: reflector.full_states() > 0,
            failures: reflector.failures(),
            failure: last.map_or("", |last| last.failure.name()),
        })
    }

    /// Whether both are the same part of the same exchange.
    fn is_same(&self, other: &Self) -> bool {
        self.exchange == other.exchange && self.what == other.what
    }

    /// Why this exchange runs, after the one before.
    fn cause(&self, before: Option<&Self>) -> &'static str {
        match before {
            None if self.failures == 0 => "first",
            Some(before) if self.failures == before.failures => match (before.what, self.what) {
                (What::List, What::List) => "next_page",
                (What::List | What::Stream, _) => "state_read",
                (What::Watch, _) => "ended",
            },
            None | Some(_) => self.failure,
        }
    }

    fn span(&self, informer: &str, target: &Target, cause: &str) -> Span {
        let Self { exchange, what, .. } = *self;
        let (resource, namespace) = (&*target.plural, target.namespace.as_deref());
        let streamed = what == What::Stream;
        match what {
            What::Watch => tracing::info_span!(
                parent: None, "watch", informer, resource, namespace, cause, exchange
            ),
            What::List | What::Stream if self.again => tracing::info_span!(
                parent: None, "relist", informer, resource, namespace, cause, exchange, streamed
            ),
            What::List | What::Stream => tracing::info_span!(
                parent: None, "list", informer, resource, namespace, cause, exchange, streamed
            ),
        }
    }
}

/// The span of the exchange that runs.
pub(crate) struct Spans {
    running: bool,
    /// The exchange that runs, or the one before if none does.
    last: Option<Running>,
    span: Span,
}

impl Spans {
    pub(crate) const fn new() -> Self {
        Self {
            running: false,
            last: None,
            span: Span::none(),
        }
    }

    /// Closes the span if its exchange has ended, and opens one if another exchange runs. Returns the span.
    pub(crate) fn follow(
        &mut self,
        running: Option<Running>,
        informer: &str,
        target: &Target,
    ) -> Span {
        let is_same = match (&running, &self.last) {
            (Some(running), Some(last)) => self.running && running.is_same(last),
            (Some(_), None) => false,
            (None, _) => !self.running,
        };
        if !is_same {
            self.running = running.is_some();
            // Closed before the next one opens.
            self.span = Span::none();
            if let Some(running) = running {
                let cause = running.cause(self.last.as_ref());
                self.span = running.span(informer, target, cause);
                self.last = Some(running);
            }
        }
        self.span.clone()
    }
}
