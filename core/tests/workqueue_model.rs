//! Compares a work queue with a simple model, under random operations.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use informer_core::Instant;
use informer_core::storage::{Cells, Fixed, Frozen, Full, Heap, Pages, Seed, Storage};
use informer_core::workqueue::{
    Exponential, MaxOf, RateLimiter, ShutDown, StrayDone, TokenBucket, Workqueue,
};
use informer_test_support::Random;

/// Storage with a bound for each kind of cell: places, table buckets and heap positions.
#[derive(Clone, Copy)]
enum Bounded<const PLACES: usize, const BUCKETS: usize, const HEAP: usize> {}

#[derive(Default)]
struct BoundedCells<T, const PLACES: usize, const BUCKETS: usize, const HEAP: usize>(Vec<T>);

impl<const P: usize, const B: usize, const H: usize> Storage for Bounded<P, B, H> {
    type Cells<T: Default> = BoundedCells<T, P, B, H>;
    type Few<T: Default> = Vec<T>;
    type Pages<T: Default + Clone, const CELLS: usize> = Pages<T, CELLS>;
    type FewPages<T: Default + Clone> = Vec<T>;
    type Sources<T: Default> = Vec<T>;
    type Holds<T: Default + Clone> = Pages<T, 16>;
    type Kept<V: Clone> = Frozen<V>;
    type Text = String;
    type Bytes = Arc<[u8]>;
}

impl<T: Default, const P: usize, const B: usize, const H: usize> Cells<T>
    for BoundedCells<T, P, B, H>
{
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.0.get_mut(at)
    }

    fn capacity(&self) -> usize {
        match size_of::<T>() {
            4 => H,
            8 => B,
            _ => P,
        }
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if len > self.capacity() {
            return Err(Full);
        }
        let len = len.max(self.0.len());
        self.0.resize_with(len, T::default);
        Ok(())
    }
}

type Item = u8;

const BASE: u64 = 3_000;
const MAX: u64 = 40_000;

/// The bounds that the model applies.
#[derive(Clone, Copy, Default)]
struct Bounds {
    items: usize,
    waiting: usize,
    failing: usize,
}

const UNBOUNDED: Bounds = Bounds {
    items: usize::MAX,
    waiting: usize::MAX,
    failing: usize::MAX,
};

#[derive(Default)]
struct Model {
    bounds: Bounds,
    stray: StrayDone,
    now: u64,
    queue: VecDeque<Item>,
    dirty: BTreeSet<Item>,
    processing: BTreeSet<Item>,
    /// In order of scheduling.
    waiting: Vec<(u64, Item)>,
    failures: BTreeMap<Item, u32>,
    shut_down: Option<ShutDown>,
    drained: bool,
}

impl Model {
    fn new(bounds: Bounds, stray: StrayDone) -> Self {
        Self {
            bounds,
            stray,
            ..Self::default()
        }
    }

    fn waits(&self, item: Item) -> bool {
        self.waiting.iter().any(|(_, waiting)| *waiting == item)
    }

    /// Whether the item is known, or there is room for it.
    fn has_room_for(&self, item: Item) -> bool {
        let mut known: BTreeSet<Item> = self.queue.iter().copied().collect();
        known.extend(self.dirty.iter().chain(&self.processing));
        known.extend(self.waiting.iter().map(|(_, item)| item));
        known.contains(&item) || known.len() < self.bounds.items
    }

    fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        loop {
            // The first item with the earliest time.
            let due = self.waiting.iter().map(|(due, _)| *due).min();
            let Some(due) = due.filter(|due| *due <= self.now) else {
                return;
            };
            let at = self.waiting.iter().position(|(d, _)| *d == due).unwrap();
            let (_, item) = self.waiting.remove(at);
            self.insert(item);
        }
    }

    fn insert(&mut self, item: Item) {
        if self.dirty.insert(item) && !self.processing.contains(&item) {
            self.queue.push_back(item);
        }
    }

    fn add(&mut self, item: Item) -> Result<(), Full> {
        if self.shut_down.is_some() {
            return Ok(());
        }
        if !self.has_room_for(item) {
            return Err(Full);
        }
        self.insert(item);
        Ok(())
    }

    fn add_after(&mut self, item: Item, delay: Duration) -> Result<(), Full> {
        if delay.is_zero() {
            return self.add(item);
        }
        if self.shut_down.is_some() {
            return Ok(());
        }
        self.has_room_to_wait(item)?;
        let due = self.now + u64::try_from(delay.as_nanos().div_ceil(1_000)).unwrap();
        match self.waiting.iter().position(|(_, i)| *i == item) {
            Some(at) if self.waiting[at].0 <= due => return Ok(()),
            Some(at) => drop(self.waiting.remove(at)),
            None => {}
        }
        self.waiting.push((due, item));
        Ok(())
    }

    fn has_room_to_wait(&self, item: Item) -> Result<(), Full> {
        let room = self.waits(item) || self.waiting.len() < self.bounds.waiting;
        (room && self.has_room_for(item)).then_some(()).ok_or(Full)
    }

    fn retry(&mut self, item: Item) -> Result<(), Full> {
        if self.shut_down.is_none() {
            self.has_room_to_wait(item)?;
        }
        let failures = self.failures.get(&item).copied().unwrap_or(0);
        if failures == 0 && self.failures.len() >= self.bounds.failing {
            return Err(Full);
        }
        self.failures.insert(item, failures + 1);
        let micros = (BASE as f64 * 2_f64.powf(failures.into())).min(MAX as f64);
        self.add_after(item, Duration::from_micros(micros as u64))
    }

    fn take(&mut self) -> Option<Item> {
        let item = self.queue.pop_front()?;
        self.dirty.remove(&item);
        self.processing.insert(item);
        Some(item)
    }

    fn done(&mut self, item: Item) {
        let was_taken = self.processing.remove(&item);
        if self.dirty.contains(&item) && (was_taken || self.stray == StrayDone::Requeue) {
            self.queue.push_back(item);
        }
        self.look();
    }

    fn cancel(&mut self, item: Item) -> bool {
        let waited = self.waits(item);
        self.waiting.retain(|(_, waiting)| *waiting != item);
        waited
    }

    fn shut_down(&mut self, mode: ShutDown) {
        self.waiting.clear();
        self.shut_down = Some(mode);
        self.drained = false;
        self.look();
    }

    fn look(&mut self) {
        let idle = self.processing.is_empty();
        self.drained = self.drained
            || match self.shut_down {
                None => false,
                Some(ShutDown::Now) => true,
                Some(ShutDown::DrainTaken) => idle,
                Some(ShutDown::DrainAll) => idle && self.queue.is_empty(),
            };
    }
}

/// Counts events, so that a test can check that they happened.
#[derive(Default, Debug)]
struct Seen {
    taken: usize,
    full: usize,
    due: usize,
    cancelled: usize,
    drained: usize,
    /// Items taken by two workers at once.
    twice: usize,
}

