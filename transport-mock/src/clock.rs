//! A clock that goes only when it is told to.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer_core::{Clock, Instant, Timer};

/// Virtual time, shared by whoever holds a clone: the server, its transports, the drivers of
/// informers and the test that lets the time pass.
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
    /// How many timers were ever made.
    timers: u64,
}

struct Sleeper {
    until: Instant,
    waker: Waker,
    /// Whose it is, if it is a timer's.
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

/// A timer of a virtual clock. Dropped, it leaves nothing behind.
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

    /// The present time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.lock().now
    }

    /// Lets `time` pass.
    pub fn advance(&self, time: Duration) {
        let now = self.now();
        self.set(now.after(time));
    }

    /// Jumps to another time, forwards or backwards, as clocks of machines do. Whoever waits for a
    /// time that has come is woken.
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
        // A waker may come back to this clock.
        drop(state);
        for waker in woken {
            waker.wake();
        }
    }

    /// Lets the time pass up to the earliest deadline that somebody waits for, and says when that is.
    /// A deadline that was given up counts, too: its waiter is woken for nothing.
    pub fn advance_to_next(&self) -> Option<Instant> {
        let next = self.next_deadline()?;
        self.set(next);
        Some(next)
    }

    /// The earliest deadline that somebody waits for.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let state = self.lock();
        state.sleepers.iter().map(|sleeper| sleeper.until).min()
    }

    /// Ready when `deadline` has come; before that, it arranges for a wake-up.
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

    /// The same for a timer, of which only the newest deadline counts.
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
        // Nothing is half done when something panics in here.
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
