//! Which objects are filed under a value.

use crate::invariant::cannot_happen;
use crate::storage::{Ends, Full, Links, NONE, SharedPlaces, Slab, Storage};

/// All postings of a store, in all indices.
///
/// The postings of a value are in a linked list of groups. Filing or removing an object writes one
/// group, so it copies one page. Only adding or removing a group writes its neighbours. The number of a
/// posting, which never changes, combines the number of its group with its place there.
#[derive(Clone)]
pub(super) struct Postings<S: Storage> {
    groups: SharedPlaces<S, Group>,
}

/// The postings of one value.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// Its groups.
    groups: Ends,
    /// The posting that was added or removed last. Only its group is searched for room.
    recent: u32,
    pub(super) count: u32,
}

/// One object filed under one value.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    /// The place of its index.
    pub(super) index: u32,
    /// The number of its value.
    pub(super) value: u32,
    pub(super) slot: u32,
    /// The next posting of the same object, in any index.
    pub(super) sibling: u32,
}

/// Some postings of the same value.
#[derive(Clone, Copy)]
struct Group {
    index: u32,
    value: u32,
    links: Links,
    places: [Place; PLACES],
}

/// A place for a posting. Free if it has no slot.
#[derive(Clone, Copy)]
struct Place {
    slot: u32,
    sibling: u32,
}

/// More places would make filing cheaper, but waste memory where most values have one object.
const PLACES: usize = 4;

impl Place {
    const FREE: Self = Self {
        slot: NONE,
        sibling: NONE,
    };

    const fn is_free(&self) -> bool {
        self.slot == NONE
    }
}

impl List {
    pub(super) const EMPTY: Self = Self {
        groups: Ends::EMPTY,
        recent: NONE,
        count: 0,
    };

    pub(super) const fn front(&self) -> Position {
        Position(self.groups.first, 0)
    }

    pub(super) const fn back(&self) -> Position {
        Position(self.groups.last, PLACES)
    }
}

/// A position in the group with this number: before the place with this number, or at the end.
#[derive(Clone, Copy)]
pub(super) struct Position(u32, usize);

impl Group {
    /// Its first free place.
    fn free(&self) -> Option<usize> {
        self.places.iter().position(Place::is_free)
    }

    /// The number of the posting at a place of group `at`.
    const fn number(at: u32, place: usize) -> u32 {
        at * PLACES as u32 + place as u32
    }

    /// The group of a posting, and the place there. For [`NONE`], a group that never exists.
    const fn split(posting: u32) -> (u32, usize) {
        (posting / PLACES as u32, posting as usize % PLACES)
    }

    /// The numbers of all groups are below this, so that their postings can be numbered.
    const BOUND: u32 = NONE / PLACES as u32;
}

impl<S: Storage> Postings<S> {
    /// Makes sure that a new value can get a posting.
    pub(super) fn reserve(&mut self) -> Result<(), Full> {
        self.groups.reserve()
    }

    pub(super) fn get(&self, at: u32) -> Option<Posting> {
        let (group, place) = Group::split(at);
        let group = self.groups.get(group)?;
        let place = group.places.get(place).filter(|place| !place.is_free())?;
        Some(Posting {
            index: group.index,
            value: group.value,
            slot: place.slot,
            sibling: place.sibling,
        })
    }

    /// [`get`](Self::get) for the posting that a link points to; `None` at the end of the links.
    pub(super) fn linked(&self, at: u32) -> Option<Posting> {
        match self.get(at) {
            None if at != NONE => cannot_happen("a link leads to a free posting", None),
            posting => posting,
        }
    }

    /// The posting that was added last to a list, unless one was removed since.
    pub(super) fn newest(&self, list: &List) -> Option<Posting> {
        self.get(list.recent)
    }

    /// Adds a posting to the list of its value and returns its number.
    pub(super) fn file(&mut self, list: &mut List, posting: Posting) -> Result<u32, Full> {
        let (recent, _) = Group::split(list.recent);
        let free = self.groups.get(recent).and_then(Group::free);
        let (at, place) = match free {
            Some(place) => (recent, place),
            None => (self.add_group(list, &posting)?, 0),
        };
        list.recent = Group::number(at, place);
        list.count += 1;
        if let Some(place) = self.place_mut(list.recent) {
            *place = Place {
                slot: posting.slot,
                sibling: posting.sibling,
            };
        }
        Ok(list.recent)
    }

    /// Makes `sibling` the next posting of the object that has the posting `at`.
    pub(super) fn set_sibling(&mut self, at: u32, sibling: u32) {
        if let Some(place) = self.place_mut(at) {
            place.sibling = sibling;
        }
    }

    /// Removes a posting from the list of its value.
    pub(super) fn remove(&mut self, list: &mut List, at: u32) {
        let (number, place) = Group::split(at);
        let Some(group) = self.groups.linked_mut(number) else {
            return;
        };
        if let Some(place) = group.places.get_mut(place) {
            *place = Place::FREE;
        }
        list.recent = at;
        list.count -= 1;
        if group.places.iter().all(Place::is_free) {
            self.remove_group(list, number);
        }
    }

    /// The slot of the first object at or behind a position, and the position behind that object.
    #[inline]
    pub(super) fn next(&self, Position(mut at, mut from): Position) -> Option<(u32, Position)> {
        loop {
            let group = self.groups.get(at)?;
            let mut places = group.places.iter().enumerate().skip(from);
            if let Some((place, found)) = places.find(|(_, place)| !place.is_free()) {
                return Some((found.slot, Position(at, place + 1)));
            }
            (at, from) = (group.links.after, 0);
        }
    }

