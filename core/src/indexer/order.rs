//! The values of an ordered index, sorted by their bytes.

use core::cmp::Ordering;
use core::ops::{Bound, RangeBounds};

use super::index::Value;
use crate::invariant::cannot_happen;
use crate::storage::{Cells, Full, NONE, SharedPlaces, Storage};

/// A treap over the values of one index: sorted by bytes from left to right, and by hash from top to
/// bottom.
///
/// Without the seed, hashes are as good as random numbers. So the tree is about as deep as a balanced
/// one, whatever the values and their order, and its shape depends only on the values in it. Each value
/// has one cell, with the number of the value. So the tree is copied on write, or of fixed size, just
/// like the rest of the store.
#[derive(Clone)]
pub(super) struct Order<S: Storage> {
    links: S::Pages<Link, 32>,
    root: u32,
}

/// The neighbours of a value in the tree.
#[derive(Clone, Copy)]
pub(super) struct Link {
    parent: u32,
    left: u32,
    right: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

type Values<S> = SharedPlaces<S, Value<S>>;

impl Default for Link {
    fn default() -> Self {
        Self {
            parent: NONE,
            left: NONE,
            right: NONE,
        }
    }
}

impl Side {
    const fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl Link {
    const fn child(self, side: Side) -> u32 {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }
}

impl<S: Storage> Order<S> {
    /// Makes sure that there is room for the value with the number `at`.
    pub(super) fn reserve(&mut self, at: u32) -> Result<(), Full> {
        self.links.grow(at as usize + 1)
    }

    /// Adds a value that is not in the tree yet.
    pub(super) fn insert(&mut self, values: &Values<S>, at: u32) {
        let (mut parent, mut side) = (NONE, Side::Left);
        let mut here = self.root;
        while here != NONE {
            parent = here;
            side = match bytes(values, at).cmp(bytes(values, here)) {
                Ordering::Less => Side::Left,
                _ => Side::Right,
            };
            here = self.link(here).child(side);
        }
        self.write(at, |link| *link = Link::default());
        self.hang(parent, side, at);
        while let parent = self.link(at).parent
            && parent != NONE
            && priority(values, at) > priority(values, parent)
        {
            self.raise(at);
        }
    }

    /// Removes a value.
    pub(super) fn remove(&mut self, values: &Values<S>, at: u32) {
        loop {
            let Link { left, right, .. } = self.link(at);
            let higher = match (left, right) {
                (NONE, NONE) => break,
                (NONE, only) | (only, NONE) => only,
                _ if priority(values, left) > priority(values, right) => left,
                _ => right,
            };
            self.raise(higher);
        }
        let parent = self.link(at).parent;
        self.hang(parent, self.side_of(at), NONE);
    }

    /// The first value within a lower bound.
    pub(super) fn first(&self, values: &Values<S>, from: Bound<&[u8]>) -> u32 {
        let range = (from, Bound::Unbounded);
        self.outermost(Side::Left, |at| {
            RangeBounds::<[u8]>::contains(&range, bytes(values, at))
        })
    }

    /// The last value within an upper bound.
    pub(super) fn last(&self, values: &Values<S>, to: Bound<&[u8]>) -> u32 {
        let range = (Bound::Unbounded, to);
        self.outermost(Side::Right, |at| {
            RangeBounds::<[u8]>::contains(&range, bytes(values, at))
        })
    }

    /// The value furthest to one side for which `is_within` holds. It must hold for no value beyond that.
    fn outermost(&self, side: Side, is_within: impl Fn(u32) -> bool) -> u32 {
        let (mut found, mut here) = (NONE, self.root);
        while here != NONE {
            let towards = if is_within(here) {
                found = here;
                side
            } else {
                side.opposite()
            };
            here = self.link(here).child(towards);
        }
        found
    }

