//! What a driver does under the lock, all at once: each time the lock is taken has its price.

use std::mem;
use std::task::Waker;

use informer_core::transport::{ExchangeId, OwnedCommand, Signal};
use informer_core::{Clock, Instant, SourceId};

use super::State;

/// What is left to do without the lock.
pub(crate) struct Turn {
    /// How much of the signal was used; `None` if there was none, or a listener is full.
    pub(crate) used: Option<usize>,
    pub(crate) commands: Vec<OwnedCommand<String>>,
    /// Whether the source may have changed since its last turn.
    pub(crate) turned: bool,
    pub(crate) synced: bool,
    pub(crate) ended: bool,
    /// Set if there is nothing to do: until when, if there is a time.
    pub(crate) waits: Option<Option<Instant>>,
}

impl<K: Send + Sync + 'static> State<K> {
    /// The driver of a source passes on what its transport has, if anything.
    pub(crate) fn turn(
        &mut self,
        id: SourceId,
        offered: Option<(ExchangeId, Signal<'_>)>,
        waker: &Waker,
        clock: &dyn Clock,
        now: Instant,
    ) -> Turn {
        let turned = self.begin_turn(id, waker);
        self.core.advance(now);
        let mut used = None;
        let mut is_offered = false;
        // After a panic of user code, the core may be inconsistent.
        if !self.core.is_stopped() {
            self.touch();
            if let Some((exchange, signal)) = offered {
                is_offered = true;
                used = self.signal(exchange, signal, now, clock);
                self.follow_stop(now);
            }
        }
        let mut commands = Vec::new();
        while let Some(command) = self.core.poll_command_of(id, now) {
            commands.push(command.to_owned());
        }
        let ended = self.core.is_stopped() || self.core.source_status(id).is_none();
        let waits = !ended && used.is_none() && commands.is_empty();
        Turn {
            used,
            turned: turned || !commands.is_empty(),
            commands,
            synced: self.core.is_synced(),
            ended,
            waits: waits.then(|| self.end_turn(id, is_offered)),
        }
    }

    /// Returns whether the source may have changed since its last turn.
    fn begin_turn(&mut self, id: SourceId, waker: &Waker) -> bool {
        let Some(source) = self.sources.get_mut(&id) else {
            return false;
        };
        match &mut source.driver {
            Some(driver) => driver.clone_from(waker),
            None => source.driver = Some(waker.clone()),
        }
        source.waits_until = None;
        source.stalled = false;
        mem::take(&mut source.turned)
    }

    /// There is nothing to do, or a listener holds up what was offered. Returns when to look again.
    fn end_turn(&mut self, id: SourceId, is_offered: bool) -> Option<Instant> {
        self.publish();
        // A sweep or a resync continues when a handler has made room, too.
        let stalled = is_offered || self.core.is_stalled();
        let until = self.core.next_deadline_of(id);
        if let Some(source) = self.sources.get_mut(&id) {
            source.stalled = stalled;
            source.waits_until = Some(until);
        }
        until
    }
}
