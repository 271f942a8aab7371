//! The rules of the work queue, by their numbers in the description of client-go: R-WQ-01 to R-WQ-13.
//! R-WQ-14 is a helper for threads, which the core does not have.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use core::time::Duration;
use std::sync::Arc;

use informer_core::Instant;
use informer_core::storage::{Heap, Seed};
use informer_core::workqueue::{
    ControllerLimiter, Exponential, FastSlow, MaxOf, MaxWait, RateLimiter, ShutDown, StrayDone,
    TokenBucket, Workqueue, controller_limiter, item_limiter,
};

type Queue<L = ()> = Workqueue<&'static str, L, Heap>;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(milliseconds: u64) -> Instant {
    Instant::default().after(ms(milliseconds))
}

fn seed() -> Seed {
    Seed::new(1)
}

/// Returns a queue with these items.
fn queue(items: &[&'static str]) -> Queue {
    let mut queue = Workqueue::new(seed());
    for item in items.iter().copied() {
        queue.add(item, at(0)).unwrap();
    }
    queue
}

/// Takes everything that can be taken.
fn take_all<L>(queue: &mut Queue<L>, now: Instant) -> Vec<&'static str> {
    core::iter::from_fn(|| queue.take(now)).collect()
}

fn delays<K>(limiter: &mut impl RateLimiter<K>, item: &K, count: usize) -> Vec<Duration> {
    let delay = |_| limiter.when(item, at(0)).unwrap();
    (0..count).map(delay).collect()
}

#[test]
fn r_wq_01_an_item_is_queued_once() {
    let mut queue = queue(&["a", "b", "a", "a"]);
    assert_eq!(queue.len(), 2);
    assert_eq!(queue.take(at(0)), Some("a"));
    // Adding a taken item again marks it, but does not queue it.
    queue.add("a", at(0)).unwrap();
    queue.add("a", at(0)).unwrap();
    assert_eq!(take_all(&mut queue, at(0)), ["b"]);
    queue.done(&"a", at(0));
    assert_eq!(take_all(&mut queue, at(0)), ["a"]);
    queue.done(&"a", at(0));
    queue.done(&"b", at(0));
    assert_eq!((queue.len(), queue.taken()), (0, 0));
}

#[test]
fn r_wq_02_queued_items_can_be_taken_after_the_shutdown() {
    let mut queue = queue(&["a", "b"]);
    assert!(!queue.is_shutting_down());
    queue.shut_down(ShutDown::Now, at(0));
    assert!(queue.is_shutting_down());
    assert_eq!(take_all(&mut queue, at(0)), ["a", "b"]);
    assert_eq!(queue.take(at(0)), None);
}

#[test]
fn r_wq_03_one_worker_per_item_and_a_re_added_item_goes_to_the_end() {
    let mut queue = queue(&["a", "b"]);
    assert_eq!(queue.take(at(0)), Some("a"));
    queue.add("a", at(0)).unwrap();
    queue.add("c", at(0)).unwrap();
    queue.done(&"a", at(0));
    assert_eq!(take_all(&mut queue, at(0)), ["b", "c", "a"]);
    assert_eq!(queue.taken(), 3);
}

#[test]
fn r_wq_04_first_in_first_out_and_len_counts_only_queued_items() {
    let mut queue = queue(&["b", "c", "a"]);
    queue.add_after("d", ms(1), at(0)).unwrap();
    assert_eq!((queue.len(), queue.taken(), queue.waiting()), (3, 0, 1));
    assert_eq!(queue.take(at(0)), Some("b"));
    assert_eq!((queue.len(), queue.taken(), queue.waiting()), (2, 1, 1));
    assert_eq!(take_all(&mut queue, at(0)), ["c", "a"]);
    assert!(queue.is_empty());
}

#[test]
fn r_wq_05_nothing_is_added_after_the_shutdown() {
    for mode in [ShutDown::Now, ShutDown::DrainTaken, ShutDown::DrainAll] {
        let mut queue = queue(&["a"]);
        assert_eq!(queue.take(at(0)), Some("a"));
        queue.shut_down(mode, at(0));
        queue.add("b", at(0)).unwrap();
        queue.add("a", at(0)).unwrap();
        queue.done(&"a", at(0));
        assert_eq!(take_all(&mut queue, at(0)), [""; 0]);
    }
}

