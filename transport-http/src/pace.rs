//! How long a full state waits, and for whom.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};

use crate::failed::Failed;

/// How long a state may wait for its informer in one go and still keep its slot.
const MOMENT: Duration = Duration::from_secs(1);

/// The limit for all these waits together: an informer that is a little slow with every piece is slow.
const TURN: Duration = Duration::from_secs(10);

/// A stream that is silent for this long counts as a watch and frees its slot.
const SILENCE: Duration = Duration::from_secs(1);

/// Who is to act next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Party {
    /// There are bytes to take.
    Informer,
    /// There are none. The time to decompress them counts here, too.
    Server,
}

/// The clock of a full state: one side runs while the informer has bytes, the other while the server has
/// not sent them. Frees the slot of a state that does not move, and limits the time of a list.
///
/// The informer does not poll while its handlers are busy, so a task [watches over](watch_over) it.
pub(crate) struct Pace(Mutex<Clock>);

struct Clock {
    slot: Option<OwnedSemaphorePermit>,
    /// How long the server may be silent before the slot is freed.
    silence: Option<Duration>,
    party: Party,
    since: Instant,
    /// How long the state may still wait for its informer.
    patience: Duration,
    /// How long it may still wait for the server.
    time: Option<Duration>,
    /// Of the reader, to tell it that the time is up.
    reader: Option<Waker>,
}

impl Pace {
    /// A slow informer (usually a slow handler) must not block other lists, so its slot is freed and the
    /// list goes on without one. The server has `time` for all bytes.
    pub(crate) fn list(slot: Option<OwnedSemaphorePermit>, time: Duration) -> Self {
        Self::new(slot, None, Some(time))
    }

    /// A stream has no time limit. If it falls silent, it delivers no state, and its slot is freed, too.
    pub(crate) fn stream(slot: Option<OwnedSemaphorePermit>) -> Self {
        Self::new(slot, Some(SILENCE), None)
    }

    fn new(
        slot: Option<OwnedSemaphorePermit>,
        silence: Option<Duration>,
        time: Option<Duration>,
    ) -> Self {
        Self(Mutex::new(Clock {
            slot,
            silence,
            party: Party::Informer,
            since: Instant::now(),
            patience: TURN,
            time,
            reader: None,
        }))
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes who is to act next. Returns whether there is still anything to watch over.
    pub(crate) fn turn(&self, party: Party) -> bool {
        let mut clock = self.clock();
        if clock.party != party {
            let now = Instant::now();
            let taken = now.duration_since(clock.since);
            match clock.party {
                Party::Informer => {
                    clock.patience = clock.patience.saturating_sub(taken);
                    if clock.patience.is_zero() {
                        clock.slot = None;
                    }
                }
                Party::Server => {
                    clock.time = clock.time.map(|time| time.saturating_sub(taken));
                }
            }
            (clock.party, clock.since) = (party, now);
        }
        clock.is_needed()
    }

    /// Fails if the time of the server is up. Otherwise `reader` is woken when it is.
    pub(crate) fn check(&self, reader: &Waker) -> Result<(), Failed> {
        let mut clock = self.clock();
        if clock.time.is_none() {
            return Ok(());
        }
        if clock.is_late(Instant::now()) {
            return Err(Failed::too_slow());
        }
        match &mut clock.reader {
            Some(waker) => waker.clone_from(reader),
            None => clock.reader = Some(reader.clone()),
        }
        Ok(())
    }

    /// Does what is due, and returns when to look again, if ever.
    fn look(&self, now: Instant) -> Option<Instant> {
        let mut clock = self.clock();
        let free_at = clock.free_at(now);
        if free_at.is_some_and(|at| at <= now) {
            clock.slot = None;
        }
        if clock.is_late(now) {
            let reader = clock.reader.take();
            drop(clock);
            if let Some(reader) = reader {
                reader.wake();
            }
            return None;
        }
        let free_at = free_at.filter(|_| clock.slot.is_some());
        [free_at, clock.late_at(now)].into_iter().flatten().min()
    }
}

impl Clock {
    const fn is_needed(&self) -> bool {
        self.slot.is_some() || self.time.is_some()
    }

    /// When to free the slot, if nobody acts until then; or the earliest time at which that can be.
    fn free_at(&self, now: Instant) -> Option<Instant> {
        self.slot.as_ref()?;
        let moment = MOMENT.min(self.patience);
        Some(match (self.party, self.silence) {
            (Party::Informer, _) => self.since + moment,
            (Party::Server, Some(silence)) => self.since + silence,
            (Party::Server, None) => now + moment,
        })
    }

