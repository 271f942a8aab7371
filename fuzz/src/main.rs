//! Mutates a corpus by seeds: `informer-fuzz --seconds 60`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]

// The command line.
mod options;

// Ends the program when an input takes too much time or memory.
mod watchdog;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use informer_fuzz::run::{self, Finding};
use informer_fuzz::{TARGETS, Target};

use options::{HELP, Run, Task};
use watchdog::Watchdog;

fn main() -> ExitCode {
    match Task::parse(std::env::args().skip(1)) {
        Ok(Task::Help) => {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            println!("{HELP} {}", names.join(", "));
            ExitCode::SUCCESS
        }
        Ok(Task::Replay { file, target }) => replay(&target, &file),
        Ok(Task::Run(run)) => fuzz(&run),
        Err(why) => {
            eprintln!("informer-fuzz: {why}");
            ExitCode::from(2)
        }
    }
}

fn replay(target: &Target, file: &Path) -> ExitCode {
    let input = match std::fs::read(file) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("informer-fuzz: cannot read {}: {error}", file.display());
            return ExitCode::from(2);
        }
    };
    match run::one(target, &input) {
        Ok(()) => {
            println!("{}: nothing found", target.name);
            ExitCode::SUCCESS
        }
        Err(finding) => {
            println!("{}: {}", target.name, finding.message);
            ExitCode::FAILURE
        }
    }
}

fn fuzz(run: &Run) -> ExitCode {
    let watchdog = Watchdog::start();
    let share = u32::try_from(run.targets.len()).unwrap_or(1);
    let time = run.time.map(|time| time / share);
    let mut found = false;
    for target in &run.targets {
        found |= fuzz_one(target, run, time, &watchdog);
    }
    ExitCode::from(u8::from(found))
}

/// Runs seeds until there is a finding, or the seeds or the time run out. Returns whether there was
/// a finding.
fn fuzz_one(target: &Target, run: &Run, time: Option<Duration>, watchdog: &Watchdog) -> bool {
    let corpus = run::corpus(target);
    let begun = Instant::now();
    let mut seed = run.from;
    while run.to.is_none_or(|to| seed < to) && time.is_none_or(|time| begun.elapsed() < time) {
        watchdog.watch(target, seed);
        let input = run::input_of(target, &corpus, seed);
        if let Err(finding) = run::one(target, &input) {
            watchdog.rest();
            report(target, seed, finding);
            return true;
        }
        seed += 1;
    }
    watchdog.rest();
    let (name, from) = (target.name, run.from);
    let seconds = begun.elapsed().as_secs_f64();
    println!("{name:12} seeds {from}..{seed}: nothing found in {seconds:.1} s");
    false
}

fn report(target: &Target, seed: u64, finding: Finding) {
    let name = target.name;
    let length = finding.input.len();
    let shrunk = run::shrink(target, finding);
    println!("{name:12} seed {seed}: {}", shrunk.message);
    match run::keep(target, seed, &shrunk) {
        Ok(file) => println!(
            "{name:12} shrunk from {length} to {} bytes; replay: cargo run --profile checked -p informer-fuzz -- --replay {}",
            shrunk.input.len(),
            file.display()
        ),
        Err(error) => eprintln!("informer-fuzz: cannot write the finding: {error}"),
    }
}