#[test]
fn r_wq_06_a_drain_ends_when_nothing_is_taken_or_with_another_shutdown() {
    let mut queue = queue(&["a", "b"]);
    assert!(!queue.is_drained());
    assert_eq!(take_all(&mut queue, at(0)), ["a", "b"]);
    queue.shut_down(ShutDown::DrainTaken, at(0));
    queue.done(&"a", at(0));
    assert!(!queue.is_drained());
    queue.done(&"b", at(0));
    assert!(queue.is_drained());

    let mut queue = crate::queue(&["a"]);
    assert_eq!(queue.take(at(0)), Some("a"));
    queue.shut_down(ShutDown::DrainTaken, at(0));
    assert!(!queue.is_drained());
    queue.shut_down(ShutDown::Now, at(0));
    assert!(queue.is_drained());
    // Another drain waits again.
    queue.shut_down(ShutDown::DrainTaken, at(0));
    assert!(!queue.is_drained());
}

#[test]
fn r_wq_06_an_item_re_added_before_the_shutdown_comes_again() {
    let mut queue = queue(&["a"]);
    assert_eq!(queue.take(at(0)), Some("a"));
    queue.add("a", at(0)).unwrap();
    queue.shut_down(ShutDown::Now, at(0));
    assert_eq!(queue.take(at(0)), None);
    queue.done(&"a", at(0));
    assert_eq!(queue.take(at(0)), Some("a"));
}

/// client-go's drain may end with items left in the queue. So does `DrainTaken`.
#[test]
fn r_wq_07_two_kinds_of_drain() {
    for (mode, at_once) in [(ShutDown::DrainTaken, true), (ShutDown::DrainAll, false)] {
        let mut queue = queue(&["a"]);
        queue.shut_down(mode, at(0));
        assert_eq!((queue.len(), queue.is_drained()), (1, at_once));
        assert_eq!(queue.take(at(0)), Some("a"));
        // Once drained, the queue stays drained.
        assert_eq!(queue.is_drained(), at_once);
        queue.done(&"a", at(0));
        assert!(queue.is_drained());

        let mut queue = crate::queue(&["a"]);
        assert_eq!(queue.take(at(0)), Some("a"));
        queue.add("a", at(0)).unwrap();
        queue.shut_down(mode, at(0));
        queue.done(&"a", at(0));
        assert_eq!((queue.len(), queue.is_drained()), (1, at_once));
    }
}

/// A caller that saw the end of the drain does not check again.
#[test]
fn r_wq_07_a_drained_queue_stays_drained() {
    let mut queue = queue(&["a", "b"]);
    queue.shut_down(ShutDown::DrainTaken, at(0));
    assert!(queue.is_drained());
    assert_eq!(take_all(&mut queue, at(0)), ["a", "b"]);
    queue.done(&"a", at(0));
    assert_eq!((queue.taken(), queue.is_drained()), (1, true));
}

#[test]
fn r_wq_07_done_without_take() {
    let mut queue = queue(&["a", "b"]);
    queue.done(&"a", at(0));
    queue.done(&"never seen", at(0));
    assert_eq!(take_all(&mut queue, at(0)), ["a", "b"]);

    let mut queue = crate::queue(&["a", "b"]).with_stray_done(StrayDone::Requeue);
    queue.done(&"a", at(0));
    queue.done(&"never seen", at(0));
    assert_eq!(take_all(&mut queue, at(0)), ["a", "b", "a"]);
    assert_eq!(queue.taken(), 2);
    queue.done(&"a", at(0));
    queue.done(&"a", at(0));
    queue.add("a", at(0)).unwrap();
    assert_eq!(take_all(&mut queue, at(0)), ["a"]);
}

#[test]
fn r_wq_08_the_queue_does_not_keep_items_that_are_done() {
    type Held = Workqueue<Arc<str>, ControllerLimiter<Arc<str>, Heap>, Heap>;
    let item: Arc<str> = "a".into();
    let mut queue = Held::for_controller(seed());
    let mut check = |what: &str, act: &dyn Fn(&mut Held)| {
        act(&mut queue);
        assert_eq!(Arc::strong_count(&item), 1, "{what}");
    };
    check("done", &|queue| {
        queue.add(item.clone(), at(0)).unwrap();
        let taken = queue.take(at(0)).unwrap();
        queue.add(item.clone(), at(0)).unwrap();
        queue.done(&taken, at(0));
        queue.take(at(0)).unwrap();
        queue.done(&taken, at(0));
    });
    check("cancelled", &|queue| {
        queue.add_after(item.clone(), ms(5), at(0)).unwrap();
        assert!(queue.cancel(&item, at(0)));
    });
    check("forgotten", &|queue| {
        queue.retry(item.clone(), at(0)).unwrap();
        assert!(queue.cancel(&item, at(0)));
        queue.forget(&item);
    });
    check("shut down", &|queue| {
        queue.add_after(item.clone(), ms(5), at(0)).unwrap();
        queue.shut_down(ShutDown::Now, at(0));
        queue.add(item.clone(), at(0)).unwrap();
    });
}

