//! Instructions and allocations per event, independent of the load on the machine.
//!
//! The benchmark runs itself under valgrind. It counts instructions only inside [`measured`]. The
//! number of allocations is the difference between two runs, the second with twice the events. So
//! the setup does not count.
//!
//! `cargo bench -p informer-core --bench instructions` prints the table. Names after `--` select
//! operations by substring. `BENCH_LARGE=1` also measures with 100,000 objects, which takes
//! minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark"
)]

mod support;

use std::env;
use std::process::{Child, Command, Stdio, exit};

use support::operations::{Event, OPERATIONS, Operation, Size};
use support::timing;

/// The sizes to compare, and the largest allowed ratio between their costs.
const SIZES: [usize; 2] = [1_000, 100_000];
const MOST: f64 = 1.5;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.as_slice() {
        [mode, name, n, events] if mode == "--events" => run(name, number(n), number(events)),
        arguments if arguments.iter().any(|argument| argument == "--bench") => measure(arguments),
        // `cargo test --benches` only checks that it starts.
        _ => println!("nothing to do: run this with `cargo bench`"),
    }
}

/// Runs under valgrind.
fn run(name: &str, n: usize, events: usize) {
    let operation = OPERATIONS.iter().find(|operation| operation.name == name);
    let mut event = (operation.unwrap().make)(n);
    measured(&mut event, events);
    // Exit without dropping the data, which is not part of an event.
    exit(0);
}

#[inline(never)]
fn measured(event: &mut Event, events: usize) {
    for _ in 0..events {
        event();
    }
}

fn measure(arguments: &[String]) {
    let valgrind = Command::new("valgrind").arg("--version").output();
    let Some(version) = valgrind.ok().filter(|output| output.status.success()) else {
        println!("instructions: skipped, because valgrind is not installed");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout);
    println!(
        "instructions and allocations per event, by {}",
        version.trim()
    );
    println!("| operation | instructions, 1k | 100k | ratio | allocations | bytes |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let mut above = Vec::new();
    for operation in OPERATIONS {
        let is_wanted = |part: &&&String| operation.name.contains(part.as_str());
        if !wanted.is_empty() && wanted.iter().find(is_wanted).is_none() {
            continue;
        }
        if row(operation) > MOST {
            above.push(operation.name);
        }
    }
    for name in above {
        println!("{name}: more than {MOST} times the cost of 1k objects with 100k");
    }
}

/// Prints the row of an operation and returns the ratio.
fn row(operation: &Operation) -> f64 {
    // Filling a store is slow under valgrind. A list of 100,000 realistic pods takes minutes.
    let slow = operation.name == "pipeline/list, Lean";
    let sizes = match operation.size {
        Size::Fixed | Size::Grows if timing::large() && !slow => &SIZES[..],
        _ => &SIZES[..1],
    };
    let runs: Vec<_> = sizes
        .iter()
        .map(|n| Run::start(Tool::Callgrind, operation, *n, 1))
        .collect();
    let counts: Vec<_> = runs.into_iter().map(Run::wait).collect();
    let runs = [1, 2].map(|times| Run::start(Tool::Memcheck, operation, SIZES[0], times));
    let [once, twice] = runs.map(Run::wait);
    let allocations: Vec<_> = once
        .iter()
        .zip(&twice)
        .map(|(once, twice)| 2.0 * twice - once)
        .collect();
    let instructions = |at: usize| counts.get(at).map(|counts| counts[0]);
    let text = |figure: Option<f64>, digits: usize| {
        figure.map_or_else(|| "–".to_owned(), |figure| format!("{figure:.digits$}"))
    };
    let ratio = instructions(1).map(|large| large / counts[0][0]);
    println!(
        "| {} | {} | {} | {} | {} | {} |",
        operation.name,
        text(instructions(0), 0),
        text(instructions(1), 0),
        text(ratio, 2),
        text(Some(allocations[0]), 2),
        text(Some(allocations[1]), 0),
    );
    ratio.unwrap_or(0.0)
}

#[derive(Clone, Copy)]
enum Tool {
    Callgrind,
    Memcheck,
}

/// A process under valgrind.
struct Run {
    tool: Tool,
    events: usize,
    child: Child,
}

impl Run {
    fn start(tool: Tool, operation: &Operation, n: usize, times: usize) -> Self {
        let events = times
            * match operation.size {
                Size::Grows => n,
                Size::None | Size::Fixed => 1_024,
            };
        let options: &[&str] = match tool {
            Tool::Callgrind => &[
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
                "--toggle-collect=instructions::measured",
            ],
            Tool::Memcheck => &["--leak-check=no", "--undef-value-errors=no"],
        };
        let child = Command::new("valgrind")
            .args(options)
            .arg(env::current_exe().unwrap())
            .args([
                "--events",
                operation.name,
                &n.to_string(),
                &events.to_string(),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            tool,
            events,
            child,
        }
    }

    /// The figures per event: instructions, or allocations and bytes.
    fn wait(self) -> Vec<f64> {
        let output = self.child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        let figures = figures(self.tool, &text);
        figures
            .iter()
            .map(|figure| figure / self.events as f64)
            .collect()
    }
}

fn figures(tool: Tool, text: &str) -> Vec<f64> {
    let mark = match tool {
        Tool::Callgrind => "Collected :",
        Tool::Memcheck => "total heap usage:",
    };
    let line = text
        .lines()
        .find_map(|line| line.split_once(mark))
        .expect(text);
    let numbers: Vec<f64> = line
        .1
        .split_whitespace()
        .filter_map(|word| word.replace(',', "").parse().ok())
        .collect();
    match (tool, numbers.as_slice()) {
        (Tool::Memcheck, [allocations, _, bytes]) => vec![*allocations, *bytes],
        _ => numbers,
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap()
}
