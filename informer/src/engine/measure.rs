//! Times the steps of an informer while somebody looks at its metrics.

use informer_core::processor::ListenerId;
use informer_core::transport::{ExchangeId, Signal};
use informer_core::{Clock, Instant, SourceId};

use super::State;

impl<K: Send + Sync + 'static> State<K> {
    /// Measures from now on.
    #[cfg(feature = "metrics")]
    pub(crate) fn measure(&mut self) -> &crate::meters::InformerMeters {
        self.meters.get_or_insert_default()
    }

    /// Passes a signal to the core.
    pub(crate) fn signal(
        &mut self,
        exchange: ExchangeId,
        signal: Signal<'_>,
        now: Instant,
        clock: &dyn Clock,
    ) -> Option<usize> {
        let began = self.meters.as_ref().map(|_| clock.now());
        self.arrived = began.map(|_| now);
        let used = self.core.signal(exchange, signal, now);
        if let (Some(meters), Some(began)) = (&mut self.meters, began)
            && used.is_some_and(|used| used > 0)
        {
            meters.decode.observe_time(clock.now().since(began));
        }
        used
    }

    /// A handler has taken a batch. What is left of its notifications waits for the next one.
    pub(super) fn measure_batch(&mut self, id: ListenerId, clock: &dyn Clock) {
        let (Some(meters), Some(listener)) = (&mut self.meters, self.listeners.get_mut(&id)) else {
            return;
        };
        if listener.looks_on {
            return;
        }
        let now = clock.now();
        if let Some(since) = listener.ready_since.take() {
            meters.delivery.observe_time(now.since(since));
        }
        let left = self.core.listener_status(id).map_or(0, |it| it.pending);
        listener.ready_since = (left > 0).then_some(now);
    }

    /// A source has read a full state.
    pub(super) fn measure_state(&mut self, source: SourceId) {
        let reflector = self.core.reflector(source);
        let state = reflector.and_then(|reflector| reflector.history().full_state);
        if let (Some(meters), Some(state)) = (&mut self.meters, state) {
            meters.list.observe_time(state.took);
            #[expect(clippy::cast_precision_loss, reason = "no list has 2^53 objects")]
            meters.items.observe(state.items as f64);
        }
    }
}