#[test]
fn r_wq_09_delayed_items_come_in_order_of_time() {
    let mut queue = queue(&[]);
    for (item, delay) in [("c", 30), ("a", 10), ("b1", 20), ("b2", 20), ("now", 0)] {
        queue.add_after(item, ms(delay), at(0)).unwrap();
    }
    assert_eq!(queue.next_deadline(), Some(at(10)));
    assert_eq!(take_all(&mut queue, at(9)), ["now"]);
    queue.advance(at(10));
    assert_eq!((queue.len(), queue.next_deadline()), (1, Some(at(20))));
    assert_eq!(take_all(&mut queue, at(40)), ["a", "b1", "b2", "c"]);
    assert_eq!(queue.next_deadline(), None);
}

#[test]
fn r_wq_09_of_two_delays_the_one_that_ends_first_counts() {
    let mut queue = queue(&[]);
    queue.add_after("a", ms(50), at(0)).unwrap();
    queue.add_after("b", ms(20), at(0)).unwrap();
    queue.add_after("a", ms(10), at(10)).unwrap();
    queue.add_after("a", ms(90), at(10)).unwrap();
    assert_eq!(queue.waiting(), 2);
    // Items due at the same time come in the order in which they got that time.
    assert_eq!(take_all(&mut queue, at(20)), ["b", "a"]);
    assert_eq!(queue.next_deadline(), None);
}

#[test]
fn r_wq_09_a_shutdown_drops_waiting_items() {
    let mut queue = queue(&[]);
    queue.add_after("due", ms(10), at(0)).unwrap();
    queue.add_after("lost", ms(11), at(0)).unwrap();
    queue.shut_down(ShutDown::DrainAll, at(10));
    queue.add_after("late", ms(1), at(10)).unwrap();
    queue.add_after("late", ms(0), at(10)).unwrap();
    assert_eq!((queue.waiting(), queue.next_deadline()), (0, None));
    assert_eq!(take_all(&mut queue, at(99)), ["due"]);
}

#[test]
fn r_wq_09_no_delay_is_too_short_or_too_long() {
    let mut queue = queue(&[]);
    queue
        .add_after("a", Duration::from_nanos(1), at(0))
        .unwrap();
    queue.add_after("b", Duration::MAX, at(0)).unwrap();
    assert_eq!(queue.take(at(0)), None);
    assert_eq!(queue.next_deadline(), Some(Instant::from_micros(1)));
    assert_eq!(
        take_all(&mut queue, Instant::from_micros(u64::MAX - 1)),
        ["a"]
    );
    assert_eq!(queue.waiting(), 1);
}

#[test]
fn r_wq_10_an_add_does_not_cancel_a_delay_but_cancel_does() {
    let mut queue = queue(&[]);
    queue.add_after("a", ms(10), at(0)).unwrap();
    queue.add("a", at(0)).unwrap();
    assert_eq!(queue.take(at(0)), Some("a"));
    queue.done(&"a", at(0));
    assert_eq!(queue.take(at(10)), Some("a"));
    queue.done(&"a", at(10));

    queue.add_after("a", ms(10), at(10)).unwrap();
    queue.add_after("b", ms(10), at(10)).unwrap();
    assert!(queue.cancel(&"a", at(19)));
    assert!(!queue.cancel(&"a", at(19)));
    // Too late: the item is queued.
    assert!(!queue.cancel(&"b", at(20)));
    assert_eq!(take_all(&mut queue, at(20)), ["b"]);
}

