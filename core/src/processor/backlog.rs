//! What waits for one listener, and what happens when that becomes much.

use core::fmt;

use crate::flow::{Cause, Notification};
use crate::object::Resource;
use crate::storage::{Bucket, Full, NONE, Places, Seed, Slab, Storage, Table};

/// What to do with the notifications of a listener that does not keep up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Backlog {
    /// Keep them all, as client-go does: without bound, or up to the bound of the storage, which then
    /// delays everybody.
    Grow,
    /// Delay everybody: while `at` notifications or more wait for this listener, nothing is applied to
    /// the store, and no bytes are taken from the server but those of the one change that is next. This
    /// is the only policy by which one listener slows down the others.
    Stall {
        /// How many may wait. Zero counts as one.
        at: usize,
    },
    /// Merge what waits for the same object, as soon as more than `above` notifications wait. The
    /// listener sees fewer states, never a wrong one, and memory is bounded by the number of objects.
    Coalesce {
        /// How many may wait before merging begins.
        above: usize,
    },
}

/// How [`Backlog::Coalesce`] merges a deletion with the add that follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum Recreated {
    /// Both are kept: it is another object.
    KeepBoth,
    /// They become an update.
    Update,
}

/// The most notifications that one change brings: a deletion and an add.
pub(crate) const PER_CHANGE: usize = 2;

/// The notifications that wait for one listener, in order.
pub(super) struct Pending<T: Resource, S: Storage> {
    policy: Backlog,
    recreated: Recreated,
    nodes: Places<S, Node<T>>,
    first: u32,
    last: u32,
    /// The newest node of each key that waits; kept only if nodes may be merged.
    newest: Table<S::Cells<Bucket>>,
}

struct Node<T: Resource> {
    notification: Notification<T>,
    hash: u32,
    before: u32,
    after: u32,
}

/// What became of a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pushed {
    /// It waits.
    Appended,
    /// It was merged into one that waited.
    Merged,
    /// It cancelled one that waited, which was initial or not.
    Cancelled { initial: bool },
}

impl<T: Resource + Clone, S: Storage> Pending<T, S> {
    pub(super) fn new(policy: Backlog, recreated: Recreated) -> Self {
        Self {
            policy,
            recreated,
            nodes: Slab::default(),
            first: NONE,
            last: NONE,
            newest: Table::default(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the listener lets everybody go on. Where the storage is bounded, room for what one
    /// change may bring is needed whatever the policy is.
    pub(super) fn has_room(&self) -> bool {
        let patient = match self.policy {
            Backlog::Stall { at } => self.len() < at.max(1),
            Backlog::Grow | Backlog::Coalesce { .. } => true,
        };
        patient && self.nodes.room() >= PER_CHANGE
    }

    pub(super) fn push(
        &mut self,
        notification: Notification<T>,
        seed: &Seed,
    ) -> Result<Pushed, Full> {
        let Backlog::Coalesce { above } = self.policy else {
            self.append(notification, 0)?;
            return Ok(Pushed::Appended);
        };
        let hash = seed.hash(notification.key());
        let newest = self.newest.find(hash, |at| {
            let node = self.nodes.linked(at);
            node.is_some_and(|node| node.notification.key() == notification.key())
        });
        let Some(newest) = newest else {
            self.newest.reserve()?;
            let at = self.append(notification, hash)?;
            self.newest.insert_reserved(hash, at);
            return Ok(Pushed::Appended);
        };
        let merged = match self.nodes.linked(newest) {
            Some(node) if self.nodes.len() >= above => {
                merge(&node.notification, notification, self.recreated)
            }
            _ => Merged::Neither(notification),
        };
        match merged {
            Merged::Into(notification) => {
                if let Some(node) = self.nodes.linked_mut(newest) {
                    node.notification = notification;
                }
                Ok(Pushed::Merged)
            }
            Merged::Nothing => {
                let initial = self.remove(newest).is_some_and(|n| n.is_initial());
                Ok(Pushed::Cancelled { initial })
            }
            Merged::Neither(notification) => {
                let at = self.append(notification, hash)?;
                self.newest.replace(hash, newest, at);
                Ok(Pushed::Appended)
            }
        }
    }

    pub(super) fn pop(&mut self) -> Option<Notification<T>> {
        (self.first != NONE).then(|| self.remove(self.first))?
    }

    fn append(&mut self, notification: Notification<T>, hash: u32) -> Result<u32, Full> {
        let before = self.last;
        let at = self.nodes.insert(Node {
            notification,
            hash,
            before,
            after: NONE,
        })?;
        self.link(before, at);
        self.last = at;
        Ok(at)
    }

    fn remove(&mut self, at: u32) -> Option<Notification<T>> {
        let node = self.nodes.remove_linked(at)?;
        self.link(node.before, node.after);
        if node.after == NONE {
            self.last = node.before;
        } else if let Some(after) = self.nodes.linked_mut(node.after) {
            after.before = node.before;
        }
        // If older nodes of the same key still wait, they are not merged with what comes next; that
        // costs an entry, and the order stays right.
        if matches!(self.policy, Backlog::Coalesce { .. }) {
            self.newest.remove(node.hash, at);
        }
        Some(node.notification)
    }

    /// After the one at `before`, or as the first one, comes the one at `after`.
    fn link(&mut self, before: u32, after: u32) {
        if before == NONE {
            self.first = after;
        } else if let Some(before) = self.nodes.linked_mut(before) {
            before.after = after;
        }
    }
}

impl<T: Resource, S: Storage> fmt::Debug for Pending<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("policy", &self.policy)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

enum Merged<T: Resource> {
    Into(Notification<T>),
    Nothing,
    Neither(Notification<T>),
}

/// What the listener must be told if two notifications of one object become one.
fn merge<T: Resource + Clone>(
    waiting: &Notification<T>,
    next: Notification<T>,
    recreated: Recreated,
) -> Merged<T> {
    use Notification::{Added, Deleted, Updated};
    match (waiting, next) {
        (Added { initial, cause, .. }, Updated { new, .. }) => Merged::Into(Added {
            object: new,
            initial: *initial,
            cause: *cause,
        }),
        (Added { .. }, Deleted { .. }) => Merged::Nothing,
        (
            Updated {
                old, cause: first, ..
            },
            Updated {
                new, cause: second, ..
            },
        ) => Merged::Into(Updated {
            old: old.clone(),
            new,
            // That something changed outweighs that it was shown again.
            cause: if second == Cause::Resync {
                *first
            } else {
                second
            },
        }),
        (Updated { .. }, deleted @ Deleted { .. }) => Merged::Into(deleted),
        (
            Deleted {
                last: Some(last), ..
            },
            Added { object, cause, .. },
        ) if recreated == Recreated::Update => Merged::Into(Updated {
            old: last.clone(),
            new: object,
            cause,
        }),
        // These two come of client-go's rules only: a key twice in a list, a deletion of the unknown.
        (Added { initial, cause, .. }, Added { object, .. }) => Merged::Into(Added {
            object,
            initial: *initial,
            cause: *cause,
        }),
        (Deleted { .. }, deleted @ Deleted { .. }) => Merged::Into(deleted),
        (_, next) => Merged::Neither(next),
    }
}
