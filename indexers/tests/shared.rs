//! One writer, readers on other threads: every snapshot is consistent.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use informer_core::indexer::{IndexFn, Indexer, View, Write};
use informer_core::storage::{Heap, Seed};
use informer_core::{Object, ObjectKey};
use informer_indexers::shared::{self, Reader, Snapshot, VersionWaitError, Writer};
use informer_indexers::{TypedIndex, by};
use informer_test_support::Woken;

type Account = Object<i64>;

/// Long enough for any machine. Only a failing test waits for it.
const LONG: Duration = Duration::from_secs(120);

fn account(name: usize, balance: i64, version: u64) -> Account {
    Object::builder(ObjectKey::new("bank", &format!("a{name}")))
        .version(version.to_string())
        .labels([("parity", if balance % 2 == 0 { "even" } else { "odd" })])
        .body(balance)
}

fn by_balance() -> IndexFn<Account> {
    TypedIndex::of(|account: &Account| Some(*account.body()))
        .ordered()
        .into_fn()
}

const ACCOUNTS: usize = 300;

/// Every account starts with 1,000; transfers keep the sum.
fn bank() -> (Writer<Account>, Reader<Account>) {
    let mut store = Indexer::new(Seed::new(5));
    store.add_index("parity", by::label("parity")).unwrap();
    store.add_index("balance", by_balance()).unwrap();
    for name in 0..ACCOUNTS {
        store.put(account(name, 1_000, 1)).unwrap();
    }
    shared::new(store)
}

/// Checks that a snapshot is consistent: the sum over all objects and over each index, look-ups by key,
/// the number of objects and the version.
fn check(state: &View<Account, Heap>) {
    let version: u64 = state.version().parse().unwrap();
    let mut sum = 0;
    let mut by_parity = BTreeMap::<&str, usize>::new();
    for account in state.iter() {
        sum += account.body();
        *by_parity
            .entry(account.labels().get("parity").unwrap())
            .or_default() += 1;
        assert!(
            account.version().parse::<u64>().unwrap() <= version,
            "an object is newer than its snapshot"
        );
        assert!(account.is_same(state.get(account.key()).unwrap()));
    }
    assert_eq!(
        sum,
        1_000 * i64::try_from(ACCOUNTS).unwrap(),
        "half a transfer is visible"
    );
    for (parity, count) in by_parity {
        assert_eq!(
            state.count("parity", parity),
            Ok(count),
            "the index belongs to another state"
        );
        let filed = state.by_index("parity", parity).unwrap();
        assert_eq!(
            filed
                .filter(|a| a.labels().get("parity") == Some(parity))
                .count(),
            count
        );
    }
    let sorted: Vec<_> = state
        .table("balance")
        .unwrap()
        .objects()
        .map(|a| *a.body())
        .collect();
    assert!(sorted.is_sorted());
    assert_eq!(sorted.len(), state.len());
    assert_eq!(
        sorted.iter().sum::<i64>(),
        sum,
        "the sorted index belongs to another state"
    );
}

#[test]
fn readers_see_only_whole_transactions_while_the_writer_writes() {
    let (mut writer, reader) = bank();
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (reader, done) = (reader.clone(), Arc::clone(&done));
            thread::spawn(move || {
                let (mut checked, mut kept) = (0, Vec::<(u64, Snapshot<Account>)>::new());
                let mut last = 0;
                while !done.load(Ordering::Relaxed) || checked == 0 {
                    let state = reader.snapshot();
                    let version: u64 = state.version().parse().unwrap();
                    assert!(version >= last, "versions never decrease");
                    last = version;
                    check(&state);
                    checked += 1;
                    // Old snapshots must not change.
                    if kept.len() < 5 {
                        kept.push((version, state));
                    }
                }
                for (version, state) in &kept {
                    assert_eq!(state.version(), version.to_string());
                    check(state);
                }
                checked
            })
        })
        .collect();
    let mut random = 9_u64;
    let mut below = |n: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(random >> 33).unwrap() % n
    };
    for version in 2..3_000_u64 {
        // A transfer between two accounts. Sometimes they are removed and added again.
        let (from, to) = (below(ACCOUNTS), below(ACCOUNTS));
        if from == to {
            continue;
        }
        let amount = i64::try_from(below(50)).unwrap();
        let balance = |name: usize| {
            let key = ObjectKey::new("bank", &format!("a{name}"));
            *reader.snapshot().get(&key).unwrap().body()
        };
        let from = account(from, balance(from) - amount, version);
        let to = account(to, balance(to) + amount, version);
        let mut writes = vec![Write::Put(from.clone())];
        if version % 5 == 0 {
            writes.insert(0, Write::Remove(from.key().clone()));
            writes.insert(0, Write::Remove(to.key().clone()));
        }
        writes.push(Write::Put(to));
        writer.transaction(writes).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.join().unwrap() > 0);
    }
}

#[test]
fn a_write_that_fails_or_panics_leaves_no_trace() {
    let (mut writer, reader) = bank();
    let before = reader.snapshot();
    let failed = writer.write(|store| {
        store.put(account(0, 7, 9)).unwrap();
        store.remove(&ObjectKey::new("bank", "a1"));
        store.remove_index("parity").unwrap();
        Err::<(), _>("changed my mind")
    });
    assert_eq!(failed, Err("changed my mind"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        writer.write(|store| -> Result<(), ()> {
            store.put(account(0, 7, 9)).unwrap();
            panic!("as planned")
        })
    }));
    assert!(panicked.is_err());
    check(&reader.snapshot());
    // The next write does not reveal it either.
    writer.put(account(0, 1_000, 10)).unwrap();
    let after = reader.snapshot();
    check(&after);
    assert_eq!((before.version(), after.version()), ("1", "10"));
    assert!(writer.remove(&ObjectKey::new("bank", "missing")).is_none());
}