#[test]
fn r_wq_11_retry_uses_the_delay_of_the_limiter_and_forget_cancels_nothing() {
    let limiter = Exponential::new(ms(5), ms(1_000), seed());
    let mut queue: Queue<Exponential<_, Heap>> = Workqueue::new(seed()).with_limiter(limiter);
    queue.add("a", at(0)).unwrap();
    for (now, due, attempts) in [(0, 5, 1), (5, 15, 2), (15, 35, 3)] {
        assert_eq!(queue.take(at(now)), Some("a"));
        queue.retry("a", at(now)).unwrap();
        assert_eq!(queue.next_deadline(), Some(at(due)));
        assert_eq!(queue.attempts(&"a"), attempts);
        queue.done(&"a", at(now));
    }
    queue.forget(&"a");
    assert_eq!((queue.attempts(&"a"), queue.waiting()), (0, 1));
    assert_eq!(queue.take(at(35)), Some("a"));
    queue.add("a", at(35)).unwrap();
    queue.forget(&"a");
    assert_eq!(queue.take(at(35)), None, "the item is still taken");
    // A delay that ends while the item is taken counts as an add.
    queue.done(&"a", at(35));
    assert_eq!(queue.take(at(35)), Some("a"));
    queue.retry("a", at(35)).unwrap();
    assert_eq!(queue.take(at(99)), None);
    queue.done(&"a", at(99));
    assert_eq!(queue.take(at(99)), Some("a"));
}

#[test]
fn r_wq_12_delays_double_up_to_a_maximum_and_never_overflow() {
    let mut limiter: Exponential<_, Heap> = Exponential::new(ms(5), ms(1_000_000), seed());
    let all = delays(&mut limiter, &"a", 300);
    assert_eq!(all[..4], [5, 10, 20, 40].map(ms));
    for (n, delay) in all.iter().enumerate() {
        let expected = if n < 18 { 5 << n } else { 1_000_000 };
        assert_eq!(*delay, ms(expected), "{n}");
    }
    assert_eq!(limiter.attempts(&"a"), 300);
    assert_eq!(delays(&mut limiter, &"b", 1), [ms(5)]);
    limiter.forget(&"a");
    assert_eq!((limiter.attempts(&"a"), limiter.attempts(&"b")), (0, 1));
    assert_eq!(delays(&mut limiter, &"a", 1), [ms(5)]);

    for (base, max, last) in [
        (1, Duration::MAX, Duration::MAX),
        (0, Duration::MAX, Duration::ZERO),
        (9, Duration::from_nanos(3), Duration::from_nanos(3)),
    ] {
        let base = Duration::from_nanos(base);
        let mut limiter: Exponential<_, Heap> = Exponential::new(base, max, seed());
        let all = delays(&mut limiter, &"a", 300);
        assert!(all.is_sorted());
        assert_eq!((all[0], all[299]), (base.min(max), last));
    }
}

#[test]
fn r_wq_12_defaults() {
    let mut limiter: ControllerLimiter<_, Heap> = controller_limiter(seed());
    let all = delays(&mut limiter, &"a", 20);
    assert_eq!([all[0], all[1], all[19]], [5, 10, 1_000_000].map(ms));
    // The burst is 100. Then there is one retry every 100 ms, which is longer than the exponential delay.
    let others: Vec<_> = (0..90).map(|n| format!("b{n}")).collect();
    let others: Vec<_> = others.iter().map(String::as_str).collect();
    let all: Vec<_> = others
        .iter()
        .map(|b| limiter.when(b, at(0)).unwrap())
        .collect();
    assert!(all[..80].iter().all(|delay| *delay == ms(5)));
    assert_eq!(all[80..83], [100, 200, 300].map(ms));
    let mut limiter: Exponential<_, Heap> = item_limiter(seed());
    let all = delays(&mut limiter, &"a", 30);
    assert_eq!([all[0], all[1], all[29]], [1, 2, 1_000_000].map(ms));
}

#[test]
fn r_wq_13_fast_then_slow() {
    let mut limiter: FastSlow<_, Heap> = FastSlow::new(ms(5), ms(10_000), 3, seed());
    let expected = [5, 5, 5, 10_000, 10_000].map(ms);
    assert_eq!(delays(&mut limiter, &"a", 5), expected);
    assert_eq!(delays(&mut limiter, &"b", 1), [ms(5)]);
    assert_eq!((limiter.attempts(&"a"), limiter.attempts(&"b")), (5, 1));
    limiter.forget(&"a");
    assert_eq!(limiter.attempts(&"a"), 0);
    assert_eq!(delays(&mut limiter, &"a", 5), expected);
    let mut limiter: FastSlow<_, Heap> = FastSlow::new(ms(5), ms(7), 0, seed());
    assert_eq!(delays(&mut limiter, &"a", 1), [ms(7)]);
}

