//! Runs simulations: `simulate --seeds 0..1000`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]

use std::io::{IsTerminal as _, Write as _};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use informer_transport_mock::simulation::{Mutant, Tally, World};

const HELP: &str = "\
Runs whole informers against a misbehaving server and checks everything they report.

Usage: simulate [--seeds A..B] [--jobs N] [--mutant NAME]
       simulate --trace SEED [--mutant NAME]

  --seeds A..B   the seeds to run, without B (default 0..1000)
  --jobs N       how many run in parallel (default: one per processor)
  --trace SEED   run one seed and print everything that happens
  --mutant NAME  plant a bug, to check that it is found
  --help         print this text

The environment variable SIM_SEED=n means --seeds n..n+1, and prints the trace of a failure.
Exit codes: 0 all passed, 1 some failed, 2 wrong usage.
";

/// How many failures are shown in full.
const SHOWN: usize = 3;

struct Args {
    seeds: Range<u64>,
    jobs: usize,
    trace: Option<u64>,
    mutant: Option<Mutant>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let args = match parse(&args) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("simulate: {why}");
            return ExitCode::from(2);
        }
    };
    match args.trace {
        Some(seed) => trace(seed, args.mutant),
        None => run(&args),
    }
}

fn parse(args: &[String]) -> Result<Args, String> {
    let seeds = match std::env::var("SIM_SEED") {
        Ok(seed) => {
            let seed = number("SIM_SEED", &seed)?;
            seed..seed.saturating_add(1)
        }
        Err(_) => 0..1000,
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut parsed = Args {
        seeds,
        jobs,
        trace: None,
        mutant: None,
    };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let mut value = || {
            let value = args.next();
            value.ok_or_else(|| format!("{flag} needs a value; see --help"))
        };
        match flag.as_str() {
            "--seeds" => parsed.seeds = seeds_of(value()?)?,
            "--jobs" => {
                let jobs = number(flag, value()?)?;
                parsed.jobs = usize::try_from(jobs).unwrap_or(usize::MAX).clamp(1, 1024);
            }
            "--trace" => parsed.trace = Some(number(flag, value()?)?),
            "--mutant" => {
                let mutant = value()?.parse::<Mutant>();
                parsed.mutant = Some(mutant.map_err(|error| error.to_string())?);
            }
            _ => return Err(format!("unknown flag {flag:?}; see --help")),
        }
    }
    Ok(parsed)
}

fn number(what: &str, text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{what} needs a number, not {text:?}"))
}

fn seeds_of(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("--seeds needs a range such as 0..1000, not {text:?}");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let from = from.parse().map_err(|_| wrong())?;
    let to = to.parse().map_err(|_| wrong())?;
    if from < to {
        Ok(from..to)
    } else {
        Err(wrong())
    }
}

fn world(seed: u64, mutant: Option<Mutant>) -> World {
    match mutant {
        Some(mutant) => World::new(seed).with_mutant(mutant),
        None => World::new(seed),
    }
}

fn trace(seed: u64, mutant: Option<Mutant>) -> ExitCode {
    let outcome = world(seed, mutant).traced().run();
    print!("{}", outcome.trace);
    println!("{}", outcome.tally);
    match outcome.violation {
        Some(violation) => {
            eprintln!("seed {seed}: {}", violation.what);
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}

fn run(args: &Args) -> ExitCode {
    let started = Instant::now();
    let next = AtomicU64::new(args.seeds.start);
    let total = Mutex::new((Tally::default(), Vec::new()));
    let is_terminal = std::io::stderr().is_terminal();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(|| {
                let (mut tally, mut failed) = (Tally::default(), Vec::new());
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= args.seeds.end {
                        break;
                    }
                    if is_terminal && seed.is_multiple_of(500) {
                        eprint!("\rseed {seed} of {}", args.seeds.end);
                        let _ = std::io::stderr().flush();
                    }
                    let _panicking = Seed(seed);
                    let outcome = world(seed, args.mutant).run();
                    tally.add(&outcome.tally);
                    failed.extend(outcome.violation.map(|_| seed));
                }
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                total.0.add(&tally);
                total.1.append(&mut failed);
            });
        }
    });
    if is_terminal {
        eprint!("\r{:40}\r", "");
    }
    let total = total.into_inner();
    let (tally, mut failed) = total.unwrap_or_else(PoisonError::into_inner);
    failed.sort_unstable();
    for seed in failed.iter().take(SHOWN) {
        explain(*seed, args.mutant);
    }
    if failed.len() > SHOWN {
        let rest: Vec<String> = failed.iter().skip(SHOWN).map(u64::to_string).collect();
        println!("and seeds {}", rest.join(" "));
    }
    println!("{tally}");
    println!("{:.1} s", started.elapsed().as_secs_f64());
    let all = args.seeds.end - args.seeds.start;
    println!(
        "{} passed, {} failed",
        all - failed.len() as u64,
        failed.len()
    );
    ExitCode::from(u8::from(!failed.is_empty()))
}

/// Names the seed if a run panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("simulate: seed {} panicked", self.0);
        }
    }
}

/// Runs a seed again and shows where it fails.
fn explain(seed: u64, mutant: Option<Mutant>) {
    if let Some(violation) = world(seed, mutant).traced().run().violation {
        println!("{violation}");
        let mutant = mutant.map_or(String::new(), |mutant| {
            format!(" --mutant {}", mutant.name())
        });
        println!("replay: simulate --trace {seed}{mutant}\n");
    }
}
