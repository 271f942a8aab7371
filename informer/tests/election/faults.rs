//! Many faults, many minutes: never two guards that say yes at once.

use std::time::Duration;

use informer::Instant;
use informer::election::Guard;
use informer_test_support::Random;
use informer_transport_mock::fault::{Fault, FaultPlan};

use crate::place::{DURATION, Place, RETRY, Replica, Way};

const WORLDS: u64 = 20;
const MINUTES: Duration = Duration::from_secs(20 * 60);

/// What was seen in a world.
#[derive(Default)]
struct Seen {
    /// The holder of each token, in the order of the tokens.
    terms: Vec<(u32, usize)>,
}

/// Replicas, and all guards that their workers ever took.
struct World {
    place: Place,
    random: Random,
    replicas: Vec<Replica>,
    guards: Vec<(usize, Guard)>,
    lives: usize,
    seen: Seen,
}

impl World {
    fn new(seed: u64) -> Self {
        let place = Place::new();
        let replicas = ["a", "b", "c"].map(|name| place.replica(name)).into();
        Self {
            place,
            random: Random::new(seed),
            replicas,
            guards: Vec::new(),
            lives: 0,
            seen: Seen::default(),
        }
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn secs(&mut self, below: u64) -> Duration {
        Duration::from_millis(self.random.below(below * 1000))
    }

    /// Asks every guard that was ever taken.
    fn check(&mut self) {
        self.guards.retain(|(_, guard)| guard.holds());
        for (at, replica) in self.replicas.iter().enumerate() {
            let Some(guard) = replica.election.guard() else {
                continue;
            };
            if self.guards.iter().any(|(of, _)| *of == at) {
                continue;
            }
            let token = guard.fencing_token();
            if let Some((last, _)) = self.seen.terms.last() {
                assert!(token > *last, "token {token} after {last}");
            }
            self.seen.terms.push((token, at));
            self.guards.push((at, guard));
        }
        let leaders: Vec<_> = self.guards.iter().map(|(at, _)| at).collect();
        assert!(leaders.len() <= 1, "{leaders:?} lead");
    }

    /// Something happens to one of the replicas, or to the next requests.
    fn fault(&mut self) {
        let at = self.random.below(3) as usize;
        let by = self.secs(12);
        match self.random.below(12) {
            0 => self.place.pause(&self.replicas[at]),
            1 => self.replicas[at].line.set(Way::Cut),
            2 => self.replicas[at].line.set(Way::Slow(by)),
            3 => drop(self.replicas[at].election.stop()),
            4 => {
                // A new process in its place. The old one is killed: it never runs again.
                self.lives += 1;
                let name = format!("{}-{}", ["a", "b", "c"][at], self.lives);
                self.place.pause(&self.replicas[at]);
                let new = self.place.replica(&name);
                let old = std::mem::replace(&mut self.replicas[at], new);
                self.guards.retain(|(of, _)| *of != at);
                // Not dropped: a process that is killed does not stop in good order.
                std::mem::forget(old.election);
            }
            5 => self.place.server.inject(Fault::Refuse),
            6 => self.place.server.inject(Fault::Stall { after: 0 }),
            7 => self.place.server.inject(Fault::Reset { after: 0 }),
            8 => self.place.server.inject(Fault::Delay(by)),
            9 => self.place.server.inject(Fault::Fail),
            _ => self.heal(at),
        }
    }

    fn heal(&mut self, at: usize) {
        self.replicas[at].line.set(Way::Open);
        self.place.resume(&self.replicas[at]);
        if self.replicas[at].election.status().ended.is_some() {
            self.lives += 1;
            let name = format!("{}-{}", ["a", "b", "c"][at], self.lives);
            self.replicas[at] = self.place.replica(&name);
        }
    }

    fn run_until(&mut self, end: Instant, faults: bool) {
        while self.place.clock.now() < end {
            let tick = self.place.clock.now().after(Duration::from_millis(500));
            let next = self.place.clock.next_deadline();
            let next = next.map_or(tick, |next| next.min(tick));
            self.place.clock.set(next);
            // Time has passed, and nothing has run.
            self.check();
            self.place.settle();
            self.check();
            if faults && self.one_in(12) {
                self.fault();
                self.check();
            }
        }
    }
}

#[test]
fn no_two_guards_say_yes_at_once() {
    let mut terms = 0;
    let mut by_fault = 0;
    for seed in 0..WORLDS {
        let mut world = World::new(seed);
        world.run_until(Instant::default().after(MINUTES), true);
        terms += world.seen.terms.len();
        let counts = world.place.server.fault_counts();
        by_fault += counts.values().sum::<u64>();

        // The faults end, and one of them leads.
        world.place.server.set_faults(FaultPlan::none());
        (0..3).for_each(|at| world.heal(at));
        let end = world.place.clock.now().after(DURATION + 3 * RETRY);
        world.run_until(end, false);
        assert_eq!(world.guards.len(), 1, "seed {seed}");
    }
    // The worlds were not idle.
    assert!(terms as u64 > 5 * WORLDS, "{terms} terms");
    assert!(by_fault > 20 * WORLDS, "{by_fault} faults");
}
