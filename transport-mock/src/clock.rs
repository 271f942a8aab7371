//! A clock that moves only when a test moves it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer_core::{Clock, Instant, Timer};

/// Virtual time. Clones share it: the server, its transports, the informers' runtime, and the test
/// that moves it.
///
/// ```
/// use std::task::{Context, Waker};
/// use std::time::Duration;
/// use informer_transport_mock::VirtualClock;
///
/// let clock = VirtualClock::new();
/// let mut cx = Context::from_waker(Waker::noop());
/// let deadline = clock.now().after(Duration::from_secs(5));
/// assert!(clock.poll_until(deadline, &mut cx).is_pending());
///
/// assert_eq!(clock.advance_to_next(), Some(deadline));
/// assert!(clock.poll_until(deadline, &mut cx).is_ready());
/// assert_eq!(clock.advance_to_next(), None);
/// ```
#[derive(Clone, Default)]
pub struct VirtualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    now: Instant,
    sleepers: Vec<Sleeper>,
    /// How many timers have been created.
    timers: u64,
}

struct Sleeper {
    until: Instant,
    waker: Waker,
    /// The timer that the deadline belongs to, if any.
    timer: Option<u64>,
}

impl State {
    fn forget(&mut self, timer: u64) {
        self.sleepers.retain(|sleeper| sleeper.timer != Some(timer));
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Instant {
        Self::now(self)
    }

    fn timer(&self) -> Box<dyn Timer> {
        let mut state = self.lock();
        state.timers += 1;
        Box::new(VirtualTimer {
            number: state.timers,
            clock: self.clone(),
        })
    }
}

/// A timer on a virtual clock. Dropping it removes its deadline.
struct VirtualTimer {
    number: u64,
    clock: VirtualClock,
}

impl Timer for VirtualTimer {
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        self.clock.poll_timer(self.number, deadline, cx)
    }
}

impl Drop for VirtualTimer {
    fn drop(&mut self) {
        self.clock.lock().forget(self.number);
    }
}

impl VirtualClock {
    /// A clock at its origin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.lock().now
    }

    /// Moves the time forward by `time`.
    pub fn advance(&self, time: Duration) {
        let now = self.now();
        self.set(now.after(time));
    }

    /// Jumps to another time, forwards or backwards, as machine clocks do. Wakes everything whose
    /// deadline has come.
    pub fn set(&self, now: Instant) {
        let mut state = self.lock();
        state.now = now;
        let mut woken = Vec::new();
        state.sleepers.retain(|sleeper| {
            let sleeps = sleeper.until > now;
            if !sleeps {
                woken.push(sleeper.waker.clone());
            }
            sleeps
        });
        // A waker may call back into this clock.
        drop(state);
        for waker in woken {
            waker.wake();
        }
    }

    /// Moves to the earliest deadline and returns it. An abandoned deadline counts too; its waiter
    /// wakes up for nothing.
    pub fn advance_to_next(&self) -> Option<Instant> {
        let next = self.next_deadline()?;
        self.set(next);
        Some(next)
    }

    /// The earliest deadline.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let state = self.lock();
        state.sleepers.iter().map(|sleeper| sleeper.until).min()
    }

    /// Ready once `deadline` has come. Until then, it registers a wake-up.
    pub fn poll_until(&self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.now >= deadline {
            return Poll::Ready(());
        }
        let is_known = state
            .sleepers
            .iter()
            .any(|sleeper| sleeper.until == deadline && sleeper.waker.will_wake(cx.waker()));
        if !is_known {
            state.sleepers.push(Sleeper {
                until: deadline,
                waker: cx.waker().clone(),
                timer: None,
            });
        }
        Poll::Pending
    }

    /// Like [`poll_until`](Self::poll_until), but a timer has only one deadline, the newest.
    fn poll_timer(&self, timer: u64, deadline: Instant, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        state.forget(timer);
        if state.now >= deadline {
            return Poll::Ready(());
        }
        state.sleepers.push(Sleeper {
            until: deadline,
            waker: cx.waker().clone(),
            timer: Some(timer),
        });
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("VirtualClock")
            .field("now", &state.now)
            .field("sleepers", &state.sleepers.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use informer_test_support::Woken;

    use super::*;

    #[test]
    fn sleepers_are_woken_once_and_in_time() {
        let clock = VirtualClock::new();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        let at = Instant::from_micros;
        for _ in 0..3 {
            assert!(clock.poll_until(at(20), &mut cx).is_pending());
        }
        assert!(clock.poll_until(at(10), &mut cx).is_pending());
        clock.advance(Duration::from_micros(9));
        assert_eq!(woken.times(), 0);
        assert_eq!(clock.advance_to_next(), Some(at(10)));
        assert_eq!(woken.times(), 1);
        clock.set(at(500));
        assert_eq!(woken.times(), 2);
        assert_eq!(clock.next_deadline(), None);
    }

    #[test]
    fn a_jump_back_keeps_sleepers_asleep() {
        let clock = VirtualClock::new();
        let mut cx = Context::from_waker(Waker::noop());
        clock.advance(Duration::from_secs(9));
        let deadline = clock.now().after(Duration::from_secs(1));
        assert!(clock.poll_until(deadline, &mut cx).is_pending());
        clock.set(Instant::from_micros(5));
        assert_eq!(clock.now(), Instant::from_micros(5));
        assert!(clock.poll_until(deadline, &mut cx).is_pending());
        assert_eq!(clock.advance_to_next(), Some(deadline));
    }
}
