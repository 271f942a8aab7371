//! From the hash of a key to the number of its place.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use super::{Cells, Full, NONE};

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
    /// Number of usable buckets less one; they are a power of two. Meaningless while there are none.
    mask: usize,
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
        // At most three quarters full as long as the storage can grow.
        let usable = self.usable();
        if (self.len + 1) * 4 <= usable * 3 {
            return Ok(());
        }
        let mut wider = Self::default();
        match wider.buckets.grow((usable * 2).max(8)) {
            Ok(()) => {
                wider.mask = (usable * 2).max(8) - 1;
                for at in 0..usable {
                    if let Some(bucket) = self.buckets.get(at)
                        && bucket.place != NONE
                    {
                        wider.put(*bucket);
                    }
                }
                *self = wider;
                Ok(())
            }
            // One bucket stays free: it is what ends a search.
            Err(Full) if self.len + 1 < usable => Ok(()),
            Err(Full) => Err(Full),
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

    /// Puts the number `new` in the place of `old` under the same hash.
    pub fn replace(&mut self, hash: u32, old: u32, new: u32) {
        let found = self.probe(hash).find(|(_, bucket)| bucket.place == old);
        if let Some((at, _)) = found
            && let Some(bucket) = self.buckets.get_mut(at)
        {
            bucket.place = new;
        }
    }

    /// Removes the number that was entered under a hash.
    pub fn remove(&mut self, hash: u32, place: u32) {
        let Some((mut hole, _)) = self.probe(hash).find(|(_, bucket)| bucket.place == place) else {
            return;
        };
        self.len -= 1;
        // Close the gap: whatever lies behind it and may be nearer to its home moves into it.
        let mut at = hole;
        loop {
            at = (at + 1) & self.mask;
            let Some(bucket) = self.buckets.get(at).copied().filter(|b| b.place != NONE) else {
                break;
            };
            let home = bucket.hash as usize & self.mask;
            let from_home = at.wrapping_sub(home) & self.mask;
            let from_hole = at.wrapping_sub(hole) & self.mask;
            if from_home >= from_hole {
                self.write(hole, bucket);
                hole = at;
            }
        }
        self.write(hole, Bucket::default());
    }

    const fn usable(&self) -> usize {
        if self.mask == usize::MAX {
            0
        } else {
            self.mask + 1
        }
    }

    /// The taken buckets from the home of `hash` up to the first free one.
    fn probe(&self, hash: u32) -> impl Iterator<Item = (usize, Bucket)> {
        let home = hash as usize & self.mask;
        (0..self.usable()).map_while(move |step| {
            let at = (home + step) & self.mask;
            let bucket = *self.buckets.get(at)?;
            (bucket.place != NONE).then_some((at, bucket))
        })
    }

    fn put(&mut self, bucket: Bucket) {
        let mut at = bucket.hash as usize & self.mask;
        while self.buckets.get(at).is_some_and(|b| b.place != NONE) {
            at = (at + 1) & self.mask;
        }
        self.write(at, bucket);
        self.len += 1;
    }

    fn write(&mut self, at: usize, bucket: Bucket) {
        if let Some(place) = self.buckets.get_mut(at) {
            *place = bucket;
        }
    }
}

impl<C: Default> Default for Table<C> {
    fn default() -> Self {
        Self {
            buckets: C::default(),
            mask: usize::MAX,
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
    #[test]
    fn agrees_with_a_list_under_collisions() {
        let mut random = 7_u32;
        let mut next = move |n: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % n
        };
        let mut table = Table::<Vec<Bucket>>::default();
        let mut model: Vec<(u32, u32)> = Vec::new();
        for place in 0..20_000 {
            if next(3) < 2 && model.len() < 200 {
                let hash = next(40).wrapping_mul(0x9E37_79B9);
                table.insert(hash, place).unwrap();
                model.push((hash, place));
            } else if !model.is_empty() {
                let (hash, place) = model.swap_remove(next(model.len() as u32) as usize);
                table.remove(hash, place);
                assert_eq!(table.find(hash, |p| p == place), None);
            }
            assert_eq!(table.len, model.len());
            for (hash, place) in &model {
                assert_eq!(table.find(*hash, |p| p == *place), Some(*place));
            }
        }
    }

    #[test]
    fn a_seed_changes_the_hashes() {
        assert_eq!(Seed::new(1).hash("a/x"), Seed::new(1).hash("a/x"));
        assert_ne!(Seed::new(1).hash("a/x"), Seed::new(2).hash("a/x"));
    }
}
