//! Transactions, without a reader.

use informer_core::indexer::Write;

use super::clock::time;
use super::contenders::{FastLocked, Locking, Published, StdLocked, Store};
use super::objects::Small;
use super::report::{Report, Run, Runs};
use super::workload::{TRANSACTION, Workload};

/// The number of transactions per round.
const COUNT: usize = 100;

pub fn measure(report: &Report<'_>) {
    for (indices, with) in [(0, "0 indices"), (1, "1 index"), (4, "4 indices")] {
        for (lock, locking) in [
            ("write", Locking::EachWrite),
            ("transaction", Locking::EachTransaction),
        ] {
            let line = format!("write, {with}, one lock per {lock}");
            if report.wants(&line) {
                mixed(report, &line, indices, locking);
            }
        }
    }
}

fn mixed(report: &Report<'_>, line: &str, indices: usize, locking: Locking) {
    let workload = || Workload::new(report.n);
    let (mut first, mut second, mut third) = (workload(), workload(), workload());
    let n = report.n;
    let ours = Published::new(first.first_state(n), indices);
    let std = StdLocked::new(second.first_state(n), indices, locking);
    let fast = FastLocked::new(third.first_state(n), indices, locking);
    report.measure(
        line,
        Runs {
            ours: transactions(&mut first, &ours),
            std: Some(transactions(&mut second, &std)),
            fast: Some(transactions(&mut third, &fast)),
        },
    );
}

/// Runs the next transactions. The objects are created before the clock starts.
fn transactions<'a>(workload: &'a mut Workload, store: &'a dyn Store) -> Run<'a> {
    Box::new(move || {
        let transactions: Vec<Vec<Write<Small>>> = workload.transactions(COUNT);
        let run = || {
            for writes in transactions {
                store.transaction(writes);
            }
        };
        time(run) / (COUNT * TRANSACTION) as f64
    })
}
