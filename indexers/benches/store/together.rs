//! A reader and a writer at the same time.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use informer_core::ObjectKey;

use super::clock::time;
use super::contenders::{FastLocked, Locking, Published, StdLocked, Store};
use super::objects::{key, namespace};
use super::report::{Report, Unit, percentile};
use super::workload::{Random, TRANSACTION, Workload};

/// How long each of them is watched, in each of so many rounds.
const WATCHED: Duration = Duration::from_millis(700);
const ROUNDS: usize = 3;

/// Changes per second while reads are measured.
const RATE: usize = 50_000;

/// What a reader does all the time, if there is one.
type Read = Option<fn(&dyn Store)>;

const READERS: [(&str, Read); 3] = [
    ("nobody reads", None),
    ("all is listed", Some(|store| drop(black_box(store.list())))),
    (
        "all is visited",
        Some(|store| drop(black_box(store.scan(&|object| object.body == u32::MAX)))),
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
                let written = take_turns(report, locking, |store, workload| {
                    write_beside_a_reader(store, workload, read)
                });
                print_writes(report, &line, &written);
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

/// One transaction, in nanoseconds.
struct Written {
    took: f64,
    /// Of that, how long the writer waited for a lock that somebody else had.
    stood_still: f64,
}

/// What came out in all rounds, of ours and of the two others.
fn take_turns<R>(
    report: &Report<'_>,
    locking: Locking,
    run: impl Fn(&dyn Store, &mut Workload) -> Vec<R>,
) -> [Vec<R>; 3] {
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

fn write_beside_a_reader(store: &dyn Store, workload: &mut Workload, read: Read) -> Vec<Written> {
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        if let Some(read) = read {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    read(store);
                }
            });
        }
        let mut written = Vec::new();
        let start = Instant::now();
        while start.elapsed() < WATCHED {
            let writes = workload.transaction();
            let mut stood_still = 0.0;
            let took = time(|| stood_still = store.transaction(writes).as_nanos() as f64);
            written.push(Written { took, stood_still });
        }
        done.store(true, Ordering::Relaxed);
        written
    })
}

/// How long the reader took for each of its reads.
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

fn print_writes(report: &Report<'_>, line: &str, written: &[Vec<Written>; 3]) {
    let each = |of: fn(&Written) -> f64| {
        let all = |written: &Vec<Written>| -> Vec<f64> { written.iter().map(of).collect() };
        written.each_ref().map(all)
    };
    print(report, line, each(|it| it.took));
    let waits = each(|it| it.stood_still);
    let mean = |waits: &Vec<f64>| Some(waits.iter().sum::<f64>() / waits.len() as f64);
    let means = waits.each_ref().map(mean);
    report.line(
        &format!("{line}: stands still, mean"),
        Unit::Nanoseconds,
        means,
    );
    let longest = waits.map(|waits| percentile(waits, 100.0));
    report.line(
        &format!("{line}: stands still, longest"),
        Unit::Nanoseconds,
        longest,
    );
}

fn print(report: &Report<'_>, line: &str, times: [Vec<f64>; 3]) {
    for (name, percent) in [("median", 50.0), ("99.9 %", 99.9), ("longest", 100.0)] {
        let figures = times.clone().map(|times| percentile(times, percent));
        report.line(&format!("{line}, {name}"), Unit::Nanoseconds, figures);
    }
}