/// Runs `steps` operations on `items` items.
fn run<S: Storage>(mut model: Model, items: u64, steps: u32, seed: u64, seen: &mut Seen) {
    let (base, max) = (Duration::from_micros(BASE), Duration::from_micros(MAX));
    let mut queue: Workqueue<Item, _, S> = Workqueue::new(Seed::new(seed))
        .with_stray_done(model.stray)
        .with_limiter(Exponential::<Item, S>::new(base, max, Seed::new(!seed)));
    let mut random = Random::new(seed);
    let mut clock = 0;
    for step in 0..steps {
        // Time stands still, passes or jumps. Sometimes the queue gets an earlier time.
        clock += [0, 0, random.below(3), random.below(9_000)][random.below(4) as usize];
        let told = [random.below(clock + 1), clock][random.below(8).min(1) as usize];
        let now = Instant::from_micros(told);
        let item = random.below(items) as Item;
        macro_rules! same {
            ($got:expr, $expected:expr) => {
                assert_eq!($got, $expected, "seed {seed}, step {step}, item {item}")
            };
        }
        let waiting = model.waiting.len();
        model.advance(told);
        seen.due += waiting - model.waiting.len();
        match random.below(if step * 20 < steps * 19 { 40 } else { 42 }) {
            0..8 => {
                let expected = model.add(item);
                seen.full += usize::from(expected.is_err());
                same!(queue.add(item, now), expected);
            }
            8..16 => {
                // Use few different times, so that many are equal. Some are not whole microseconds.
                let unit = [1_000, 20_000][random.below(2) as usize];
                let delay = Duration::from_micros(random.below(6) * unit)
                    + Duration::from_nanos([0, 0, 0, 1, 500, 1_999][random.below(6) as usize]);
                let expected = model.add_after(item, delay);
                seen.full += usize::from(expected.is_err());
                same!(queue.add_after(item, delay, now), expected);
            }
            16..20 => {
                let expected = model.retry(item);
                seen.full += usize::from(expected.is_err());
                same!(queue.retry(item, now), expected);
            }
            20..22 => {
                model.failures.remove(&item);
                queue.forget(&item);
                // `forget` is the only operation without a time.
                queue.advance(now);
            }
            22..30 => {
                let before = model.processing.len();
                let taken = model.take();
                seen.taken += usize::from(taken.is_some());
                seen.twice += usize::from(taken.is_some() && model.processing.len() == before);
                same!(queue.take(now), taken);
            }
            30..37 => {
                // Usually an item that is taken.
                let nth = random.below(1 + model.processing.len() as u64);
                let item = model.processing.iter().nth(nth as usize).copied();
                let item = item.unwrap_or_else(|| random.below(items) as Item);
                model.done(item);
                queue.done(&item, now);
            }
            37..39 => {
                let cancelled = model.cancel(item);
                seen.cancelled += usize::from(cancelled);
                same!(queue.cancel(&item, now), cancelled);
            }
            39 => queue.advance(now),
            _ => {
                let modes = [ShutDown::Now, ShutDown::DrainTaken, ShutDown::DrainAll];
                let mode = modes[random.below(3) as usize];
                model.shut_down(mode);
                queue.shut_down(mode, now);
            }
        }
        same!(queue.len(), model.queue.len());
        same!(queue.taken(), model.processing.len());
        same!(queue.waiting(), model.waiting.len());
        let due = model.waiting.iter().map(|(due, _)| *due).min();
        same!(queue.next_deadline(), due.map(Instant::from_micros));
        same!(queue.is_shutting_down(), model.shut_down.is_some());
        same!(queue.is_drained(), model.drained);
        let failures = model.failures.get(&item).copied().unwrap_or(0);
        same!(queue.attempts(&item), failures);
    }
    seen.drained += usize::from(model.drained);
    // Compare the items as well, not only their number.
    let left: Vec<_> = core::iter::from_fn(|| queue.take(Instant::default())).collect();
    assert_eq!(left, Vec::from(model.queue), "seed {seed}");
}

#[test]
fn agrees_with_the_model() {
    for (stray, items) in [
        (StrayDone::Ignore, 4),
        (StrayDone::Ignore, 40),
        (StrayDone::Requeue, 3),
        (StrayDone::Requeue, 40),
    ] {
        let mut seen = Seen::default();
        for seed in 0..150 {
            run::<Heap>(Model::new(UNBOUNDED, stray), items, 400, seed, &mut seen);
        }
        assert!(seen.taken > 4_000 && seen.due > 2_000, "{seen:?}");
        assert!(seen.cancelled > 200 && seen.drained > 25, "{seen:?}");
        assert_eq!(seen.full, 0);
        // Only the default guarantees that two workers never have the same item.
        assert_eq!(seen.twice > 0, stray == StrayDone::Requeue, "{seen:?}");
    }
}

/// Each bound is reached in turn. The model knows exactly when, and that nothing has changed then.
#[test]
fn agrees_with_the_model_within_bounds() {
    fn meets<S: Storage>(items: usize, waiting: usize, failing: usize) {
        let bounds = Bounds {
            items,
            waiting,
            failing,
        };
        let mut seen = Seen::default();
        for seed in 0..150 {
            let model = Model::new(bounds, StrayDone::Ignore);
            run::<S>(model, 24, 600, seed, &mut seen);
        }
        assert!(seen.full > 1_000 && seen.taken > 10_000, "{seen:?}");
    }
    meets::<Bounded<10, 64, 64>>(10, 64, 10);
    meets::<Bounded<64, 12, 64>>(12, 64, 12);
    meets::<Fixed<10>>(10, 10, 10);
    meets::<Bounded<64, 64, 5>>(64, 5, 64);
}

