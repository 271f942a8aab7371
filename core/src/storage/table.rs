//! From the hash of a key to the number of its place.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use super::{Cells, Full, NONE};
use crate::invariant::cannot_happen;

/// What makes the hashes of this program different from those of another one, so that whoever names
/// the objects of a cluster cannot choose names that collide. Drivers take it from a source of
/// entropy, tests from a number.
#[derive(Clone)]
pub struct Seed(FixedState);

impl Seed {
    /// The hashes that belong to `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(FixedState::with_seed(seed))
    }

    /// The hash of `key`.
    pub fn hash<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        let hash = self.0.hash_one(key);
        (hash ^ (hash >> 32)) as u32
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// One entry of a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    hash: u32,
    place: u32,
}

impl Default for Bucket {
    fn default() -> Self {
        Self {
            hash: 0,
            place: NONE,
        }
    }
}

/// From hashes to numbers, by open addressing with linear probing.
///
/// It knows neither keys nor values: whoever asks says how to compare. The hash is kept beside the
/// number, so growing needs no key, and a key is compared only if the hashes agree. There is no way
/// to iterate over it, on purpose: its order is nobody's business.
#[derive(Clone)]
pub struct Table<C> {
    buckets: C,
    len: usize,
}

impl<C: Cells<Bucket>> Table<C> {
    /// The number with this hash for which `is_it` says yes.
    pub fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        self.probe(hash)
            .find(|(_, bucket)| bucket.hash == hash && is_it(bucket.place))
            .map(|(_, bucket)| bucket.place)
    }

    /// Makes sure that one more entry finds a place.
    ///
    /// # Errors
    /// [`Full`] if it does not.
    pub fn reserve(&mut self) -> Result<(), Full> {
        // At most three quarters full as long as there is more to be had; then up to the last one.
        let size = self.buckets.len();
        if (self.len + 1) * 4 <= size * 3 {
            return Ok(());
        }
        let wanted = (size * 2).max(8).min(self.buckets.capacity());
        if wanted > size {
            let mut wider = Self::default();
            wider.buckets.grow(wanted)?;
            for at in 0..size {
                if let Some(bucket) = self.taken(at) {
                    wider.put(bucket);
                }
            }
            *self = wider;
        }
        if self.len < self.buckets.len() {
            Ok(())
        } else {
            Err(Full)
        }
    }

    /// Enters a number under a hash. It must not be there yet.
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn insert(&mut self, hash: u32, place: u32) -> Result<(), Full> {
        self.reserve()?;
        self.put(Bucket { hash, place });
        Ok(())
    }

    /// Puts the number `new` in the place of `old`, which is there under the same hash.
    pub fn replace(&mut self, hash: u32, old: u32, new: u32) {
        let found = self.probe(hash).find(|(_, bucket)| bucket.place == old);
        match found {
            Some((at, _)) => self.write(at, Bucket { hash, place: new }),
            None => cannot_happen("a number to be replaced is not in the table", ()),
        }
    }

    /// Removes a number that was entered under a hash. Says whether it was there.
    pub fn remove(&mut self, hash: u32, place: u32) -> bool {
        let found = self.probe(hash).find(|(_, bucket)| bucket.place == place);
        let Some((mut hole, _)) = found else {
            return false;
        };
        self.len -= 1;
        self.write(hole, Bucket::default());
        // Close the gap: what lies behind it and may be nearer to its home moves into it. There is at
        // least one free bucket, the gap, where this ends.
        let mut at = self.after(hole);
        while let Some(bucket) = self.taken(at) {
            if self.distance(self.home(bucket.hash), at) >= self.distance(hole, at) {
                self.write(hole, bucket);
                self.write(at, Bucket::default());
                hole = at;
            }
            at = self.after(at);
        }
        true
    }

    /// [`remove`](Self::remove) of a number that is there.
    #[track_caller]
    pub(crate) fn remove_entered(&mut self, hash: u32, place: u32) {
        if !self.remove(hash, place) {
            cannot_happen("a number to be removed is not in the table", ());
        }
    }

    /// [`insert`](Self::insert) after [`reserve`](Self::reserve): there is room.
    #[track_caller]
    pub(crate) fn insert_reserved(&mut self, hash: u32, place: u32) {
        if self.insert(hash, place).is_err() {
            cannot_happen("a reserved bucket is missing", ());
        }
    }

    /// Where the search for a hash begins: its share of the buckets, however many there are.
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.buckets.len() as u64) >> 32) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 < self.buckets.len() {
            at + 1
        } else {
            0
        }
    }

    /// How many steps lie between two buckets.
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from {
            to - from
        } else {
            to + self.buckets.len() - from
        }
    }

    fn taken(&self, at: usize) -> Option<Bucket> {
        let Some(bucket) = self.buckets.get(at) else {
            return cannot_happen("a bucket beyond the table", None);
        };
        (bucket.place != NONE).then_some(*bucket)
    }

    /// The taken buckets from the home of `hash` up to the first free one.
    fn probe(&self, hash: u32) -> impl Iterator<Item = (usize, Bucket)> {
        let mut at = self.home(hash);
        (0..self.buckets.len()).map_while(move |_| {
            let here = at;
            at = self.after(at);
            Some((here, self.taken(here)?))
        })
    }

    fn put(&mut self, bucket: Bucket) {
        let mut at = self.home(bucket.hash);
        while self.taken(at).is_some() {
            at = self.after(at);
        }
        self.write(at, bucket);
        self.len += 1;
    }

    fn write(&mut self, at: usize, bucket: Bucket) {
        match self.buckets.get_mut(at) {
            Some(place) => *place = bucket,
            None => cannot_happen("a bucket beyond the table", ()),
        }
    }
}

