//! Compares `DeltaFifo` with a list of lists that follows the rules of the conformance vectors, and its
//! streamed relist with the definition of a full state.

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

use informer_core::flow::{Deletion, Delta, Step};
use informer_core::indexer::Rules;
use informer_core::queue::{DeltaFifo, NothingKnown, ReplaceAs};
use informer_core::storage::{Fixed, Seed};
use model_support::{
    Config, End, Event, Fifo, NaiveFifo, Obj, Perhaps, State, Store, Stream, any_config,
    any_deletion, any_emit, any_object, any_round, any_rules, cases, contents, key, keys, object,
    queue_of,
};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Add(Obj),
    Update(Obj),
    Delete(Obj),
    DeleteAs(Deletion<Obj>),
    /// `one_by_one`: call begin, items and end instead of `replace`.
    Replace {
        objects: Vec<Obj>,
        one_by_one: bool,
    },
    Resync,
    /// `fails`: the handler reads the first delta and gives up.
    Pop {
        fails: bool,
    },
    Close,
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => any_object().prop_map(Op::Add),
        3 => any_object().prop_map(Op::Update),
        4 => any_object().prop_map(Op::Delete),
        3 => any_deletion().prop_map(Op::DeleteAs),
        4 => (vec(any_object(), 0..6), any::<bool>())
            .prop_map(|(objects, one_by_one)| Op::Replace { objects, one_by_one }),
        1 => Just(Op::Resync),
        5 => prop::bool::weighted(0.2).prop_map(|fails| Op::Pop { fails }),
        1 => Just(Op::Close),
    ]
}

/// The queue, the store of its consumer, and a model of both.
struct World {
    fifo: Fifo,
    store: Store,
    model: NaiveFifo,
    closed: bool,
}

impl World {
    fn new(config: Config, known_at_first: Vec<Obj>) -> Self {
        let fifo = Fifo::new(Seed::new(1)).with_replace_as(config.emit);
        let mut store = Store::new(Seed::new(2));
        let mut known = State::new();
        for object in known_at_first.into_iter().filter(|_| config.known) {
            known.insert(object.key().clone(), object.clone());
            store.put(object).unwrap();
        }
        let model = NaiveFifo::new(config, known);
        Self {
            fifo,
            store,
            model,
            closed: false,
        }
    }

    fn run(&mut self, op: Op) {
        let Self {
            fifo, store, model, ..
        } = self;
        let order: Vec<_> = store.iter().map(|object| object.key().clone()).collect();
        let known = &Perhaps(model.config.known.then_some(&**store));
        match op {
            Op::Add(object) => {
                model.upsert(Delta::Added(object.clone()));
                fifo.add(object).unwrap();
            }
            Op::Update(object) => {
                model.upsert(Delta::Updated(object.clone()));
                fifo.update(object).unwrap();
            }
            Op::Delete(object) => {
                model.delete(Deletion::Observed(object.clone()));
                fifo.delete(object, known).unwrap();
            }
            Op::DeleteAs(deletion) => {
                model.delete(deletion.clone());
                fifo.delete_as(deletion, known).unwrap();
            }
            Op::Replace {
                objects,
                one_by_one,
            } => {
                model.replace(objects.clone(), &order);
                replace(fifo, objects, one_by_one, known);
            }
            Op::Resync => {
                model.resync(&order);
                fifo.resync(known).unwrap();
            }
            Op::Pop { fails } => self.pop(fails),
            Op::Close => {
                fifo.close();
                self.closed = true;
            }
        }
    }

    fn pop(&mut self, fails: bool) {
        let expected = self.model.pop();
        let Some(mut popped) = self.fifo.pop() else {
            assert_eq!(expected, None, "the model has a key to pop");
            return;
        };
        let (chain, initial) = expected.expect("the model is empty");
        if fails {
            // Rule 8: dropping the iterator discards the rest.
            let first = popped.next().and_then(Step::into_delta);
            assert_eq!(first.as_ref(), chain.first());
            return;
        }
        let steps: Vec<_> = popped.collect();
        let deltas: Vec<_> = steps.iter().cloned().filter_map(Step::into_delta).collect();
        assert_eq!(deltas, chain);
        for step in steps {
            let Step::Delta {
                delta,
                initial: told,
                ..
            } = &step
            else {
                panic!("{step:?}")
            };
            assert_eq!(*told, initial, "rule 7");
            if !self.model.config.known {
                continue;
            }
            match delta {
                Delta::Deleted(deletion) => self.model.known.remove(deletion.key()),
                put => self
                    .model
                    .known
                    .insert(put.key().clone(), put.object().unwrap().clone()),
            };
            let applied = self.store.apply(step, Rules::client_go());
            assert_eq!(applied.left_out, 0);
        }
    }