    /// When the time of the server is up, if nobody acts until then; or the earliest time at which that can
    /// be.
    fn late_at(&self, now: Instant) -> Option<Instant> {
        let since = match self.party {
            Party::Informer => now,
            Party::Server => self.since,
        };
        since.checked_add(self.time?)
    }

    fn is_late(&self, now: Instant) -> bool {
        self.party == Party::Server && self.late_at(now).is_some_and(|at| at <= now)
    }
}

/// Watches over a state until it ends or needs it no more.
pub(crate) async fn watch_over(pace: Weak<Pace>) {
    while let Some(at) = pace.upgrade().and_then(|pace| pace.look(Instant::now())) {
        sleep_until(at).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use crate::budget::Budget;
    use informer_core::Failure;
    use tokio::time::sleep;

    const SECOND: Duration = Duration::from_secs(1);

    /// Starts a task that watches over it.
    fn watched(pace: Pace) -> Arc<Pace> {
        let pace = Arc::new(pace);
        tokio::spawn(watch_over(Arc::downgrade(&pace)));
        pace
    }

    async fn wait_for(pace: &Pace, party: Party, time: Duration) {
        pace.turn(party);
        sleep(time).await;
        let other = match party {
            Party::Informer => Party::Server,
            Party::Server => Party::Informer,
        };
        pace.turn(other);
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_frees_its_slot_at_its_end() {
        let budget = Budget::new(NonZeroUsize::MIN);
        let pace = watched(Pace::list(budget.slot().await, 9 * SECOND));
        assert_eq!(budget.free(), 0);
        drop(pace);
        assert_eq!(budget.free(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_that_waits_for_its_informer_frees_its_slot() {
        let budget = Budget::new(NonZeroUsize::MIN);
        let pace = watched(Pace::list(budget.slot().await, 99 * SECOND));
        wait_for(&pace, Party::Informer, MOMENT / 2).await;
        assert_eq!(budget.free(), 0, "a short wait is free");
        wait_for(&pace, Party::Server, MOMENT * 20).await;
        assert_eq!(budget.free(), 0, "a list may wait for its server");
        // Nobody polls meanwhile.
        pace.turn(Party::Informer);
        sleep(MOMENT * 2).await;
        assert_eq!(budget.free(), 1);
        assert!(pace.turn(Party::Server), "it still has a time limit");
    }

    #[tokio::test(start_paused = true)]
    async fn many_short_waits_free_the_slot() {
        let budget = Budget::new(NonZeroUsize::MIN);
        let pace = watched(Pace::stream(budget.slot().await));
        let mut waited = Duration::ZERO;
        while budget.free() == 0 && waited < TURN * 2 {
            wait_for(&pace, Party::Informer, MOMENT / 2).await;
            waited += MOMENT / 2;
        }
        assert_eq!(budget.free(), 1);
        assert!((TURN..=TURN + MOMENT).contains(&waited), "{waited:?}");
        assert!(!pace.turn(Party::Informer), "nothing is left to watch over");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_frees_its_slot() {
        let budget = Budget::new(NonZeroUsize::MIN);
        let pace = watched(Pace::stream(budget.slot().await));
        for _ in 0..20 {
            wait_for(&pace, Party::Server, SILENCE / 2).await;
        }
        assert_eq!(budget.free(), 0, "it was never silent for long");
        wait_for(&pace, Party::Server, SILENCE * 2).await;
        assert_eq!(budget.free(), 1);
    }

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_the_server_is_limited_and_that_of_the_informer_is_not() {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let budget = Budget::new(NonZeroUsize::MIN);
        let pace = watched(Pace::list(budget.slot().await, 10 * SECOND));
        for _ in 0..9 {
            wait_for(&pace, Party::Informer, 5 * SECOND).await;
            pace.turn(Party::Server);
            assert_eq!(pace.check(&waker), Ok(()));
            wait_for(&pace, Party::Server, SECOND).await;
        }
        pace.turn(Party::Server);
        assert_eq!(pace.check(&waker), Ok(()));
        sleep(SECOND * 9 / 10).await;
        assert_eq!(pace.check(&waker), Ok(()));
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        sleep(SECOND / 10).await;
        tokio::task::yield_now().await;
        assert_eq!(
            woken.0.load(Ordering::Relaxed),
            1,
            "the reader was not woken"
        );
        let failed = pace.check(&waker).unwrap_err();
        assert_eq!(failed.failure, Failure::TimedOut);
    }
}
