//! Changes on request: at full speed or at a rate, with the time in each event.

use std::sync::PoisonError;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};

use crate::state::{Verb, World};

/// A series of changes. After it the marker changes, so that clients see its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    pub(crate) events: usize,
    /// Per second; 0 as fast as clients take them.
    pub(crate) rate: f64,
    /// Each pod is deleted and added again, instead of modified.
    pub(crate) deletes: bool,
}

impl Series {
    /// Blocks until clients have taken all events but the last few.
    pub(crate) fn send(self, world: &World) -> Duration {
        let _one = world
            .churning
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut cutter = world.cutter.clone();
        let begin = Instant::now();
        let mut next = 0;
        while next <= self.events {
            let together = if self.rate > 0.0 {
                let due = begin + Duration::from_secs_f64(next as f64 / self.rate);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                1
            } else {
                cutter.events()
            };
            let end = (next + together).min(self.events + 1);
            let mut events = Vec::with_capacity(together);
            let mut state = world.state();
            for number in next..end {
                let (pod, verb) = self.choose(world, number, &mut state.changes);
                events.push(state.change(pod, verb, now()));
            }
            let watchers = state.watchers();
            drop(state);
            let frame = joined(&events);
            for watcher in watchers {
                // A watcher that is gone needs nothing.
                let _ = watcher.blocking_send(frame.clone());
            }
            next = end;
        }
        begin.elapsed()
    }

    /// What happens next to which pod.
    fn choose(self, world: &World, number: usize, changes: &mut usize) -> (usize, Verb) {
        if number == self.events {
            return (world.marker(), Verb::Modified);
        }
        let at = *changes % world.order.len();
        let pod = world.order.get(at).copied().unwrap_or_default() as usize;
        let verb = match (self.deletes, number % 2) {
            (false, _) => Verb::Modified,
            (true, 0) if number + 1 < self.events => Verb::Deleted,
            (true, 0) => Verb::Modified,
            (true, _) => Verb::Added,
        };
        if verb != Verb::Deleted {
            *changes += 1;
        }
        (pod, verb)
    }
}

fn joined(events: &[Bytes]) -> Bytes {
    match events {
        [event] => event.clone(),
        events => {
            let length = events.iter().map(Bytes::len).sum();
            let mut frame = BytesMut::with_capacity(length);
            for event in events {
                frame.extend_from_slice(event);
            }
            frame.freeze()
        }
    }
}

/// In ns since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