    fn check(&self) {
        let Self { fifo, model, .. } = self;
        assert_eq!(queue_of(fifo), model.queue);
        for key in keys().filter(|key| !model.is_queued(key)) {
            assert_eq!(
                fifo.deltas(&key).count(),
                0,
                "deltas of a key that is not queued"
            );
        }
        assert_eq!(fifo.len(), model.queue.len());
        assert_eq!(fifo.is_empty(), model.queue.is_empty());
        assert_eq!(fifo.is_synced(), model.is_synced(), "rule 6");
        assert_eq!(fifo.is_closed(), self.closed, "rule 9");
        assert_eq!(contents(&self.store), model.known);
    }
}

fn replace(fifo: &mut Fifo, objects: Vec<Obj>, one_by_one: bool, known: &Perhaps<'_>) {
    if !one_by_one {
        return fifo.replace(objects, known).unwrap();
    }
    fifo.begin_replace(known);
    for object in objects {
        fifo.replace_item(object).unwrap();
    }
    fifo.end_replace(known).unwrap();
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn one_shot_operations_follow_the_rules_of_the_vectors(
        config in any_config(),
        known_at_first in vec(any_object(), 0..4),
        ops in vec(any_op(), 0..40),
    ) {
        let mut world = World::new(config, known_at_first);
        world.check();
        for op in ops {
            world.run(op);
            world.check();
        }
    }

    #[test]
    fn a_streamed_full_state_without_pops_in_between_is_a_replace(
        config in any_config(),
        known_at_first in vec(any_object(), 0..4),
        before in vec(any_op(), 0..15),
        objects in vec(any_object(), 0..8),
    ) {
        let [one_shot, streamed] = [false, true].map(|one_by_one| {
            let mut world = World::new(config, known_at_first.clone());
            before.iter().cloned().for_each(|op| world.run(op));
            world.run(Op::Replace { objects: objects.clone(), one_by_one });
            world
        });
        prop_assert_eq!(queue_of(&one_shot.fifo), queue_of(&streamed.fifo));
        prop_assert_eq!(one_shot.fifo.is_synced(), streamed.fifo.is_synced());
        prop_assert_eq!(one_shot.fifo.len(), streamed.fifo.len());
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// The store ends up with the full state. Vanished objects are deleted once; the listener rejects a
    /// second notification. The queue is synced after the end and all pops, not before.
    #[test]
    fn a_streamed_full_state_with_pops_in_between_is_complete(
        emit in any_emit(), rules in any_rules(), rounds in vec(any_round(), 1..4),
    ) {
        Stream::new(emit, rules).run_all(rounds);
    }

}

/// A queue needs room only for what it holds at the same time.
#[test]
fn popped_deltas_free_their_room() {
    let mut fifo = DeltaFifo::<Obj, Fixed<4>>::new(Seed::new(1));
    for n in 0..1_000 {
        fifo.add(object(key(n), 1, 1)).unwrap();
        fifo.update(object(key(n), 1, 2)).unwrap();
        fifo.replace([object(key(n + 1), 1, 1)], &NothingKnown)
            .unwrap();
        while fifo.pop().is_some() {}
    }
}

/// The store drops an update without changes, but must remember that the full state contains the object.
#[test]
fn an_unchanged_object_that_was_popped_before_the_end_stays() {
    let mut stream = Stream::new(ReplaceAs::Replaced, Rules::default());
    let before = vec![Event::Added(object(key(0), 1, 1)), Event::Pop];
    let within = vec![Event::ItemAgain(key(0)), Event::Pop];
    stream.run_all(vec![(before, within, End::Complete)]);
}

/// A resync must not reset the mark that the full state contains the object.
#[test]
fn an_object_that_was_listed_popped_and_resynced_is_not_deleted() {
    let mut stream = Stream::new(ReplaceAs::Replaced, Rules::default());
    let within = vec![Event::Item(object(key(0), 1, 1)), Event::Pop, Event::Resync];
    stream.run_all(vec![(vec![], within, End::Complete)]);
}

/// A full state from `Indexer::replace` has a different epoch than one from a queue.
#[test]
fn a_store_that_was_filled_by_replace_is_swept_by_a_queue() {
    let mut store = Store::new(Seed::new(1));
    store.replace([object(key(0), 1, 1)], "1").unwrap();
    let mut fifo = Fifo::new(Seed::new(1));
    fifo.replace([], &*store).unwrap();
    assert_eq!(fifo.len(), 1, "the object has vanished");
}

#[test]
fn a_store_that_was_filled_by_one_queue_is_swept_by_the_next() {
    let mut store = Store::new(Seed::new(1));
    let mut first = Fifo::new(Seed::new(1));
    first.replace([object(key(0), 1, 1)], &*store).unwrap();
    let step = first.pop().unwrap().next().unwrap();
    assert_eq!(store.apply(step, Rules::default()).notifications.count(), 1);
    let mut second = Fifo::new(Seed::new(1));
    second.replace([], &*store).unwrap();
    assert_eq!(second.len(), 1, "the object has vanished");
}