impl<C: Default> Default for Table<C> {
    fn default() -> Self {
        Self {
            buckets: C::default(),
            len: 0,
        }
    }
}

impl<C> fmt::Debug for Table<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Few distinct hashes, so that long runs of probes meet, wrap around and are cut.
    fn agrees_with_a_list<C: Cells<Bucket>>(most: usize) {
        let mut random = 7_u32;
        let mut next = move |n: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % n
        };
        let mut table = Table::<C>::default();
        let mut model: Vec<(u32, u32)> = Vec::new();
        for place in 0..20_000 {
            if next(3) < 2 && model.len() < most {
                let hash = next(40).wrapping_mul(0x9E37_79B9);
                assert_eq!(table.insert(hash, place), Ok(()));
                model.push((hash, place));
            } else if !model.is_empty() {
                let (hash, place) = model.swap_remove(next(model.len() as u32) as usize);
                assert!(table.remove(hash, place));
                assert!(!table.remove(hash, place));
                assert_eq!(table.find(hash, |p| p == place), None);
            }
            assert_eq!(table.len, model.len());
            for (hash, place) in &model {
                assert_eq!(table.find(*hash, |p| p == *place), Some(*place));
            }
        }
    }

    #[test]
    fn agrees_with_a_list_under_collisions() {
        agrees_with_a_list::<Vec<Bucket>>(200);
        agrees_with_a_list::<super::super::Pages<Bucket, 64>>(200);
    }

    #[cfg(feature = "heapless")]
    #[test]
    fn a_table_of_fixed_size_can_be_filled_to_the_last_bucket() {
        agrees_with_a_list::<heapless::Vec<Bucket, 37>>(37);
        let mut table = Table::<heapless::Vec<Bucket, 5>>::default();
        for place in 0..5 {
            assert_eq!(table.insert(place, place), Ok(()));
        }
        assert_eq!(table.insert(9, 9), Err(Full));
        table.remove(2, 2);
        assert_eq!(table.insert(9, 9), Ok(()));
    }

    #[test]
    fn a_seed_changes_the_hashes() {
        assert_eq!(Seed::new(1).hash("a/x"), Seed::new(1).hash("a/x"));
        assert_ne!(Seed::new(1).hash("a/x"), Seed::new(2).hash("a/x"));
    }
}
