//! The state of a fault script: what is due and what is active.

use std::collections::VecDeque;
use std::time::Duration;

use super::faults::{Fault, FaultScript, Mishap, What, When};
use crate::server::Server;
use crate::status::{ApiError, Reason};

/// The faults to come.
#[derive(Debug)]
pub(super) struct Trouble {
    waiting: Vec<Fault>,
    requests: u64,
    events: u64,
    elapsed: Duration,
    refusals: VecDeque<(u32, Reason)>,
    mishaps: VecDeque<Mishap>,
    pub(super) drops_bookmarks: bool,
}

impl Trouble {
    pub(super) fn new(faults: FaultScript) -> Self {
        Self {
            waiting: faults.0,
            requests: 0,
            events: 0,
            elapsed: Duration::ZERO,
            refusals: VecDeque::new(),
            mishaps: VecDeque::new(),
            drops_bookmarks: false,
        }
    }

    /// When the next timed fault is due.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let times = self.waiting.iter().filter_map(|fault| match fault.when {
            When::At(time) => Some(time),
            When::AfterRequests(_) | When::AfterEvents(_) => None,
        });
        times.min()
    }

    /// Runs the faults that are due after `elapsed`. Returns whether the server has changed.
    pub(super) fn advance(&mut self, elapsed: Duration, server: &mut Server) -> bool {
        self.elapsed = elapsed;
        self.fire(server)
    }

    /// Counts a request. Returns whether the server has changed.
    pub(super) fn count_request(&mut self, server: &mut Server) -> bool {
        self.requests += 1;
        self.fire(server)
    }

    /// Counts an event. Returns whether the server has changed.
    pub(super) fn count_event(&mut self, server: &mut Server) -> bool {
        self.events += 1;
        self.fire(server)
    }

    /// The refusal of the next request.
    pub(super) fn refusal(&mut self) -> Option<ApiError> {
        let (times, reason) = self.refusals.front_mut()?;
        let reason = *reason;
        *times -= 1;
        if *times == 0 {
            self.refusals.pop_front();
        }
        Some(match reason {
            Reason::TooManyRequests => {
                ApiError::too_many_requests("Too many requests, please try again later.", 1)
            }
            reason => ApiError::new(reason, "refused by the fault script"),
        })
    }

    /// What happens to the next event or body.
    pub(super) fn mishap(&mut self) -> Option<Mishap> {
        self.mishaps.pop_front()
    }

    fn fire(&mut self, server: &mut Server) -> bool {
        let (requests, events, elapsed) = (self.requests, self.events, self.elapsed);
        let is_due = |fault: &mut Fault| match fault.when {
            When::At(time) => time <= elapsed,
            When::AfterRequests(count) => count <= requests,
            When::AfterEvents(count) => count <= events,
        };
        let due: Vec<Fault> = self.waiting.extract_if(.., is_due).collect();
        let mut has_changed = false;
        for fault in due {
            match fault.what {
                What::Refuse { times: 0, .. } => {}
                What::Refuse { times, reason } => self.refusals.push_back((times, reason)),
                What::Spoil(mishap) => self.mishaps.push_back(mishap),
                What::DropBookmarks => self.drops_bookmarks = true,
                What::Expire => server.forget_changes(),
                What::Compact => server.compact(server.version()),
                What::Restart => server.restart(),
            }
            has_changed |= matches!(fault.what, What::Expire | What::Restart);
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerConfig;

    fn trouble(script: &str) -> (Trouble, Server) {
        let server = Server::new(ServerConfig::new(7));
        (Trouble::new(script.parse().unwrap()), server)
    }

    #[test]
    fn a_fault_waits_for_its_count() {
        let (mut trouble, mut server) = trouble("after 2 requests refuse 2 503");
        for _ in 0..2 {
            assert_eq!(trouble.refusal(), None);
            trouble.count_request(&mut server);
        }
        for _ in 0..2 {
            assert_eq!(trouble.refusal().unwrap().code(), 503);
            trouble.count_request(&mut server);
        }
        assert_eq!(trouble.refusal(), None);
    }

    #[test]
    fn a_fault_happens_once() {
        let (mut trouble, mut server) = trouble("after 1 event stall\nat 2s restart");
        assert!(!trouble.count_event(&mut server));
        assert_eq!(trouble.mishap(), Some(Mishap::Stall));
        trouble.count_event(&mut server);
        assert_eq!(trouble.mishap(), None);

        let due = Duration::from_secs(2);
        assert_eq!(trouble.next_deadline(), Some(due));
        assert!(trouble.advance(due, &mut server));
        assert!(!trouble.advance(due, &mut server));
        assert_eq!(trouble.next_deadline(), None);
    }
}
