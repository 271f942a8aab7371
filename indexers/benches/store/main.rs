//! Compares our store with that of client-go and kube-rs: a hash map behind a lock.
//!
//! All stores take turns in each round, so that load on the machine affects all of them. A figure is the
//! median of the rounds. `cargo bench -p informer-indexers --bench store` prints the tables. Words after
//! `--` choose the lines that contain them, numbers choose the sizes. With `BENCH_LARGE=1` it also
//! measures a million objects.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark"
)]

// Objects, their keys and their index values.
mod objects;

// Writes, generated from a seed.
mod workload;

// Our store and the others, behind one trait.
mod contenders;

// Measures time without CPU contention from other programs.
mod clock;

// Rounds, medians and tables.
mod report;

// Look-ups and lists, without a writer.
mod reads;

// Transactions, without a reader.
mod writes;

// A reader and a writer at the same time.
mod together;

// Bytes per entry.
mod memory;

use report::Report;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [mode, rest @ ..] if mode == memory::MODE => memory::hold(rest),
        arguments if arguments.iter().any(|argument| argument == "--bench") => measure(arguments),
        // `cargo test --benches` only checks that it starts.
        _ => println!("nothing to do: run it with `cargo bench`"),
    }
}

fn measure(arguments: &[String]) {
    let wanted = arguments.iter().filter(|text| !text.starts_with('-'));
    let (sizes, names): (Vec<&String>, Vec<&String>) =
        wanted.partition(|text| text.parse::<usize>().is_ok());
    let mut sizes: Vec<usize> = sizes.iter().map(|size| size.parse().unwrap()).collect();
    if sizes.is_empty() {
        let large = std::env::var_os("BENCH_LARGE").map(|_| 1_000_000);
        sizes = [10_000, 100_000].into_iter().chain(large).collect();
    }
    let names: Vec<String> = names.into_iter().cloned().collect();
    for n in sizes {
        let report = Report::new(n, &names);
        reads::measure(&report);
        writes::measure(&report);
        together::measure(&report);
        memory::measure(&report);
    }
}
