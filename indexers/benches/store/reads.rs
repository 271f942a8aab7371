//! Look-ups and lists, without a writer.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::hash::RandomState;
use std::hint::black_box;

use informer_core::ObjectKey;
use informer_indexers::selector::LabelSelector;

use super::clock::time;
use super::contenders::{FastLocked, Locking, Published, StdLocked, Store};
use super::objects::{Small, app, key, namespace, object};
use super::report::{Report, Run, Runs};
use super::workload::Random;

/// The number of different queries per round.
const LOOK_UPS: usize = 20_000;
const LISTS: usize = 20;

pub fn measure(report: &Report<'_>) {
    bare_get(report);
    snapshot(report);
    shared(report);
}

/// Compares a look-up in a snapshot with look-ups in bare maps. One map look-up returns only the pointer;
/// the other also reads the object, as the store does to compare keys.
fn bare_get(report: &Report<'_>) {
    let lines = [
        "get, no lock, hashbrown",
        "get and read, no lock, hashbrown",
    ];
    if !lines.iter().any(|line| report.wants(line)) {
        return;
    }
    let objects = objects(report.n);
    let ours = Published::new(objects.clone(), 2).latest();
    let pairs = || objects.iter().map(|it| (it.key().clone(), it.clone()));
    let std: HashMap<_, _, RandomState> = pairs().collect();
    let fast: hashbrown::HashMap<_, _, foldhash::fast::FixedState> = pairs().collect();
    let keys = &some_keys(report.n);
    for line in lines.into_iter().filter(|line| report.wants(line)) {
        let read = line.contains("read");
        let runs = Runs {
            ours: each(keys, read, |key| ours.get(key)),
            std: Some(each(keys, read, |key| std.get(key))),
            fast: Some(each(keys, read, |key| fast.get(key))),
        };
        report.measure(line, runs);
    }
}

fn snapshot(report: &Report<'_>) {
    let line = "snapshot, taken and dropped";
    if !report.wants(line) {
        return;
    }
    let indexer = Published::new(objects(report.n), 2).into_indexer();
    let ours = Box::new(move || {
        let snapshots = || (0..LOOK_UPS).for_each(|_| drop(black_box(indexer.snapshot())));
        time(snapshots) / LOOK_UPS as f64
    });
    let runs = Runs {
        ours,
        std: None,
        fast: None,
    };
    report.measure(line, runs);
}

/// Reads as threads share them: through a published snapshot, or under the lock.
fn shared(report: &Report<'_>) {
    let stores = LazyCell::new(|| {
        let objects = objects(report.n);
        let ours = Published::new(objects.clone(), 2);
        let std = StdLocked::new(objects.clone(), 2, Locking::EachWrite);
        let fast = FastLocked::new(objects, 2, Locking::EachWrite);
        (ours, std, fast)
    });
    let line = |line: &str, operations: usize, read: &dyn Fn(&dyn Store)| {
        if report.wants(line) {
            let (ours, std, fast) = &*stores;
            let all: [&dyn Store; 3] = [ours, std, fast];
            let [ours, std, fast] = all.map(|store| -> Run<'_> {
                Box::new(move || time(|| read(store)) / operations as f64)
            });
            let (std, fast) = (Some(std), Some(fast));
            report.measure(line, Runs { ours, std, fast });
        }
    };
    let keys = some_keys(report.n);
    line("get, shared, pointer copied", keys.len(), &|store| {
        for key in &keys {
            drop(black_box(store.get(key)));
        }
    });
    line("list all, pointers copied", 1, &|store| {
        drop(black_box(store.list()));
    });
    let places = some(report.n, LISTS);
    line("list a namespace by index", LISTS, &|store| {
        for number in &places {
            drop(black_box(store.by_index("namespace", &namespace(*number))));
        }
    });
    let places = some(report.n, LOOK_UPS);
    line("list a label by index, 10 found", LOOK_UPS, &|store| {
        for number in &places {
            drop(black_box(store.by_index("app", &app(*number))));
        }
    });
    let selector: LabelSelector = "team=team-3".parse().unwrap();
    line("select 1 of 8 by a selector, no index", 1, &|store| {
        drop(black_box(store.select(&selector)));
    });
    let selector: LabelSelector = format!("app={}", app(report.n / 2)).parse().unwrap();
    line(
        "select 10 by a selector, with an index where it is used",
        1,
        &|store| {
            drop(black_box(store.select(&selector)));
        },
    );
    let selected = |object: &Small| object.labels().get("team") == Some("team-3");
    line("select 1 of 8 by a closure, no index", 1, &|store| {
        drop(black_box(store.scan(&selected)));
    });
    let place = namespace(report.n / 2);
    line(
        "select by a closure, in a namespace by index",
        1,
        &|store| {
            let mut found = store.by_index("namespace", &place);
            found.retain(selected);
            drop(black_box(found));
        },
    );
}

fn each<'a>(
    keys: &'a [ObjectKey],
    read: bool,
    look_up: impl Fn(&ObjectKey) -> Option<&'a Small> + 'a,
) -> Run<'a> {
    Box::new(move || {
        let look_ups = || {
            for key in keys {
                let found = black_box(look_up(key));
                if read {
                    black_box(found.map(|object| object.body()));
                }
            }
        };
        time(look_ups) / keys.len() as f64
    })
}

fn objects(n: usize) -> Vec<Small> {
    (0..n).map(|number| object(number, 1)).collect()
}

/// Random object numbers.
fn some(n: usize, count: usize) -> Vec<usize> {
    let mut random = Random::new(7);
    (0..count).map(|_| random.below(n)).collect()
}

/// As many keys as objects, which share no memory with the keys in the store.
fn some_keys(n: usize) -> Vec<ObjectKey> {
    some(n, n).into_iter().map(key).collect()
}