#[test]
fn a_task_waits_for_a_version_and_is_woken() {
    let (mut writer, reader) = bank();
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    let mut reached = pin!(reader.reached("10"));
    assert!(reached.as_mut().poll(&mut cx).is_pending());
    assert!(reached.as_mut().poll(&mut cx).is_pending());
    // A dropped future leaves no waker behind.
    {
        let other = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&other));
        assert!(
            pin!(reader.reached("11"))
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop(waker);
        assert_eq!(Arc::strong_count(&other), 1, "it left its waker behind");
    }
    writer.put(account(0, 1_000, 9)).unwrap();
    assert_eq!(woken.times(), 1, "once for one change");
    assert!(reached.as_mut().poll(&mut cx).is_pending());
    writer.put(account(0, 1_000, 12)).unwrap();
    assert_eq!(woken.times(), 2);
    let Poll::Ready(Ok(state)) = reached.as_mut().poll(&mut cx) else {
        panic!("12 is at least 10");
    };
    assert_eq!(state.version(), "12");
    // The end of the writer wakes the task, too.
    let mut never = pin!(reader.reached("13"));
    assert!(never.as_mut().poll(&mut cx).is_pending());
    drop(writer);
    assert_eq!(woken.times(), 3);
    let outcome = never.as_mut().poll(&mut cx);
    assert!(matches!(
        outcome,
        Poll::Ready(Err(VersionWaitError::Ended { .. }))
    ));
}

#[test]
fn a_thread_waits_for_a_version() {
    let (mut writer, reader) = bank();
    let waiting = thread::spawn(move || {
        let reached = reader.wait_for("500", LONG);
        reached.map(|state| state.version().to_owned())
    });
    for version in 2..=500 {
        writer.put(account(3, 1_000, version)).unwrap();
    }
    assert_eq!(waiting.join().unwrap(), Ok("500".to_owned()));
}

#[test]
fn a_failed_wait_says_why() {
    let (writer, reader) = bank();
    let said =
        |outcome: Result<Snapshot<Account>, VersionWaitError>| outcome.unwrap_err().to_string();
    assert_eq!(
        said(reader.wait_for("2", Duration::ZERO)),
        r#"version "2" was not reached in time; the store is at "1""#
    );
    assert_eq!(
        said(reader.wait_for("next", LONG)),
        r#"cannot wait for version "next" while the store is at "1": resource versions can be compared only if both are decimal numbers"#
    );
    assert!(reader.is_live());
    let waiting = thread::spawn({
        let reader = reader.clone();
        move || reader.wait_for("2", LONG)
    });
    drop(writer);
    assert_eq!(
        said(waiting.join().unwrap()),
        r#"version "2" will never be reached: the writer is gone, and the store stays at "1""#
    );
    assert!(!reader.is_live());
    check(&reader.snapshot());
    // Waiting works for an empty store, too.
    let (_writer, reader) = shared::new(Indexer::<Account, Heap>::new(Seed::new(1)));
    assert!(matches!(
        reader.wait_for("2", Duration::ZERO),
        Err(VersionWaitError::TimedOut { .. })
    ));
    assert!(matches!(
        reader.wait_for("x", LONG),
        Err(VersionWaitError::NotComparable { .. })
    ));
}

#[test]
fn readers_see_a_removal_at_once() {
    let (mut writer, reader) = bank();
    let key = ObjectKey::new("bank", "a7");
    assert!(reader.snapshot().get(&key).is_some());
    assert!(writer.remove(&key).is_some());
    assert!(reader.snapshot().get(&key).is_none());
    assert_eq!(reader.snapshot().len(), ACCOUNTS - 1);
    assert!(writer.remove(&key).is_none());
}

#[test]
fn a_kept_reader_keeps_its_state_until_there_is_another() {
    let (mut writer, reader) = bank();
    let key = ObjectKey::new("bank", "a7");
    let mut kept = reader.kept();
    let first: *const View<Account, Heap> = &raw const **kept.snapshot();
    assert_eq!(&raw const **kept.snapshot(), first, "nothing has changed");
    let mut old = kept.get(&key).unwrap().clone();

    drop(writer.put(account(7, 1_001, 2)).unwrap());
    assert!(old.get_mut().is_none(), "the kept state has it");
    assert_eq!(kept.get(&key).map(|account| *account.body()), Some(1_001));
    assert!(old.get_mut().is_some(), "the kept state was not given up");

    writer.remove(&key);
    assert!(kept.get(&key).is_none());
    // A reader that begins now begins with this state.
    assert!(reader.kept().get(&key).is_none());
    drop(writer);
    assert_eq!(kept.snapshot().len(), ACCOUNTS - 1, "the last state stays");
}

#[test]
fn a_kept_reader_finds_what_it_was_told_of() {
    let (mut writer, reader) = bank();
    let (tell, told) = std::sync::mpsc::sync_channel::<(ObjectKey, u64)>(1);
    let following = thread::spawn(move || {
        let mut kept = reader.kept();
        let mut last = 0;
        for (key, told) in told {
            let version: u64 = kept.snapshot().version().parse().unwrap();
            assert!(version >= last, "versions never decrease");
            last = version;
            let found: u64 = kept.get(&key).unwrap().version().parse().unwrap();
            assert!(found >= told, "told of {told}, found {found}");
        }
        check(kept.snapshot());
    });
    for version in 2..5_000_u64 {
        let told = account(7, 1_000, version);
        writer.put(told.clone()).unwrap();
        tell.send((told.key().clone(), version)).unwrap();
    }
    drop(tell);
    following.join().unwrap();
}
