//! A leak test that runs for an hour: `informer-soak --minutes 60`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]

// The command line.
mod options;

use std::process::ExitCode;
use std::time::Duration;

use informer_soak::census::Census;
use informer_soak::run::{Length, Outcome, soak};

use options::{HELP, Options};

/// How long the warm-up takes.
const WARM_UP: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("informer-soak: {why}");
            return ExitCode::from(2);
        }
    };
    let (warm_up, length) = (Length::Time(WARM_UP), Length::Time(options.time));
    match soak(warm_up, length, options.leak, tell) {
        Ok(outcome) => judge(&outcome),
        Err(error) => {
            eprintln!("informer-soak: {error}");
            ExitCode::from(2)
        }
    }
}

fn tell(time: Duration, visits: u64, census: Census) {
    println!("{:5} s, {visits} guests: {census}", time.as_secs());
}

fn judge(outcome: &Outcome) -> ExitCode {
    println!("{outcome}");
    let leaks = outcome.after.leaks_since(&outcome.before);
    if leaks.is_empty() {
        println!("no leaks");
        return ExitCode::SUCCESS;
    }
    println!("leaks: {}", leaks.join("; "));
    ExitCode::FAILURE
}
