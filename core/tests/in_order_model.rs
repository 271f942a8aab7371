//! Compares `InOrderQueue` with a plain list that follows the rules of the conformance vectors for the
//! atomic queue.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod model_support;

use std::collections::BTreeSet;

use informer_core::flow::{Deletion, Delta};
use informer_core::queue::{Batch, FullState, InOrderQueue, Queued};
use informer_core::storage::Seed;
use model_support::{Obj, any_deletion, any_key, any_object, cases, key, object};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Add(Obj),
    Update(Obj),
    Delete(Obj),
    DeleteAs(Deletion<Obj>),
    Replace(FullState<Obj>),
    Resync,
    Bookmark(String),
    Pop,
    PopBatch,
    Close,
}

fn any_op() -> impl Strategy<Value = Op> {
    let state = (
        vec(any_object(), 0..5),
        vec(any_key(), 0..2),
        any::<bool>(),
        0..9_u32,
    );
    let state = state.prop_map(|(objects, unreadable, complete, version)| FullState {
        objects,
        gone: unreadable.clone(),
        unreadable,
        complete,
        version: Some(version.to_string()),
    });
    prop_oneof![
        4 => any_object().prop_map(Op::Add),
        4 => any_object().prop_map(Op::Update),
        4 => any_object().prop_map(Op::Delete),
        2 => any_deletion().prop_map(Op::DeleteAs),
        2 => state.prop_map(Op::Replace),
        1 => Just(Op::Resync),
        1 => (0..9_u32).prop_map(|version| Op::Bookmark(version.to_string())),
        2 => Just(Op::Pop),
        3 => Just(Op::PopBatch),
        1 => Just(Op::Close),
    ]
}

struct Model {
    bookmarks: bool,
    items: Vec<Queued<Obj>>,
    populated: bool,
    initial: usize,
    closed: bool,
}

impl Model {
    fn is_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    /// Rule 1, and rule 5: it populates.
    fn push(&mut self, delta: Delta<Obj>) {
        self.populated = true;
        self.items.push(Queued::Delta(delta));
    }

    /// Rule 3, and rule 5: the initial count is the length of the whole queue.
    fn replace(&mut self, state: FullState<Obj>) {
        self.items.push(Queued::ReplacedAll(Box::new(state)));
        if !self.populated {
            self.populated = true;
            self.initial = self.items.len();
        }
    }

    fn take(&mut self, count: usize) -> (Vec<Queued<Obj>>, bool) {
        let initial = !self.is_synced();
        self.initial = self.initial.saturating_sub(count);
        (self.items.drain(..count).collect(), initial)
    }

    /// Rule 6.
    fn pop(&mut self) -> Option<(Queued<Obj>, bool)> {
        if self.items.is_empty() {
            return None;
        }
        let (mut items, initial) = self.take(1);
        Some((items.remove(0), initial))
    }

    /// Rule 7: try every prefix and use the longest that is allowed.
    fn pop_batch(&mut self) -> Option<Batch<Obj>> {
        let allowed = |count: &usize| {
            let keys: Vec<_> = self.items[..*count]
                .iter()
                .filter_map(|item| match item {
                    Queued::Delta(delta) => Some(delta.key()),
                    Queued::ReplacedAll(_) | Queued::SyncAll | Queued::Bookmark(_) => None,
                })
                .collect();
            let distinct: BTreeSet<_> = keys.iter().collect();
            *count == 1
                || (keys.len() == *count
                    && distinct.len() == *count
                    && (self.initial == 0 || *count <= self.initial)
                    && *count <= 1_000)
        };
        let count = (1..=self.items.len()).filter(allowed).max()?;
        let (entries, initial) = self.take(count);
        Some(Batch { entries, initial })
    }
}

