//! A reader and a writer at the same time.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use informer_core::ObjectKey;
use informer_core::indexer::Write;

use super::clock::time;
use super::contenders::{FastLocked, Locking, Published, StdLocked, Store};
use super::objects::{Small, key, namespace};
use super::report::{Report, Unit, percentile};
use super::workload::{Random, TRANSACTION, Workload};

/// How long each store is measured, per round.
const WATCHED: Duration = Duration::from_millis(700);
const ROUNDS: usize = 3;

/// Changes per second while reads are measured.
const RATE: usize = 50_000;

/// What the reader does in a loop, if there is one.
type Read = Option<fn(&dyn Store)>;

const READERS: [(&str, Read); 3] = [
    ("nobody reads", None),
    ("all is listed", Some(|store| drop(black_box(store.list())))),
    (
        "all is visited",
        Some(|store| drop(black_box(store.scan(&|object| *object.body() == u32::MAX)))),
    ),
];

pub fn measure(report: &Report<'_>) {
    for (lock, locking) in [
        ("write", Locking::EachWrite),
        ("transaction", Locking::EachTransaction),
    ] {
        for (reader, read) in READERS {
            let line = format!("100 writes while {reader}, one lock per {lock}");
            if report.wants(&line) {
                let times = take_turns(report, locking, |store, workload| {
                    write_beside_a_reader(store, workload, read, |writes| {
                        time(|| store.transaction(writes))
                    })
                });
                print(report, &line, times);
                let waits = take_turns(report, locking, |store, workload| {
                    write_beside_a_reader(store, workload, read, |writes| {
                        store.stood_still(writes).as_nanos() as f64
                    })
                });
                print_waits(report, &format!("{line}: stands still"), waits);
            }
        }
    }
    let mut random = Random::new(3);
    let numbers: Vec<usize> = (0..50_000).map(|_| random.below(report.n)).collect();
    let keys: Vec<ObjectKey> = numbers.iter().map(|number| key(*number)).collect();
    reads(report, "get while 50,000 changes/s", |store, at| {
        black_box(store.get(&keys[at % keys.len()]));
    });
    let places: Vec<String> = numbers.iter().map(|number| namespace(*number)).collect();
    reads(report, "namespace while 50,000 changes/s", |store, at| {
        drop(black_box(
            store.by_index("namespace", &places[at % places.len()]),
        ));
    });
}

fn reads(report: &Report<'_>, line: &str, read: impl Fn(&dyn Store, usize) + Sync) {
    if report.wants(line) {
        let times = take_turns(report, Locking::EachWrite, |store, workload| {
            read_beside_a_writer(store, workload, &read)
        });
        print(report, line, times);
    }
}

/// The times of all rounds, for our store and the two others.
fn take_turns(
    report: &Report<'_>,
    locking: Locking,
    run: impl Fn(&dyn Store, &mut Workload) -> Vec<f64>,
) -> [Vec<f64>; 3] {
    let n = report.n;
    let mut workloads = [Workload::new(n), Workload::new(n), Workload::new(n)];
    let ours = Published::new(workloads[0].first_state(n), 1);
    let std = StdLocked::new(workloads[1].first_state(n), 1, locking);
    let fast = FastLocked::new(workloads[2].first_state(n), 1, locking);
    let stores: [&dyn Store; 3] = [&ours, &std, &fast];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for at in 0..stores.len() {
            times[at].extend(run(stores[at], &mut workloads[at]));
        }
    }
    times
}

/// The result of `measure` for each transaction of the writer.
fn write_beside_a_reader(
    store: &dyn Store,
    workload: &mut Workload,
    read: Read,
    measure: impl Fn(Vec<Write<Small>>) -> f64,
) -> Vec<f64> {
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        if let Some(read) = read {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    read(store);
                }
            });
        }
        let mut times = Vec::new();
        let start = Instant::now();
        while start.elapsed() < WATCHED {
            times.push(measure(workload.transaction()));
        }
        done.store(true, Ordering::Relaxed);
        times
    })
}

/// The time of each read.
fn read_beside_a_writer(
    store: &dyn Store,
    workload: &mut Workload,
    read: &(impl Fn(&dyn Store, usize) + Sync),
) -> Vec<f64> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut times = Vec::new();
            while !done.load(Ordering::Relaxed) {
                times.push(time(|| read(store, times.len())));
            }
            times
        });
        let start = Instant::now();
        let mut written = 0;
        while start.elapsed() < WATCHED {
            let due = Duration::from_secs(1) * written as u32 / RATE as u32;
            match due.checked_sub(start.elapsed()) {
                Some(early) if !early.is_zero() => thread::park_timeout(early),
                _ => {
                    store.transaction(workload.transaction());
                    written += TRANSACTION;
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    })
}

fn print(report: &Report<'_>, line: &str, times: [Vec<f64>; 3]) {
    for (name, percent) in [("median", 50.0), ("99.9 %", 99.9), ("longest", 100.0)] {
        let figures = times.clone().map(|times| percentile(times, percent));
        report.line(&format!("{line}, {name}"), Unit::Nanoseconds, figures);
    }
}

fn print_waits(report: &Report<'_>, line: &str, waits: [Vec<f64>; 3]) {
    let mean = |waits: &Vec<f64>| Some(waits.iter().sum::<f64>() / waits.len() as f64);
    let means = waits.each_ref().map(mean);
    report.line(&format!("{line}, mean"), Unit::Nanoseconds, means);
    let longest = waits.map(|waits| percentile(waits, 100.0));
    report.line(&format!("{line}, longest"), Unit::Nanoseconds, longest);
}
