//! A hash table from keys to places.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use super::{Cells, Full, NONE};
use crate::invariant::cannot_happen;

/// The seed of all hashes. With a secret seed, users of a cluster cannot choose object names that
/// collide. Drivers take it from a source of entropy, tests from a number.
#[derive(Clone)]
pub struct Seed(FixedState);

impl Seed {
    /// Hashes with `seed`.
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

/// From this many buckets on, which take 256 KiB, a table grows by half. Doubling takes fewer copies and makes
/// searches a little shorter, but leaves up to five eighths of the buckets free.
const LARGE: usize = 1 << 15;

/// A map from hashes to numbers: open addressing with linear probing.
///
/// It stores neither keys nor values, so the caller does the comparing. It keeps the hash beside the
/// number: growing needs no keys, and keys are compared only if their hashes are equal. You cannot
/// iterate over it, so that nothing can depend on the order of hashes.
#[derive(Clone)]
pub struct Table<C> {
    buckets: C,
    len: usize,
}

impl<C: Cells<Bucket>> Table<C> {
    /// The number with this hash for which `is_it` returns true.
    pub fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        self.probe(hash)
            .find(|(_, bucket)| bucket.hash == hash && is_it(bucket.place))
            .map(|(_, bucket)| bucket.place)
    }

    /// Whether there are no numbers.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes sure that one more entry fits.
    ///
    /// # Errors
    /// [`Full`] if it does not.
    pub fn reserve(&mut self) -> Result<(), Full> {
        // Grow at three quarters. A table that cannot grow any more is filled to the last bucket.
        let size = self.buckets.len();
        if (self.len + 1) * 4 <= size * 3 {
            return Ok(());
        }
        let more = if size < LARGE { size.max(8) } else { size / 2 };
        let wanted = (size + more).min(self.buckets.capacity());
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
        let fits = self.len < self.buckets.len();
        fits.then_some(()).ok_or(Full)
    }

    /// Adds a number under a hash. It must not be in the table yet.
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn insert(&mut self, hash: u32, place: u32) -> Result<(), Full> {
        self.reserve()?;
        self.put(Bucket { hash, place });
        Ok(())
    }

    /// Replaces the number `old`, which must be in the table under this hash, with `new`.
    pub fn replace(&mut self, hash: u32, old: u32, new: u32) {
        let found = self.probe(hash).find(|(_, bucket)| bucket.place == old);
        match found {
            Some((at, _)) => self.write(at, Bucket { hash, place: new }),
            None => cannot_happen("the number to replace is not in the table", ()),
        }
    }

    /// Removes a number from under a hash. Returns whether it was there.
    pub fn remove(&mut self, hash: u32, place: u32) -> bool {
        let found = self.probe(hash).find(|(_, bucket)| bucket.place == place);
        let Some((mut hole, _)) = found else {
            return false;
        };
        self.len -= 1;
        self.write(hole, Bucket::default());
        // Close the gap: move entries behind it into it if that brings them closer to their home. This
        // ends at a free bucket, and there is at least one: the gap.
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

    /// [`remove`](Self::remove) for a number that must be in the table.
    #[inline]
    #[track_caller]
    pub(crate) fn remove_entered(&mut self, hash: u32, place: u32) {
        if !self.remove(hash, place) {
            cannot_happen("the number to remove is not in the table", ());
        }
    }

    /// [`insert`](Self::insert) after [`reserve`](Self::reserve). There must be room.
    #[inline]
    #[track_caller]
    pub(crate) fn insert_reserved(&mut self, hash: u32, place: u32) {
        if self.insert(hash, place).is_err() {
            cannot_happen("a reserved bucket is missing", ());
        }
    }

    /// Where the search for a hash starts. Scales the hash to the number of buckets.
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

    /// How many steps lead from one bucket to another.
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

    /// The taken buckets from the home of `hash` to the first free bucket.
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

debug_fields!([C] Table[C], self: len);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Uses few distinct hashes, so that long runs of probes meet, wrap around and are cut.
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

    #[test]
    fn a_large_table_has_few_free_buckets() {
        let hash = |place: u32| place.wrapping_mul(0x9E37_79B9);
        let mut table = Table::<Vec<Bucket>>::default();
        for place in 0..200_000 {
            assert_eq!(table.insert(hash(place), place), Ok(()));
            let (taken, size) = (table.len, table.buckets.len());
            assert!(taken * 4 <= size * 3, "{taken} of {size}");
            let least = if size <= LARGE { 3 } else { 4 };
            assert!(size == 8 || taken * 8 >= size * least, "{taken} of {size}");
        }
        for place in 0..200_000 {
            assert_eq!(table.find(hash(place), |p| p == place), Some(place));
        }
    }

    #[cfg(feature = "heapless")]
    #[test]
    fn a_fixed_size_table_can_be_filled_to_the_last_bucket() {
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