fn run(queue: &mut InOrderQueue<Obj>, model: &mut Model, op: Op) {
    match op {
        Op::Add(object) => {
            model.push(Delta::Added(object.clone()));
            queue.add(object);
        }
        Op::Update(object) => {
            model.push(Delta::Updated(object.clone()));
            queue.update(object);
        }
        Op::Delete(object) => {
            model.push(Delta::Deleted(Deletion::Observed(object.clone())));
            queue.delete(object);
        }
        Op::DeleteAs(deletion) => {
            model.push(Delta::Deleted(deletion.clone()));
            queue.delete_as(deletion);
        }
        Op::Replace(state) => {
            model.replace(state.clone());
            queue.replace(state);
        }
        Op::Resync => {
            // Rule 4.
            model.items.push(Queued::SyncAll);
            queue.resync();
        }
        Op::Bookmark(version) => {
            queue.bookmark(&version);
            if model.bookmarks {
                model.items.push(Queued::Bookmark(version));
            }
        }
        Op::Pop => assert_eq!(queue.pop(), model.pop()),
        Op::PopBatch => assert_eq!(queue.pop_batch(), model.pop_batch()),
        Op::Close => {
            queue.close();
            model.closed = true;
        }
    }
}

fn check(queue: &InOrderQueue<Obj>, model: &Model) {
    assert!(
        queue.iter().eq(&model.items),
        "{:?}",
        queue.iter().collect::<Vec<_>>()
    );
    assert_eq!(queue.len(), model.items.len());
    assert_eq!(queue.is_empty(), model.items.is_empty());
    assert_eq!(queue.is_synced(), model.is_synced());
    assert_eq!(queue.is_closed(), model.closed);
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn the_queue_follows_the_rules_of_the_vectors(
        bookmarks in any::<bool>(), ops in vec(any_op(), 0..40),
    ) {
        let mut queue = InOrderQueue::new(Seed::new(1)).with_bookmarks(bookmarks);
        let mut model = Model {
            bookmarks,
            items: vec![],
            populated: false,
            initial: 0,
            closed: false,
        };
        check(&queue, &model);
        for op in ops {
            run(&mut queue, &mut model, op);
            check(&queue, &model);
        }
        while !queue.is_empty() {
            run(&mut queue, &mut model, Op::PopBatch);
            check(&queue, &model);
        }
    }
}

/// Returns the sizes of the batches that empty a queue.
fn batch_sizes(queue: &mut InOrderQueue<Obj>) -> Vec<usize> {
    core::iter::from_fn(|| Some(queue.pop_batch()?.entries.len())).collect()
}

#[test]
fn a_batch_has_at_most_a_thousand_deltas() {
    for (queued, batches) in [
        (999, vec![999]),
        (1_000, vec![1_000]),
        (1_001, vec![1_000, 1]),
        (2_500, vec![1_000, 1_000, 500]),
    ] {
        let mut queue = InOrderQueue::new(Seed::new(1));
        for n in 0..queued {
            queue.add(object(key(n), 1, 1));
        }
        assert_eq!(batch_sizes(&mut queue), batches);
    }
}

/// Even if the two deltas of the key are the first and the last of the would-be batch.
#[test]
fn a_repeated_key_begins_a_new_batch() {
    for repeated in [1, 2, 500, 999, 1_000] {
        let mut queue = InOrderQueue::new(Seed::new(1));
        for n in (0..repeated).chain([0]) {
            queue.add(object(key(n), 1, 1));
        }
        assert_eq!(batch_sizes(&mut queue), [repeated, 1]);
    }
}

#[test]
fn entries_up_to_the_first_full_state_are_initial_and_later_ones_are_not() {
    let mut queue = InOrderQueue::new(Seed::new(1));
    queue.bookmark("1");
    queue.resync();
    let state = FullState {
        objects: vec![],
        unreadable: vec![],
        gone: vec![],
        complete: true,
        version: Some("2".into()),
    };
    queue.replace(state);
    queue.add(object(key(0), 1, 1));
    queue.add(object(key(1), 1, 1));
    let mut batches = vec![];
    while let Some(batch) = queue.pop_batch() {
        batches.push((batch.entries.len(), batch.initial, queue.is_synced()));
    }
    assert_eq!(
        batches,
        [
            (1, true, false),
            (1, true, false),
            (1, true, true),
            (2, false, true)
        ]
    );
}
