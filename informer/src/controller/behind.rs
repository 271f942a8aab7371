//! Keys that wait behind all others.

use std::collections::{HashSet, VecDeque};

use super::Key;

/// After how many keys one of those behind joins the queue, so that they come however many changes there
/// are.
const TURN: u32 = 8;

/// The keys of an initial state. A change does not wait for all of them.
pub(super) struct Behind<Q> {
    order: VecDeque<Q>,
    /// Those in `order` that are still behind.
    waiting: HashSet<Q>,
    turns: u32,
}

impl<Q: Key> Behind<Q> {
    pub(super) fn new() -> Self {
        Self {
            order: VecDeque::new(),
            waiting: HashSet::new(),
            turns: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn add(&mut self, key: Q) {
        if self.waiting.insert(key.clone()) {
            self.order.push_back(key);
        }
    }

    /// Removes a key that has been queued with the others.
    pub(super) fn remove(&mut self, key: &Q) {
        self.waiting.remove(key);
    }

    /// The next key, if nothing else is queued or its turn has come.
    pub(super) fn next(&mut self, nothing_else: bool) -> Option<Q> {
        self.turns += 1;
        if !nothing_else && self.turns < TURN {
            return None;
        }
        self.turns = 0;
        self.pop()
    }

    pub(super) fn pop(&mut self) -> Option<Q> {
        loop {
            let key = self.order.pop_front()?;
            if self.waiting.remove(&key) {
                return Some(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_last_or_when_it_is_their_turn() {
        let mut behind = Behind::new();
        for key in ["a", "b", "c", "b"] {
            behind.add(key);
        }
        assert_eq!(behind.len(), 3);
        behind.remove(&"b");
        assert_eq!(behind.next(true), Some("a"));
        for _ in 1..TURN {
            assert_eq!(behind.next(false), None);
        }
        assert_eq!(behind.next(false), Some("c"));
        assert_eq!(behind.next(true), None);
        assert_eq!(behind.len(), 0);
    }

    #[test]
    fn a_key_that_left_may_come_again() {
        let mut behind = Behind::new();
        behind.add("a");
        behind.remove(&"a");
        behind.add("a");
        assert_eq!(behind.pop(), Some("a"));
        assert_eq!(behind.pop(), None);
    }
}
