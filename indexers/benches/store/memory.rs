//! Bytes per entry, without the object itself.
//!
//! The program runs itself under valgrind, fills one store and exits without dropping it. Valgrind
//! reports the bytes in use. The bytes of a run with only the objects are subtracted.

use std::process::{Command, exit};

use super::contenders::{FastLocked, Locking, Published, StdLocked};
use super::objects::object;
use super::report::{Report, Unit};

/// The first argument of a run that only fills a store.
pub const MODE: &str = "--hold";

/// More objects take too long under valgrind and show nothing new.
const MOST: usize = 100_000;

pub fn measure(report: &Report<'_>) {
    for (indices, with) in [(0, "0 indices"), (1, "1 index"), (4, "4 indices")] {
        let line = format!("memory per entry, {with}");
        if report.n > MOST || !report.wants(&line) {
            continue;
        }
        let Some(nothing) = held("nothing", report.n, indices) else {
            println!("memory: skipped, valgrind is not installed");
            return;
        };
        let figures = ["ours", "std", "fast"].map(|contender| {
            let held = held(contender, report.n, indices)?;
            Some((held - nothing) / report.n as f64)
        });
        report.line(&line, Unit::Bytes, figures);
    }
}

/// Bytes in use at the end of a run.
fn held(contender: &str, n: usize, indices: usize) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--leak-check=no", "--undef-value-errors=no"])
        .arg(std::env::current_exe().unwrap())
        .args([MODE, contender, &n.to_string(), &indices.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let (_, rest) = text.split_once("in use at exit: ")?;
    rest.split_whitespace()
        .next()?
        .replace(',', "")
        .parse()
        .ok()
}

/// The part that runs under valgrind.
pub fn hold(arguments: &[String]) {
    let [contender, n, indices] = arguments else {
        panic!("expected: contender, number of objects, number of indices");
    };
    let (n, indices): (usize, usize) = (n.parse().unwrap(), indices.parse().unwrap());
    // Leak the objects but not the list of them, so that the list does not count.
    let objects: Vec<_> = (0..n).map(|number| object(number, 1)).collect();
    match contender.as_str() {
        "ours" => std::mem::forget(Published::new(objects, indices)),
        "std" => std::mem::forget(StdLocked::new(objects, indices, Locking::EachWrite)),
        "fast" => std::mem::forget(FastLocked::new(objects, indices, Locking::EachWrite)),
        _ => objects.into_iter().for_each(std::mem::forget),
    }
    exit(0);
}
