//! Writes, generated from a seed.

use informer_core::indexer::Write;

use super::objects::{Small, object};

/// The number of writes per transaction.
pub const TRANSACTION: usize = 100;

/// Random numbers, the same in every run.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize * n) >> 31
    }
}

/// Changes to a store of about `n` objects. Of five writes, three are updates, one is an add and one is a
/// deletion, at random places.
///
/// The objects are created beforehand and outlive the store, so the time to create or free them is not
/// measured.
pub struct Workload {
    random: Random,
    /// Two versions of every object, by number.
    objects: [Vec<Small>; 2],
    live: Vec<usize>,
    gone: Vec<usize>,
    written: usize,
}

/// Objects by number, but created in random order: in a store that has run for a while, neighbours are not
/// neighbours in memory.
fn scattered(n: usize, version: usize) -> Vec<Small> {
    let mut random = Random::new(version as u64);
    let mut order: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        order.swap(at, random.below(at + 1));
    }
    let mut objects: Vec<_> = order.into_iter().map(|it| object(it, version)).collect();
    objects.sort_by_key(|object| *object.body());
    objects
}

impl Workload {
    pub fn new(n: usize) -> Self {
        let all = n + n / 4;
        Self {
            random: Random::new(n as u64),
            objects: [1, 2].map(|version| scattered(all, version)),
            live: (0..n).collect(),
            gone: (n..all).collect(),
            written: 0,
        }
    }

    /// The initial contents of the store.
    pub fn first_state(&self, n: usize) -> Vec<Small> {
        self.objects[0][..n].to_vec()
    }

    pub fn transactions(&mut self, count: usize) -> Vec<Vec<Write<Small>>> {
        (0..count).map(|_| self.transaction()).collect()
    }

    pub fn transaction(&mut self) -> Vec<Write<Small>> {
        (0..TRANSACTION).map(|_| self.write()).collect()
    }

    fn write(&mut self) -> Write<Small> {
        self.written += 1;
        match self.random.below(5) {
            0 => {
                let at = self.random.below(self.gone.len());
                let number = self.gone.swap_remove(at);
                self.live.push(number);
                self.put(number)
            }
            1 => {
                let at = self.random.below(self.live.len());
                let number = self.live.swap_remove(at);
                self.gone.push(number);
                Write::Remove(self.objects[1][number].key().clone())
            }
            _ => {
                let at = self.random.below(self.live.len());
                self.put(self.live[at])
            }
        }
    }

    fn put(&self, number: usize) -> Write<Small> {
        Write::Put(self.objects[self.written % 2][number].clone())
    }
}