    /// The next value on one side of this one.
    pub(super) fn neighbour(&self, at: u32, side: Side) -> u32 {
        let mut here = self.link(at).child(side);
        if here != NONE {
            while let next = self.link(here).child(side.opposite())
                && next != NONE
            {
                here = next;
            }
            return here;
        }
        // Go up to the first ancestor that is reached from its other side.
        let mut here = at;
        while let parent = self.link(here).parent
            && parent != NONE
        {
            if self.side_of(here) != side {
                return parent;
            }
            here = parent;
        }
        NONE
    }

    /// Rotates a value into the place of its parent, which becomes its child.
    fn raise(&mut self, at: u32) {
        let parent = self.link(at).parent;
        let side = self.side_of(at);
        let (above, side_above) = (self.link(parent).parent, self.side_of(parent));
        let inner = self.link(at).child(side.opposite());
        self.hang(above, side_above, at);
        self.hang(at, side.opposite(), parent);
        self.hang(parent, side, inner);
    }

    /// Makes `child` the child of `parent` on one side, or the root if there is no parent.
    fn hang(&mut self, parent: u32, side: Side, child: u32) {
        if parent == NONE {
            self.root = child;
        } else {
            self.write(parent, |link| match side {
                Side::Left => link.left = child,
                Side::Right => link.right = child,
            });
        }
        if child != NONE {
            self.write(child, |link| link.parent = parent);
        }
    }

    /// On which side of its parent a value is. The root counts as right.
    fn side_of(&self, at: u32) -> Side {
        if self.link(self.link(at).parent).left == at {
            Side::Left
        } else {
            Side::Right
        }
    }

    fn link(&self, at: u32) -> Link {
        match self.links.get(at as usize) {
            Some(link) => *link,
            None if at == NONE => Link::default(),
            None => cannot_happen("a value of an ordered index has no links", Link::default()),
        }
    }

    fn write(&mut self, at: u32, change: impl FnOnce(&mut Link)) {
        match self.links.get_mut(at as usize) {
            Some(link) => change(link),
            None => cannot_happen("a value of an ordered index has no links", ()),
        }
    }
}

fn bytes<S: Storage>(values: &Values<S>, at: u32) -> &[u8] {
    values.linked(at).map_or(&[], |value| value.bytes.as_ref())
}

fn priority<S: Storage>(values: &Values<S>, at: u32) -> u32 {
    values.linked(at).map_or(0, |value| value.hash)
}

impl<S: Storage> Default for Order<S> {
    fn default() -> Self {
        Self {
            links: Default::default(),
            root: NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IndexFn, Indexer};
    use super::*;
    use crate::storage::{Heap, Seed};
    use crate::{Object, ObjectKey};

    /// The depth of the tree. Also checks that no value has a lower priority than its children.
    fn depth<S: Storage>(order: &Order<S>, values: &Values<S>, at: u32) -> usize {
        if at == NONE {
            return 0;
        }
        let Link { left, right, .. } = order.link(at);
        for child in [left, right].into_iter().filter(|child| *child != NONE) {
            assert!(priority(values, child) <= priority(values, at));
        }
        1 + depth(order, values, left).max(depth(order, values, right))
    }

    fn object(body: u32) -> Object<u32> {
        Object::builder(ObjectKey::new("", &alloc::format!("{body}")))
            .version("1")
            .body(body)
    }

    #[test]
    fn sorted_insertion_does_not_make_the_tree_deep() {
        let mut store: Indexer<Object<u32>, Heap> = Indexer::new(Seed::new(3));
        let by_body = |object: &Object<u32>, file: &mut dyn FnMut(&[u8])| {
            file(&object.body().to_be_bytes());
        };
        store
            .add_index("body", IndexFn::new(by_body).ordered())
            .unwrap();
        for body in 0..10_000 {
            store.put(object(body)).unwrap();
        }
        for body in (0..10_000).filter(|body| body % 3 != 0) {
            store.remove(object(body).key());
        }
        let index = store.indices.get(0).unwrap();
        let order = index.order.as_ref().unwrap();
        let depth = depth(order, &index.values, order.root);
        assert!(
            depth < 60,
            "the depth is {depth}; that of a list would be 3,334"
        );
    }
}