/// With [`StrayDone::Requeue`] and no room for a second place, the item stays queued once.
#[test]
fn a_second_place_without_room_is_left_out() {
    let now = Instant::default();
    let mut queue: Workqueue<Item, (), Bounded<2, 8, 2>> =
        Workqueue::new(Seed::new(1)).with_stray_done(StrayDone::Requeue);
    queue.add(1, now).unwrap();
    queue.done(&1, now);
    queue.done(&1, now);
    assert_eq!(queue.len(), 2);
    assert_eq!(queue.add(2, now), Err(Full));
    assert_eq!(queue.take(now), Some(1));
    assert_eq!(queue.take(now), Some(1));
    queue.done(&1, now);
    // All places are free again.
    queue.add(2, now).unwrap();
    queue.add(3, now).unwrap();
}

/// In the end all room is free again, even if items were queued and taken twice.
#[test]
fn second_places_are_freed() {
    let now = Instant::default();
    let later = Instant::from_micros(1);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut queue: Workqueue<Item, (), Bounded<6, 8, 6>> =
            Workqueue::new(Seed::new(seed)).with_stray_done(StrayDone::Requeue);
        for _ in 0..300 {
            let item = random.below(8) as Item;
            match random.below(6) {
                0 => drop(queue.add(item, now)),
                1 => drop(queue.add_after(item, Duration::from_secs(1), now)),
                2 => drop(queue.cancel(&item, now)),
                3 => drop(queue.take(now)),
                _ => queue.done(&item, now),
            }
        }
        for item in 0..8 {
            queue.cancel(&item, later);
            queue.done(&item, later);
        }
        for _ in 0..queue.len() {
            let item = queue.take(later).unwrap();
            queue.done(&item, later);
        }
        assert_eq!((queue.len(), queue.taken(), queue.waiting()), (0, 0, 0));
        for item in 10..16 {
            queue.add(item, later).unwrap();
        }
    }
}

/// If one of two combined limiters is full, the other must not count the attempt.
#[test]
fn combined_limiters_count_together() {
    type Small = Bounded<2, 8, 8>;
    type Large = Bounded<8, 8, 8>;
    let second = Duration::from_secs(1);
    let now = Instant::default();
    let small = Exponential::<Item, Small>::new(second, second, Seed::new(1));
    let large = Exponential::<Item, Large>::new(second, second, Seed::new(1));
    let mut both = MaxOf::new(large, small);
    for item in [1, 2, 2] {
        assert_eq!(both.when(&item, now), Ok(second));
    }
    assert_eq!(both.reserve(&3), Err(Full));
    assert_eq!(both.when(&3, now), Err(Full));
    assert_eq!([1, 2, 3].map(|item| both.attempts(&item)), [1, 2, 0]);
    both.forget(&1);
    assert_eq!(both.when(&3, now), Ok(second));
}

/// The model counts millionths of tokens as integers.
#[test]
fn a_bucket_agrees_with_an_integer_model() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (per_second, burst) = (1 + random.below(50), 1 + random.below(20));
        let mut bucket = TokenBucket::new(per_second as f64, burst as u32);
        let full = i128::from(burst) * 1_000_000;
        let (mut tokens, mut now) = (full, 0);
        for _ in 0..300 {
            let passed = [0, random.below(1_000), random.below(400_000)][random.below(3) as usize];
            now += passed;
            tokens = (tokens + i128::from(passed * per_second)).min(full) - 1_000_000;
            let expected = (-tokens).max(0) as f64 / per_second as f64 / 1e6;
            let got = bucket.when(&(), Instant::from_micros(now)).unwrap();
            let off = (got.as_secs_f64() - expected).abs();
            assert!(off < 1e-6, "seed {seed}: {got:?}, expected {expected}");
        }
    }
}

/// Items come in order of time, and items due at the same time in order of scheduling. The test would take
/// far too long if scheduling took linear time.
#[test]
fn many_delays_come_out_in_order() {
    let mut random = Random::new(9);
    let mut queue: Workqueue<u32, (), Heap> = Workqueue::new(Seed::new(1));
    let start = Instant::default();
    let mut expected = Vec::new();
    for item in 0..60_000 {
        let due = 1 + random.below(50_000);
        queue
            .add_after(item, Duration::from_micros(due), start)
            .unwrap();
        expected.push((due, item));
    }
    expected.retain(|(_, item)| item % 3 != 0 || !queue.cancel(item, start));
    expected.sort_unstable();
    for (due, item) in expected {
        assert_eq!(queue.take(Instant::from_micros(due)), Some(item));
    }
    assert_eq!((queue.waiting(), queue.len()), (0, 0));
}
