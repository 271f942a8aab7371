//! The run: sync, churn, latency, reads.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer::{
    Backlog, Client, Config, Encodings, FirstState, InformerConfig, SharedInformer, by,
};
use tokio::time::sleep;
use tokio::try_join;

use crate::board::Board;
use crate::control;
use crate::options::{Options, Strategy};
use crate::pods::Measured;
use crate::process::{cpu, peak, resident};
use crate::reads::Reads;
use crate::report::Report;

/// The label of the second index, besides the namespace.
const LABEL: &str = "app.kubernetes.io/name";

pub(crate) const ALLOCATOR: &str = if cfg!(feature = "mimalloc") {
    "mimalloc"
} else {
    "system"
};

/// Longer than any sync worth measuring.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// After this pause, nothing is in flight any more.
pub(crate) const REST: Duration = Duration::from_millis(300);

/// Follows the pods and measures what `options` ask for.
pub(crate) async fn run<K: Measured>(options: &Options) -> Result<Report, Box<dyn Error>> {
    let rss_baseline = resident();
    let cpu_before = cpu();
    let begin = Instant::now();

    let board = Arc::new(Board::new(options.handlers));
    let pods = start::<K>(options)?;
    let mut registrations = Vec::new();
    for handler in 0..options.handlers {
        let board = Arc::clone(&board);
        registrations.push(pods.on(move |notification| board.write(handler, &notification))?);
    }
    pods.synced(PATIENCE).await?;
    let store_ready = begin.elapsed();
    for registration in &registrations {
        registration.synced(PATIENCE).await?;
    }
    let synced = begin.elapsed();
    let sync_cpu = cpu() - cpu_before;
    let (rss_after_sync, rss_peak) = (resident(), peak());
    let lister = pods.lister();
    let n = lister.len();
    sleep(REST).await;
    let rss_settled = resident();

    let churn = churn(options, &board).await?;
    let latency = latency(options, &board).await?;
    let (rss_end, rss_peak_end) = (resident(), peak());
    let reads = if options.reads == 1 {
        Reads::of(&lister, LABEL)?
    } else {
        Reads::default()
    };

    Ok(Report {
        contender: "informer",
        allocator: ALLOCATOR,
        form: options.form,
        strategy: options.strategy,
        handlers: options.handlers,
        n: Some(n),
        answer_bytes: None,
        sync_ms: millis(synced),
        store_ready_ms: millis(store_ready),
        sync_cpu_ms: millis(sync_cpu),
        rss_baseline,
        rss_after_sync,
        rss_peak,
        rss_settled,
        heap_live: 0,
        rss_end,
        rss_peak_end,
        churn_events: options.churn,
        churn_seen: churn.seen,
        churn_ms: millis(churn.span),
        churn_events_per_s: churn.events_per_s,
        churn_cpu_us_per_event: churn.cpu_us_per_event,
        lat_p50_us: latency.percentile(50),
        lat_p99_us: latency.percentile(99),
        lat_max_us: latency.percentile(100),
        lat_cpu_us_per_event: latency.cpu_us_per_event,
        get_ops_s: reads.gets_per_s,
        list_all_us: reads.list_us,
        list_ns_us: reads.namespace_us,
        index_app_us: reads.label_us,
    })
}

/// A client of the server that `options` name.
pub(crate) fn connect(options: &Options) -> Result<Client, Box<dyn Error>> {
    let mut config = match &options.kubeconfig {
        Some(file) => Config::from_kubeconfig(file, None)?,
        None => Config::new(options.url.as_deref().unwrap_or_default())?,
    };
    if let Some(ca) = &options.ca {
        config = config.with_ca_file(ca);
    }
    Ok(Client::new(config)?)
}

/// The preset, with the strategy that `options` name.
pub(crate) const fn config(options: &Options) -> InformerConfig {
    let mut preset = InformerConfig::new();
    preset.reflector.first_state = match options.strategy {
        Strategy::Listwatch => FirstState::Listed,
        Strategy::Streaming => FirstState::Streamed,
    };
    preset
}

/// An informer with an index by namespace and one by a label, like client-go's.
fn start<K: Measured>(options: &Options) -> Result<SharedInformer<K>, Box<dyn Error>> {
    let client = connect(options)?;
    let mut builder = K::builder()
        .preset(config(options))
        // The other programs merge no changes either.
        .backlog(Backlog::Grow)
        .index("namespace", by::namespace())
        .index("app", by::label(LABEL));
    if options.form.is_protobuf() {
        builder = builder.tweak(|target| target.encodings = Encodings::Protobuf);
    }
    if options.form.keeps_managed_fields() {
        builder = builder.keep_managed_fields();
    }
    Ok(builder.start(&client)?)
}

/// The cost of many events at once.
#[derive(Default)]
struct Churned {
    seen: u64,
    span: Duration,
    events_per_s: f64,
    cpu_us_per_event: f64,
}

async fn churn(options: &Options, board: &Board) -> Result<Churned, Box<dyn Error>> {
    if options.churn == 0 {
        return Ok(Churned::default());
    }
    board.arm(false);
    let before = cpu();
    let followed = async {
        board.marker().await;
        Ok(cpu() - before)
    };
    let (spent, ()) = try_join!(followed, control::churn(options))?;
    let span = board.span();
    let events = f64::from(options.churn);
    Ok(Churned {
        seen: board.events(),
        span,
        events_per_s: events / span.as_secs_f64(),
        cpu_us_per_event: micros(spent) / events,
    })
}

/// The cost of events at a steady rate, and the latency of each.
#[derive(Default)]
struct Latency {
    /// In ns, sorted.
    taken: Vec<u64>,
    cpu_us_per_event: f64,
}

impl Latency {
    /// In µs.
    fn percentile(&self, percent: usize) -> f64 {
        let at = self.taken.len().saturating_sub(1) * percent / 100;
        let nanos = self.taken.get(at).copied().unwrap_or_default();
        micros(Duration::from_nanos(nanos))
    }
}

async fn latency(options: &Options, board: &Board) -> Result<Latency, Box<dyn Error>> {
    if options.lat_events == 0 {
        return Ok(Latency::default());
    }
    sleep(Duration::from_millis(500)).await;
    board.arm(true);
    let before = cpu();
    let followed = async {
        board.marker().await;
        Ok(cpu() - before)
    };
    let (spent, ()) = try_join!(followed, control::trickle(options))?;
    Ok(Latency {
        taken: board.latencies(),
        cpu_us_per_event: micros(spent) / f64::from(options.lat_events),
    })
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
