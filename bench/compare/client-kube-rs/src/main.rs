//! A reflector of kube-rs follows pods, measures itself, and prints one line of JSON.

// The command line.
mod options;

// The reflector and its handlers.
mod follower;

// What a handler has seen.
mod tally;

// CPU time and memory.
mod process;

// Reads of the store.
mod reads;

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use follower::Follower;
use options::{Options, Strategy};
use process::{cpu, memory};
use reads::Reads;
use tally::Tally;

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
            eprintln!("bench-kube-rs: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<serde_json::Value, Box<dyn Error>> {
    let (rss_baseline, _) = memory();
    let (cpu_before, begin) = (cpu(), Instant::now());
    let client = Client::try_from(config(options).await?)?;
    let pods = Follower::start(client, options)?;
    pods.store.wait_until_ready().await?;
    let store_ready = begin.elapsed();
    pods.synced().await?;
    let (synced, sync_cpu) = (begin.elapsed(), cpu() - cpu_before);
    let (rss_after_sync, rss_peak) = memory();
    tokio::time::sleep(REST).await;
    let (rss_settled, _) = memory();

    let (churn, kind) = (options.churn, &options.churn_kind);
    let target = format!("/bench/churn?events={churn}&rate=0&kind={kind}");
    let churned = series(&pods, options, churn, target, Tally::default).await?;
    let (events, rate) = (options.lat_events, options.lat_rate);
    let target = format!("/bench/churn?events={events}&rate={rate}");
    let latency = series(&pods, options, events, target, Tally::with_latencies).await?;
    let (rss_end, rss_peak_end) = memory();
    let reads = if options.reads == 1 {
        Reads::of(&pods.store)
    } else {
        Reads::default()
    };
    let span = churned.span.as_secs_f64();
    Ok(json!({
        "contender": "kube-rs",
        "allocator": "system",
        "strategy": match options.strategy {
            Strategy::Listwatch => "listwatch",
            Strategy::Streaming => "streaming",
        },
        "handlers": options.handlers,
        "n": pods.store.len(),
        "sync_ms": millis(synced),
        "store_ready_ms": millis(store_ready),
        "sync_cpu_ms": millis(sync_cpu),
        "rss_baseline": rss_baseline,
        "rss_after_sync": rss_after_sync,
        "rss_peak": rss_peak,
        "rss_settled": rss_settled,
        "heap_live": 0,
        "rss_end": rss_end,
        "rss_peak_end": rss_peak_end,
        "churn_events": churn,
        "churn_seen": churned.seen,
        "churn_ms": span * 1e3,
        "churn_events_per_s": if span > 0.0 { f64::from(churn) / span } else { 0.0 },
        "churn_cpu_us_per_event": churned.cpu_us_per_event,
        "lat_p50_us": latency.percentile(50),
        "lat_p99_us": latency.percentile(99),
        "lat_max_us": latency.percentile(100),
        "lat_cpu_us_per_event": latency.cpu_us_per_event,
        "get_ops_s": reads.gets_per_s,
        "list_all_us": reads.list_us,
        "list_ns_us": reads.namespace_us,
        "index_app_us": 0.0,
    }))
}

async fn config(options: &Options) -> Result<Config, Box<dyn Error>> {
    if let Some(file) = &options.kubeconfig {
        let file = Kubeconfig::read_from(file)?;
        return Ok(Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?);
    }
    let url = options.url.as_deref().unwrap_or_default();
    let mut config = Config::new(url.parse()?);
    config.root_cert_file = options.ca.clone();
    Ok(config)
}

/// The cost of a series of events.
#[derive(Default)]
struct Series {
    seen: u64,
    span: Duration,
    cpu_us_per_event: f64,
    /// In ns, sorted.
    latencies: Vec<u64>,
}

impl Series {
    /// In µs.
    fn percentile(&self, percent: usize) -> f64 {
        let at = self.latencies.len().saturating_sub(1) * percent / 100;
        self.latencies.get(at).copied().unwrap_or(0) as f64 / 1e3
    }
}

/// Has the load server send events and follows them to the marker, looking once per millisecond,
/// as all programs do.
async fn series(
    pods: &Follower,
    options: &Options,
    events: u32,
    target: String,
    make: fn() -> Tally,
) -> Result<Series, Box<dyn Error>> {
    if events == 0 {
        return Ok(Series::default());
    }
    tokio::time::sleep(REST).await;
    let tallies = pods.tally(make);
    let before = cpu();
    let control = options.control().to_owned();
    let sending = tokio::task::spawn_blocking(move || post(&control, &target));
    let mut failed = false;
    while !tallies.iter().all(|tally| tally.is_over()) && !failed {
        tokio::time::sleep(Duration::from_millis(1)).await;
        failed = sending.is_finished() && tallies.iter().all(|tally| tally.seen() == 0);
    }
    let spent = cpu() - before;
    sending.await??;
    if failed {
        return Err("no event came".into());
    }
    let mut latencies: Vec<u64> = tallies.iter().flat_map(|tally| tally.latencies()).collect();
    latencies.sort_unstable();
    Ok(Series {
        seen: tallies.first().map_or(0, |tally| tally.seen()),
        span: Tally::span(tallies.iter().map(Arc::as_ref)),
        cpu_us_per_event: spent.as_secs_f64() * 1e6 / f64::from(events),
        latencies,
    })
}

/// Asks the load server's control interface, without kube-rs.
fn post(host: &str, target: &str) -> Result<(), String> {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| format!("{host} cannot be asked for events: {error}"))?;
    if answer.starts_with("HTTP/1.1 200") {
        Ok(())
    } else {
        let line = answer.lines().next().unwrap_or("nothing");
        Err(format!("{host} answered to POST {target}: {line}"))
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
