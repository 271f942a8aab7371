//! Worlds whose informers have several sources, which come and go.

use super::interest::Interest;
use super::ledger::Return;
use crate::random::Random;

/// The most sources of an informer at a time.
const MOST: usize = 5;

/// Keys that no two of these share.
const BY_KEY: [Interest; 3] = [
    Interest::Namespace("a"),
    Interest::Namespace("b"),
    Interest::Namespace("c"),
];

/// At any time, no two of these show the same object, but objects move from one to another.
const APART: [&[Interest]; 3] = [
    &[
        Interest::App("web"),
        Interest::App("db"),
        Interest::App("job"),
    ],
    &[Interest::Node("n1"), Interest::Node("n2")],
    &[
        Interest::AppIn("a", "web"),
        Interest::AppIn("a", "db"),
        Interest::Namespace("b"),
        Interest::AppIn("c", "web"),
        Interest::AppIn("c", "job"),
    ],
];

/// Sources that show the same objects, each as late as it likes.
const OVERLAPPING: [&[Interest]; 4] = [
    &[
        Interest::Namespace("a"),
        Interest::Namespace("b"),
        Interest::App("web"),
        Interest::AppIn("a", "db"),
    ],
    &[
        Interest::Everything,
        Interest::Namespace("a"),
        Interest::Namespace("b"),
    ],
    &[
        Interest::App("web"),
        Interest::App("db"),
        Interest::Node("n1"),
        Interest::Node("n2"),
    ],
    &[Interest::Everything],
];

/// Decides which sources there are. It has a generator of its own: without it, a seed gives the
/// world that it gave before informers could have several sources.
#[derive(Debug)]
pub(super) struct Sources {
    random: Random,
    pool: &'static [Interest],
    overlaps: bool,
}

/// What happens to the sources of an informer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Add(Interest),
    /// Remove the source at this place.
    Remove(usize),
    /// Remove it, and add its target again at once.
    Renew(usize, Interest),
    Clear,
    /// The source at this place lags behind the others.
    Lag(usize),
}

impl Sources {
    /// The sources of the world of this seed, if its informers have several. Half of the worlds
    /// have, and in half of those they overlap.
    pub(super) fn of(seed: u64) -> Option<Self> {
        let mut random = Random::new(!seed).fork();
        let (several, overlaps) = (random.one_in(2), random.one_in(2));
        let pool = match random.one_in(3) {
            _ if overlaps => random.pick(&OVERLAPPING),
            true => &BY_KEY,
            false => random.pick(&APART),
        };
        several.then_some(Self {
            random,
            pool,
            overlaps,
        })
    }

    /// When an object that a listener saw go may come back as it was, or as it was before.
    pub(super) fn returns(&self) -> Return {
        match self.pool == BY_KEY {
            true => Return::AfterRemoval,
            false => Return::Always,
        }
    }

    /// The sources that an informer starts with.
    pub(super) fn first(&mut self) -> Vec<Interest> {
        let mut first = Vec::new();
        for _ in 0..=self.random.index(MOST) {
            first.extend(self.another(&first));
        }
        first
    }

    /// A target for another source.
    fn another(&mut self, current: &[Interest]) -> Option<Interest> {
        let mut free = self.pool.to_vec();
        free.retain(|interest| self.overlaps || !current.contains(interest));
        let is_free = !free.is_empty() && current.len() < MOST;
        is_free.then(|| self.random.pick(&free))
    }

    /// What happens next to an informer with the sources `current`, if anything does.
    pub(super) fn change(&mut self, current: &[Interest]) -> Option<Change> {
        let at = self.random.index(current.len());
        let there = current.get(at);
        match self.random.below(80) {
            0..=1 => there.map(|_| Change::Remove(at)),
            2..=4 => self.another(current).map(Change::Add),
            5 => there.map(|interest| Change::Renew(at, *interest)),
            6 => there.map(|_| Change::Lag(at)),
            7 if self.random.one_in(3) => Some(Change::Clear),
            _ => None,
        }
    }

    /// What happens to it while nothing else does: a removal or an addition.
    pub(super) fn calm_change(&mut self, current: &[Interest]) -> Option<Change> {
        let at = self.random.index(current.len());
        match self.random.one_in(2) {
            true => current.get(at).map(|_| Change::Remove(at)),
            false => self.another(current).map(Change::Add),
        }
    }

    /// Whether to stop the informers in the end, some of them with a source that is leaving.
    pub(super) fn stops(&mut self) -> bool {
        self.random.one_in(2)
    }

    pub(super) fn index(&mut self, bound: usize) -> usize {
        self.random.index(bound)
    }

    /// A seed for a transport.
    pub(super) fn seed(&mut self) -> u64 {
        self.random.draw()
    }
}
