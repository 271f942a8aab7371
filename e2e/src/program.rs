//! The program: starts a server and runs the scenarios.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer_e2e::Outcome;
use informer_e2e::api::Api;
use informer_e2e::cluster::Cluster;
use informer_e2e::report::Report;
use tokio::time::timeout;

use crate::clients::OWN;
use crate::scenarios::{SCENARIOS, Scenario, World, replica};

/// The time limit of a scenario.
const LIMIT: Duration = Duration::from_secs(600);

/// Runs the scenarios that the arguments name, or all. As `replica …`, it is a process of the elections.
pub(crate) async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let Some((word, rest)) = arguments.split_first()
        && word == "replica"
    {
        return match replica(rest).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    match run(arguments).await {
        Ok(report) => {
            println!("\n{report}");
            if report.is_good() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Vec<String>) -> Outcome<Report> {
    let (flags, names): (Vec<_>, Vec<_>) = arguments
        .into_iter()
        .partition(|word| word.starts_with('-'));
    if let Some(flag) = flags.iter().find(|flag| *flag != "--quick") {
        return Err(format!("unknown flag {flag}; try: e2e [--quick] [NAME…]").into());
    }
    if let Some(name) = names
        .iter()
        .find(|name| scenarios().all(|(known, _)| known != name))
    {
        let known: Vec<_> = scenarios().map(|(name, _)| *name).collect();
        return Err(format!("unknown scenario {name}; use one of {}", known.join(", ")).into());
    }
    let binary = std::env::var_os("E2E_APISERVER")
        .map(PathBuf::from)
        .ok_or("E2E_APISERVER is not set: start this program with e2e/run")?;
    let dir = std::env::temp_dir().join(format!("informer-e2e-{}", std::process::id()));
    let began = Instant::now();
    let cluster = Cluster::up(&binary, &dir).await?;
    println!(
        "the server is ready after {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let api = Arc::new(Api::new(cluster.state())?);
    let mut world = World::new(cluster, api, !flags.is_empty());
    let chosen = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
    for (name, scenario) in scenarios().filter(|(name, _)| chosen(name)) {
        let began = Instant::now();
        let outcome = timeout(LIMIT, scenario(&mut world)).await;
        let outcome = outcome.unwrap_or_else(|_| Err("it did not end in time".into()));
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("{word:<7} {name} ({:.1} s)", began.elapsed().as_secs_f64());
        world.report.ended(name, &outcome);
    }
    let World {
        report, cluster, ..
    } = world;
    drop(cluster);
    // After a failure, keep the logs.
    if report.is_good() {
        std::fs::remove_dir_all(&dir)?;
    } else {
        println!("the server's logs are in {}", dir.display());
    }
    Ok(report)
}

fn scenarios() -> impl Iterator<Item = &'static (&'static str, Scenario)> {
    // Faults come last.
    OWN.iter().chain(SCENARIOS)
}
