//! What open inspector pages cost informers: latency with and without pages, and the memory of the port.
//!
//! 100 informers follow a mock server in this process. It changes 1,000 objects a second. A handler of each
//! informer notes how long each change took to reach it. Rounds with and without pages alternate.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cap::Cap;
use informer::{InformerBuilder, LeanBody, Notification, Object, SharedInformer, Target, ops};
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

const INFORMERS: usize = 100;
const PODS: usize = 20;
/// Changes every ten milliseconds.
const CHANGES: usize = 10;
const PAGES: usize = 5;
const ROUND: Duration = Duration::from_secs(6);
const PAIRS: usize = 5;

type Latencies = Arc<Mutex<Vec<Duration>>>;

fn pod(namespace: usize, name: usize, at: u128) -> serde_json::Value {
    json!({"metadata": {
        "namespace": format!("n-{namespace}"),
        "name": format!("pod-{name}"),
        "labels": {"at": at.to_string()},
    }})
}

/// Follows the pods of one namespace, and notes how long each change takes.
fn follow(
    server: &MockServer,
    namespace: usize,
    begin: Instant,
    latencies: &Latencies,
) -> Result<SharedInformer<LeanBody>, Box<dyn Error>> {
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .namespace(&format!("n-{namespace}"))
        .start(&server.connect())?;
    let latencies = Arc::clone(latencies);
    pods.on(move |change: Notification<Object<LeanBody>>| {
        let Notification::Updated { new, .. } = change else {
            return;
        };
        let at = new.labels().get("at").and_then(|at| at.parse().ok());
        let sent = Duration::from_nanos(at.unwrap_or_default());
        let latency = begin.elapsed().saturating_sub(sent);
        let mut latencies = latencies.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.push(latency);
    })?;
    Ok(pods)
}

/// Changes 1,000 objects a second for one round.
async fn change(
    server: &MockServer,
    begin: Instant,
    turn: &mut usize,
) -> Result<(), Box<dyn Error>> {
    let mut ticks = interval(Duration::from_millis(10));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = Instant::now() + ROUND;
    while Instant::now() < end {
        ticks.tick().await;
        server.with(|server| {
            for _ in 0..CHANGES {
                *turn += 1;
                let (namespace, name) = (*turn % INFORMERS, *turn / INFORMERS % PODS);
                server.update("pods", pod(namespace, name, begin.elapsed().as_nanos()))?;
            }
            Ok::<_, Box<dyn Error>>(())
        })?;
    }
    Ok(())
}

/// Opens a page on a thread of its own, as a browser is a process of its own, and reads until it is closed.
fn open_page(address: std::net::SocketAddr) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let Ok(mut page) = TcpStream::connect(address).await else {
            return;
        };
        let request = format!("GET /events HTTP/1.1\r\nhost: {address}\r\n\r\n");
        let _ = page.write_all(request.as_bytes()).await;
        let mut piece = vec![0; 64 * 1024];
        while matches!(page.read(&mut piece).await, Ok(1..)) {}
    })
}

fn median<T: Copy + Ord>(values: &mut [T]) -> Option<T> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn take_p50(latencies: &Latencies) -> (usize, Duration) {
    let mut latencies = latencies.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = std::mem::take(&mut *latencies);
    (taken.len(), median(&mut taken).unwrap_or_default())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the report")]
async fn main() -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    let latencies = Latencies::default();
    let mut informers = Vec::new();
    for namespace in 0..INFORMERS {
        for name in 0..PODS {
            server.with(|server| server.create("pods", pod(namespace, name, 0)))?;
        }
        informers.push(follow(&server, namespace, begin, &latencies)?);
    }
    let mut port = ops::serve("127.0.0.1:0");
    for informer in &informers {
        informer.synced(Duration::from_secs(60)).await?;
        port = port.add(informer);
    }
    let port = port.start().await?;
    let address = port.address().ok_or("no address")?;
    let browsers = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;

    let mut turn = 0;
    let (mut without, mut with, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    change(&server, begin, &mut turn).await?;
    take_p50(&latencies);
    for _ in 0..PAIRS {
        change(&server, begin, &mut turn).await?;
        let (count, p50) = take_p50(&latencies);
        println!("without pages: {count} changes, p50 {p50:?}");
        without.push(p50);

        let entered = browsers.enter();
        let pages: Vec<_> = (0..PAGES).map(|_| open_page(address)).collect();
        drop(entered);
        change(&server, begin, &mut turn).await?;
        let with_pages = MEMORY.allocated();
        pages.iter().for_each(|page| page.abort());
        while informers.iter().any(|it| it.status().handlers.len() > 1) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let grown = with_pages.saturating_sub(MEMORY.allocated());
        let (count, p50) = take_p50(&latencies);
        println!(
            "with {PAGES} pages: {count} changes, p50 {p50:?}, {} KiB more",
            grown / 1024
        );
        with.push(p50);
        memory.push(grown);
    }
    let worse = |p: Duration, q: Duration| (q.as_secs_f64() / p.as_secs_f64() - 1.0) * 100.0;
    if let (Some(without), Some(with), Some(memory)) =
        (median(&mut without), median(&mut with), median(&mut memory))
    {
        println!(
            "medians: p50 {without:?} without and {with:?} with pages: {:+.1} %; memory of port and pages {} KiB",
            worse(without, with),
            memory / 1024
        );
    }
    port.stop().await;
    browsers.shutdown_background();
    Ok(())
}
