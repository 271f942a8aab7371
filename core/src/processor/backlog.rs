//! The notifications that wait for one listener.

use crate::flow::{Cause, Notification};
use crate::object::Resource;
use crate::storage::{Bucket, Ends, Full, Links, NONE, Places, Seed, Slab, Storage, Table};

/// What to do with the notifications of a listener that does not keep up.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::processor::{Audience, Backlog, ListenerConfig, Processor};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Cause, Instant, Notification, Object, ObjectKey};
///
/// let pod = |version: &str| Object::builder(ObjectKey::new("default", "web"))
///     .uid("a")
///     .version(version)
///     .body(());
/// let now = Instant::from_micros(0);
/// let empty: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
/// for (backlog, waiting) in [
///     (Backlog::Grow, 3),
///     // Merges at once: only the update from the first to the last state is left.
///     (Backlog::Coalesce { above: 0 }, 1),
/// ] {
///     let mut processor = Processor::new(None, Seed::new(1));
///     let config = ListenerConfig { backlog, ..ListenerConfig::new() };
///     let listener = processor.add_listener(config, &empty, now)?;
///     for (old, new) in [("1", "2"), ("2", "3"), ("3", "4")] {
///         let (old, new, cause) = (pod(old), pod(new), Cause::Watch);
///         processor.publish(&Notification::Updated { old, new, cause }, Audience::Everybody)?;
///     }
///     assert_eq!(processor.status(listener).map(|status| status.pending), Some(waiting));
/// }
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Backlog {
    /// Keep them all, as client-go does. The only bound is that of the storage; when it is reached, all
    /// listeners wait.
    Grow,
    /// Delay all listeners. While `at` or more notifications wait for this listener, the store does not
    /// change, and the informer reads from the server no further than the next change. Only this policy
    /// lets one listener slow down the others.
    Stall {
        /// How many may wait. Zero counts as one.
        at: usize,
    },
    /// Merge the notifications of the same object while more than `above` notifications wait. The
    /// listener sees fewer states, but never a wrong one. Memory is bounded by the number of objects.
    Coalesce {
        /// How many may wait before merging starts.
        above: usize,
    },
}

/// How [`Backlog::Coalesce`] merges a deletion with the add that follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Recreated {
    /// Keep both, since the add is a different object.
    KeepBoth,
    /// Merge them into an update.
    Update,
}

/// The most notifications that one change makes: a deletion and an add.
pub(crate) const PER_CHANGE: usize = 2;

/// The notifications that wait for one listener, in order.
pub(super) struct Pending<T: Resource, S: Storage> {
    policy: Backlog,
    recreated: Recreated,
    nodes: Places<S, Node<T>>,
    order: Ends,
    /// The newest node of each waiting key. Empty until nodes may be merged.
    newest: Table<S::Cells<Bucket>>,
}

struct Node<T: Resource> {
    notification: Notification<T>,
    hash: u32,
    links: Links,
}

/// What became of a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pushed {
    /// It waits.
    Appended,
    /// It was merged into a waiting one.
    Merged,
    /// It cancelled a waiting one, which was initial or not.
    Cancelled { initial: bool },
}

impl<T: Resource + Clone, S: Storage> Pending<T, S> {
    pub(super) fn new(policy: Backlog, recreated: Recreated) -> Self {
        Self {
            policy,
            recreated,
            nodes: Slab::default(),
            order: Ends::EMPTY,
            newest: Table::default(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is room for the next change. Whatever the policy, a bounded storage must have room
    /// for all notifications of one change.
    pub(super) fn has_room(&self) -> bool {
        let stalls = matches!(self.policy, Backlog::Stall { at } if self.len() >= at.max(1));
        !stalls && self.nodes.room() >= PER_CHANGE
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
        if self.newest.is_empty() {
            // A listener that keeps up does not need the table.
            if self.len() < above {
                self.append(notification, 0)?;
                return Ok(Pushed::Appended);
            }
            self.enter_all(seed)?;
        }
        let hash = seed.hash(notification.key());
        let newest = self.newest_of(notification.key(), hash);
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

    /// Enters the newest node of each waiting key into the table. The table stays until the last of them is
    /// gone, so this costs each notification at most as much as entering it at once.
    fn enter_all(&mut self, seed: &Seed) -> Result<(), Full> {
        let mut at = self.order.last;
        while at != NONE
            && let Some(node) = self.nodes.linked_mut(at)
        {
            let (key, before) = (node.notification.key().clone(), node.links.before);
            let hash = seed.hash(&key);
            node.hash = hash;
            if self.newest_of(&key, hash).is_none() {
                self.newest.insert(hash, at)?;
            }
            at = before;
        }
        Ok(())
    }

    fn newest_of(&self, key: &T::Key, hash: u32) -> Option<u32> {
        self.newest.find(hash, |at| {
            let node = self.nodes.linked(at);
            node.is_some_and(|node| node.notification.key() == key)
        })
    }

    pub(super) fn pop(&mut self) -> Option<Notification<T>> {
        self.order.first().and_then(|at| self.remove(at))
    }

    fn append(&mut self, notification: Notification<T>, hash: u32) -> Result<u32, Full> {
        let at = self.nodes.insert(Node {
            notification,
            hash,
            links: self.order.links(),
        })?;
        self.order
            .push(at, &mut self.nodes, |node| &mut node.links.after);
        Ok(at)
    }

    #[inline]
    fn remove(&mut self, at: u32) -> Option<Notification<T>> {
        let node = self.nodes.remove_linked(at)?;
        self.order
            .remove(node.links, &mut self.nodes, |node| &mut node.links);
        // Older nodes of the same key may still wait. They are not merged with the next notification,
        // which costs an entry but keeps the order.
        if !self.newest.is_empty() {
            self.newest.remove(node.hash, at);
        }
        Some(node.notification)
    }
}

enum Merged<T: Resource> {
    Into(Notification<T>),
    Nothing,
    Neither(Notification<T>),
}

/// Merges two notifications of one object.
fn merge<T: Resource + Clone>(
    waiting: &Notification<T>,
    next: Notification<T>,
    recreated: Recreated,
) -> Merged<T> {
    use Notification::{Added, Deleted, Updated};
    match (waiting, next) {
        // Only client-go's rules make two adds (a key twice in a list) or two deletions (of an object
        // that the store does not have).
        (Added { initial, cause, .. }, Updated { new: object, .. } | Added { object, .. }) => {
            Merged::Into(Added {
                object,
                initial: *initial,
                cause: *cause,
            })
        }
        (Added { .. }, Deleted { .. }) => Merged::Nothing,
        (Updated { old, .. }, Updated { new, cause, .. }) => Merged::Into(Updated {
            old: old.clone(),
            new,
            // A real change outweighs a resync.
            cause: match cause {
                Cause::Resync => waiting.cause(),
                _ => cause,
            },
        }),
        (Updated { .. } | Deleted { .. }, deleted @ Deleted { .. }) => Merged::Into(deleted),
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
        (_, next) => Merged::Neither(next),
    }
}