#[test]
fn r_wq_13_the_longest_delay_of_several_up_to_a_maximum() {
    let fast_slow: FastSlow<_, Heap> = FastSlow::new(ms(5), ms(3_000), 3, seed());
    let exponential: Exponential<_, Heap> = Exponential::new(ms(1), ms(1_000), seed());
    let bucket = TokenBucket::new(1.0, 100);
    let mut limiter = MaxOf::new(MaxOf::new(fast_slow, exponential), bucket);
    assert_eq!(limiter.when(&"other", at(0)), Ok(ms(5)));
    assert_eq!(
        delays(&mut limiter, &"a", 4),
        [5, 5, 5, 3_000].map(ms),
        "{limiter:?}"
    );
    assert_eq!((limiter.attempts(&"a"), limiter.attempts(&"other")), (4, 1));
    limiter.forget(&"a");
    assert_eq!((limiter.attempts(&"a"), limiter.attempts(&"other")), (0, 1));
    assert_eq!(delays(&mut limiter, &"a", 1), [ms(5)]);

    let mut limiter = MaxWait::new(limiter, ms(900));
    assert_eq!(
        delays(&mut limiter, &"a", 4),
        [5, 5, 900, 900].map(ms),
        "{limiter:?}"
    );
    assert_eq!(limiter.attempts(&"a"), 5);
    limiter.forget(&"a");
    assert_eq!(limiter.attempts(&"a"), 0);
}

#[test]
fn r_wq_13_a_bucket_refills_up_to_its_size() {
    let mut bucket = TokenBucket::new(2.0, 2);
    let mut when = |now| bucket.when(&"any", at(now)).unwrap();
    assert_eq!([when(0), when(0), when(0)], [0, 0, 500].map(ms));
    // An earlier time counts as the last one.
    assert_eq!(when(250), ms(750));
    assert_eq!(when(0), ms(1_250));
    assert_eq!(
        [when(60_000), when(60_000), when(60_000)],
        [0, 0, 500].map(ms)
    );
    let for_next = bucket.when(&"any", at(60_000));
    RateLimiter::forget(&mut bucket, &"any");
    assert_eq!(for_next, Ok(ms(1_000)));
    assert_eq!(bucket.when(&"any", at(60_000)), Ok(ms(1_500)));
    assert_eq!(bucket.attempts(&"any"), 0);
}

#[test]
fn r_wq_13_buckets_with_odd_rates() {
    let for_ever = Duration::MAX;
    for (rate, burst, expected) in [
        (0.0, 1, [Duration::ZERO, for_ever]),
        (-3.0, 1, [Duration::ZERO, for_ever]),
        (f64::NAN, 1, [Duration::ZERO, for_ever]),
        (1e-300, 1, [Duration::ZERO, for_ever]),
        (1.0, 0, [for_ever; 2]),
        (f64::INFINITY, 0, [Duration::ZERO; 2]),
    ] {
        let mut bucket = TokenBucket::new(rate, burst);
        assert_eq!(delays(&mut bucket, &"any", 2), expected, "{rate}, {burst}");
    }
    // An item that waits for ever can be cancelled.
    let bucket = TokenBucket::new(0.0, 0);
    let mut queue: Queue<TokenBucket> = Workqueue::new(seed()).with_limiter(bucket);
    queue.retry("a", at(1)).unwrap();
    assert_eq!(queue.take(at(1 << 40)), None);
    assert!(queue.cancel(&"a", at(1 << 40)));
}

#[test]
fn time_never_goes_back() {
    let mut queue = queue(&[]);
    queue.advance(at(100));
    queue.add_after("a", ms(10), at(0)).unwrap();
    assert_eq!(queue.next_deadline(), Some(at(110)));
    assert_eq!(queue.take(at(50)), None);
    assert_eq!(queue.take(at(110)), Some("a"));
    let bucket = TokenBucket::new(1.0, 1);
    let mut queue: Queue<TokenBucket> = Workqueue::new(seed()).with_limiter(bucket);
    queue.retry("a", at(0)).unwrap();
    queue.advance(at(1_000));
    queue.retry("b", at(0)).unwrap();
    assert_eq!(queue.len(), 2, "the bucket has refilled");
}

/// Items that are due at the time of a call come before the item of the call.
#[test]
fn due_items_come_first() {
    let mut queue = queue(&["first"]);
    assert_eq!(queue.take(at(0)), Some("first"));
    queue.add("first", at(0)).unwrap();
    queue.add_after("due", ms(10), at(0)).unwrap();
    queue.done(&"first", at(10));
    queue.add_after("due later", ms(10), at(10)).unwrap();
    queue.add("added", at(20)).unwrap();
    let all = ["due", "first", "due later", "added"];
    assert_eq!(take_all(&mut queue, at(20)), all);
}
