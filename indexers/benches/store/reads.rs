//! Look-ups and lists, alone: nobody writes.

use std::collections::HashMap;
use std::hash::RandomState;
use std::hint::black_box;

use informer_core::ObjectKey;

use super::contenders::{FastLocked, Locking, Published, StdLocked, Store};
use super::objects::{Small, app, key, namespace};
use super::report::{Report, Run, Runs, time};
use super::workload::{Random, Workload};

/// How many different questions are asked in a round.
const LOOK_UPS: usize = 20_000;
const LISTS: usize = 20;

pub fn measure(report: &Report<'_>) {
    let names = ["get", "snapshot", "list", "select"];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let workload = Workload::new(report.n);
    let objects = || workload.first_state(report.n);
    bare(report, objects());
    let ours = Published::new(objects(), 2);
    let std = StdLocked::new(objects(), 2, Locking::EachWrite);
    let fast = FastLocked::new(objects(), 2, Locking::EachWrite);
    let all: [&dyn Store; 3] = [&ours, &std, &fast];
    let keys = some_keys(report.n);
    let line = |line: &str, operations: usize, read: &dyn Fn(&dyn Store)| {
        if report.wants(line) {
            let [ours, std, fast] =
                all.map(|store| -> Run<'_> { Box::new(move || time(operations, || read(store))) });
            let (std, fast) = (Some(std), Some(fast));
            report.measure(line, Runs { ours, std, fast });
        }
    };
    line("get, shared, pointer copied", keys.len(), &|store| {
        for key in &keys {
            black_box(store.get(key));
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
    // Until selectors are there, a closure stands for one: `team=team-3`, without and with an index that
    // narrows it down.
    let selected = |object: &Small| object.labels.get("team") == Some("team-3");
    line("select 1 of 8 by a closure, no index", 1, &|store| {
        drop(black_box(store.scan(&selected)));
    });
    let place = namespace(report.n / 2);
    line("select 1 of 8 by a closure, in a namespace", 1, &|store| {
        let mut found = store.by_index("namespace", &place);
        found.retain(selected);
        drop(black_box(found));
    });
}

/// Without a lock: a snapshot beside bare maps.
fn bare(report: &Report<'_>, objects: Vec<Small>) {
    let ours = Published::new(objects.clone(), 2);
    if report.wants("get, from a snapshot") {
        let view = ours.latest();
        let std: HashMap<_, _, RandomState> = objects
            .iter()
            .map(|object| (object.key.clone(), object.clone()))
            .collect();
        let fast: hashbrown::HashMap<_, _, foldhash::fast::FixedState> = objects
            .iter()
            .map(|object| (object.key.clone(), object.clone()))
            .collect();
        let keys = &some_keys(report.n);
        report.measure(
            "get, from a snapshot; std and hashbrown without a lock",
            Runs {
                ours: each(keys, |key| {
                    black_box(view.get(key));
                }),
                std: Some(each(keys, |key| {
                    black_box(std.get(key));
                })),
                fast: Some(each(keys, |key| {
                    black_box(fast.get(key));
                })),
            },
        );
    }
    if report.wants("snapshot") {
        let indexer = Published::new(objects, 2).into_indexer();
        let ours = Box::new(move || {
            time(LOOK_UPS, || {
                for _ in 0..LOOK_UPS {
                    drop(black_box(indexer.snapshot()));
                }
            })
        });
        let runs = Runs {
            ours,
            std: None,
            fast: None,
        };
        report.measure("snapshot, taken and dropped", runs);
    }
}

fn each<'a>(keys: &'a [ObjectKey], look_up: impl Fn(&ObjectKey) + 'a) -> Run<'a> {
    Box::new(move || time(keys.len(), || keys.iter().for_each(&look_up)))
}

/// Numbers of objects, from anywhere in the store.
fn some(n: usize, count: usize) -> Vec<usize> {
    let mut random = Random::new(7);
    (0..count).map(|_| random.below(n)).collect()
}

/// Keys that share nothing with those in the store.
fn some_keys(n: usize) -> Vec<ObjectKey> {
    some(n, LOOK_UPS).into_iter().map(key).collect()
}
