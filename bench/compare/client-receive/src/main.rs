//! The usual HTTP client receives a first state of pods, decrypts and inflates it, throws it away, and prints
//! one line of JSON. What an informer costs beyond that is its own.

// The command line.
mod options;

// The server and the credentials.
mod kubeconfig;

// The requests, and what is received.
mod receive;

// What was received. It is the file of our client, so the same bytes end both.
#[path = "../../../src/seen.rs"]
mod seen;

// Memory and CPU time, counted as in our client.
#[path = "../../../src/process.rs"]
mod process;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser as _;
use serde_json::{Value, json};

use kubeconfig::Access;
use options::Options;
use process::{cpu, peak, resident};
use receive::receive;

/// After this pause, nothing is in flight any more.
const REST: Duration = Duration::from_millis(300);

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Options::parse()).await {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench-receive: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<Value, String> {
    let rss_baseline = resident();
    let (cpu_before, begin) = (cpu(), Instant::now());
    let access = Access::of(&options.kubeconfig)?;
    // Spawned, because the drivers of informers are.
    let receiving = tokio::spawn(receive(access, options.strategy, options.protobuf));
    let ended = receiving.await;
    let received = ended.map_err(|error| format!("the task ended early: {error}"))??;
    let (synced, sync_cpu) = (begin.elapsed(), cpu() - cpu_before);
    let (rss_after_sync, rss_peak) = (resident(), peak());
    tokio::time::sleep(REST).await;
    let rss_settled = resident();
    let answer_bytes = received.bytes;
    drop(received);
    Ok(json!({
        "contender": "reqwest",
        "allocator": "system",
        "form": if options.protobuf { "received-plainly-protobuf" } else { "received-plainly" },
        "strategy": options.strategy.name(),
        "handlers": 0,
        "answer_bytes": answer_bytes,
        "sync_ms": millis(synced),
        "store_ready_ms": millis(synced),
        "sync_cpu_ms": millis(sync_cpu),
        "rss_baseline": rss_baseline,
        "rss_after_sync": rss_after_sync,
        "rss_peak": rss_peak,
        "rss_settled": rss_settled,
        "heap_live": 0,
        "rss_end": resident(),
        "rss_peak_end": peak(),
        "churn_events": 0,
        "churn_seen": 0,
        "churn_ms": 0.0,
        "churn_events_per_s": 0.0,
        "churn_cpu_us_per_event": 0.0,
        "lat_p50_us": 0.0,
        "lat_p99_us": 0.0,
        "lat_max_us": 0.0,
        "lat_cpu_us_per_event": 0.0,
        "get_ops_s": 0.0,
        "list_all_us": 0.0,
        "list_ns_us": 0.0,
        "index_app_us": 0.0,
    }))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
