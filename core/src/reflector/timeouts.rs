//! Timeouts of requests.

use core::time::Duration;

use super::Reflector;
use super::phase::{Exchange, Listing, State, Streaming};
use crate::storage::Storage;
use crate::time::Instant;
use crate::transport::ExchangeId;

/// A streamed state without its end bookmark is given up after this time, even if events still arrive.
const LONGEST_STATE: Duration = Duration::from_secs(600);

impl<S: Storage> Reflector<S> {
    /// Records that bytes of `exchange` arrived. This restarts its idle timeout.
    pub fn hear(&mut self, exchange: ExchangeId, now: Instant) {
        let now = self.tick(now);
        if let Some(current) = self.state.exchange_mut()
            && current.id == exchange
        {
            current.heard = now;
        }
    }

    /// Excludes the last `silence` from all timeouts of the current exchange. Call it after a time in
    /// which you did not read from the server.
    pub fn excuse_silence(&mut self, silence: Duration, now: Instant) {
        let now = self.tick(now);
        if let Some(exchange) = self.state.exchange_mut() {
            exchange.heard = exchange.heard.after(silence).min(now);
        }
        if let State::Streaming(streaming) = &mut self.state {
            streaming.last_event = streaming.last_event.after(silence).min(now);
            let began = streaming.exchange.began;
            streaming.exchange.began = began.map(|began| began.after(silence).min(now));
        }
    }

    /// Returns when [`advance`](Self::advance) has something to do next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        if let Some(due) = self.state.exchange().and_then(|exchange| exchange.due) {
            return Some(due);
        }
        match &self.state {
            State::Idle | State::Suspended | State::Stopped => None,
            State::Waiting(waiting) => Some(waiting.until),
            // The transport may hold full states back, so their timeouts start with the answer.
            State::Listing(Listing { exchange, .. })
            | State::Streaming(Streaming { exchange, .. })
                if !exchange.opened =>
            {
                None
            }
            State::Listing(listing) => self.idle_deadline(&listing.exchange),
            State::Watching(watching) => self.idle_deadline(&watching.exchange),
            State::Streaming(streaming) => {
                let idle = self.idle_deadline(&streaming.exchange);
                let end = self.end_bookmark_deadline(streaming);
                idle.into_iter().chain(end).min()
            }
        }
    }

    fn idle_deadline(&self, exchange: &Exchange<S::Text>) -> Option<Instant> {
        let idle = self.config.idle.filter(|_| exchange.began.is_some())?;
        Some(exchange.heard.after(idle))
    }

    pub(super) fn end_bookmark_deadline(&self, streaming: &Streaming<S::Text>) -> Option<Instant> {
        let patience = self.config.end_bookmark?;
        let quiet = streaming.last_event.after(patience);
        let longest = LONGEST_STATE.max(patience);
        let whole = streaming.exchange.began.map(|began| began.after(longest));
        whole.into_iter().chain([quiet]).min()
    }
}
