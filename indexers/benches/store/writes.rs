//! Transactions, alone: nobody reads.

use informer_core::indexer::Write;

use super::contenders::{FastLocked, Locking, Published, StdLocked, Store};
use super::objects::Small;
use super::report::{Report, Run, Runs, time};
use super::workload::{TRANSACTION, Workload};

/// Transactions in a round.
const COUNT: usize = 100;

pub fn measure(report: &Report<'_>) {
    for indices in [0, 1, 4] {
        for (lock, locking) in [
            ("write", Locking::EachWrite),
            ("transaction", Locking::EachTransaction),
        ] {
            let line = format!("write, {indices} indices, one lock per {lock}");
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

/// The next transactions; what is written is made before the time is taken.
fn transactions<'a>(workload: &'a mut Workload, store: &'a dyn Store) -> Run<'a> {
    Box::new(move || {
        let transactions: Vec<Vec<Write<Small>>> = workload.transactions(COUNT);
        time(COUNT * TRANSACTION, || {
            for writes in transactions {
                store.transaction(writes);
            }
        })
    })
}