    /// The slot of the last object before a position, and the position before that object.
    pub(super) fn next_back(&self, Position(mut at, mut to): Position) -> Option<(u32, Position)> {
        loop {
            let group = self.groups.get(at)?;
            let mut places = group.places.iter().enumerate().take(to);
            if let Some((place, found)) = places.rfind(|(_, place)| !place.is_free()) {
                return Some((found.slot, Position(at, place)));
            }
            (at, to) = (group.links.before, PLACES);
        }
    }

    /// Adds an empty group at the end of a list.
    fn add_group(&mut self, list: &mut List, posting: &Posting) -> Result<u32, Full> {
        let at = self.groups.insert(Group {
            index: posting.index,
            value: posting.value,
            links: list.groups.links(),
            places: [Place::FREE; PLACES],
        })?;
        if at >= Group::BOUND {
            self.groups.remove(at);
            return Err(Full);
        }
        list.groups
            .push(at, &mut self.groups, |group| &mut group.links.after);
        Ok(at)
    }

    fn remove_group(&mut self, list: &mut List, at: u32) {
        if let Some(Group { links, .. }) = self.groups.remove_linked(at) {
            list.groups
                .remove(links, &mut self.groups, |group| &mut group.links);
            list.recent = NONE;
        }
    }

    fn place_mut(&mut self, at: u32) -> Option<&mut Place> {
        let (group, place) = Group::split(at);
        self.groups.linked_mut(group)?.places.get_mut(place)
    }
}

impl<S: Storage> Default for Postings<S> {
    fn default() -> Self {
        Self {
            groups: Slab::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Heap;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    /// One list, and its expected content: slots by posting number.
    struct Value {
        list: List,
        model: BTreeMap<u32, u32>,
    }

    fn slots(
        mut at: Position,
        next: impl Fn(Position) -> Option<(u32, Position)>,
    ) -> impl Iterator<Item = u32> {
        core::iter::from_fn(move || {
            let (slot, then) = next(at)?;
            at = then;
            Some(slot)
        })
    }

    fn assert_agrees(postings: &Postings<Heap>, value: &Value) {
        let forward: Vec<u32> =
            slots(value.list.front(), |position| postings.next(position)).collect();
        let mut backward: Vec<u32> =
            slots(value.list.back(), |position| postings.next_back(position)).collect();
        backward.reverse();
        assert_eq!(forward, backward);
        assert_eq!(forward.len(), value.list.count as usize);
        let mut sorted = forward;
        sorted.sort_unstable();
        let mut wanted: Vec<u32> = value.model.values().copied().collect();
        wanted.sort_unstable();
        assert_eq!(sorted, wanted);
        for (at, slot) in &value.model {
            assert_eq!(postings.get(*at).map(|posting| posting.slot), Some(*slot));
        }
    }

    #[test]
    fn lists_agree_with_a_model_and_leave_nothing_behind() {
        let mut random = 3_u32;
        let mut next = move |n: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % n
        };
        let mut postings = Postings::<Heap>::default();
        let empty = || Value {
            list: List::EMPTY,
            model: BTreeMap::new(),
        };
        let mut values = [empty(), empty(), empty()];
        for slot in 0..30_000 {
            let number = next(3);
            // Long phases with more additions than removals, and the other way round.
            let growing = slot / 1_000 % 2 == 0;
            let value = &mut values[number as usize];
            if next(10) < if growing { 6 } else { 4 } || value.model.is_empty() {
                let posting = Posting {
                    index: 0,
                    value: number,
                    slot,
                    sibling: NONE,
                };
                let at = postings.file(&mut value.list, posting).unwrap();
                assert_eq!(value.model.insert(at, slot), None, "the place was taken");
                let newest = postings.newest(&value.list).map(|posting| posting.slot);
                assert_eq!(newest, Some(slot));
            } else {
                let nth = next(value.model.len() as u32) as usize;
                let at = *value.model.keys().nth(nth).unwrap();
                postings.remove(&mut value.list, at);
                value.model.remove(&at);
                assert!(postings.get(at).is_none());
                assert!(postings.newest(&value.list).is_none());
            }
            let filed = values.iter().map(|value| value.model.len()).sum::<usize>();
            assert!(postings.groups.len() <= filed, "a group without postings");
            if slot % 64 == 0 {
                values
                    .iter()
                    .for_each(|value| assert_agrees(&postings, value));
            }
        }
        for Value { list, model } in &mut values {
            for at in model.keys() {
                postings.remove(list, *at);
            }
            assert!(postings.next(list.front()).is_none());
        }
        assert!(postings.groups.is_empty());
    }

    #[test]
    fn the_place_freed_last_is_reused_first() {
        let mut postings = Postings::<Heap>::default();
        let mut list = List::EMPTY;
        let posting = |slot| Posting {
            index: 0,
            value: 0,
            slot,
            sibling: NONE,
        };
        let numbers: Vec<u32> = (0..40)
            .map(|slot| postings.file(&mut list, posting(slot)).unwrap())
            .collect();
        assert_eq!(postings.groups.len(), 40 / PLACES);
        for at in &numbers {
            postings.remove(&mut list, *at);
            assert_eq!(postings.file(&mut list, posting(99)), Ok(*at));
        }
        assert_eq!(postings.groups.len(), 40 / PLACES);
    }
}
