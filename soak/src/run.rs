//! Warm up, soak, compare.

use std::error::Error;
use std::fmt;
use std::net::TcpListener;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use informer::SharedInformer;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::census::Census;
use crate::counted::Counted;
use crate::guests::{come_and_go, pods};
use crate::server::World;

/// Why a soak could not run.
pub type Failed = Box<dyn Error + Send + Sync>;

/// How many guests run at the same time.
const GUESTS: u64 = 8;

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_secs(10);

/// How long the last tasks may take to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// The same for a deliberate leak, which never ends.
const NO_PATIENCE: Duration = Duration::from_secs(1);

/// How long a soak takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Length {
    /// Until this many guests have come and gone.
    Visits(u64),
    /// For this time.
    Time(Duration),
}

/// A deliberate leak, to check the test itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Leak {
    /// A snapshot, with its objects.
    Objects,
    /// A task that waits forever.
    Task,
    /// A socket.
    File,
    /// Memory.
    Memory,
}

/// The counts after the warm-up and after the soak.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// After the warm-up.
    pub before: Census,
    /// At the end.
    pub after: Census,
    /// How many guests have come and gone.
    pub visits: u64,
}

impl FromStr for Leak {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "objects" => Ok(Self::Objects),
            "task" => Ok(Self::Task),
            "file" => Ok(Self::File),
            "memory" => Ok(Self::Memory),
            _ => Err(format!(
                "unknown leak {name:?}; use objects, task, file or memory"
            )),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "after the warm-up: {}", self.before)?;
        write!(f, "after {} guests: {}", self.visits, self.after)
    }
}

/// Warms up, soaks and counts. Calls `progress` about every ten seconds.
///
/// # Errors
/// The soak could not run: no port, file or client.
pub fn soak(
    warm_up: Length,
    length: Length,
    leak: Option<Leak>,
    progress: fn(Duration, u64, Census),
) -> Result<Outcome, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    let outcome = runtime.block_on(async {
        stay(warm_up, None, &mut kept, progress).await?;
        let before = settled(PATIENCE).await;
        let visits = stay(length, leak, &mut kept, progress).await?;
        let after = settled(if leak.is_some() {
            NO_PATIENCE
        } else {
            PATIENCE
        })
        .await;
        Ok(Outcome {
            before,
            after,
            visits,
        })
    });
    drop(kept);
    outcome
}

/// One round: a server, two resident informers, and guests. Returns how many guests there were.
async fn stay(
    length: Length,
    leak: Option<Leak>,
    kept: &mut Vec<Box<dyn std::any::Any>>,
    progress: fn(Duration, u64, Census),
) -> Result<u64, Failed> {
    let faults_for = match length {
        Length::Visits(_) => PROGRESS,
        Length::Time(time) => time,
    };
    let world = Arc::new(World::start(faults_for).await?);
    let (plain, secure) = (world.client(0)?, world.client(1)?);
    let residents = [pods().start(&plain)?, pods().start(&secure)?];
    for resident in &residents {
        resident.on(|_| {})?;
    }
    let begun = Instant::now();
    let visits = Arc::new(AtomicU64::new(0));
    let mut guests = JoinSet::new();
    for number in 0..GUESTS {
        let client = if number % 2 == 0 { &plain } else { &secure };
        let goes_on = move |visit| match length {
            Length::Visits(most) => visit < most,
            Length::Time(time) => begun.elapsed() < time,
        };
        let visits = Arc::clone(&visits);
        guests.spawn(come_and_go(
            Arc::clone(&world),
            client.clone(),
            visits,
            goes_on,
        ));
    }
    let reporter = tokio::spawn(report(begun, Arc::clone(&visits), progress));
    while let Some(guest) = guests.join_next().await {
        guest??;
    }
    reporter.abort();
    // The task ends with a cancellation error, as intended.
    let _ = reporter.await;
    if let Some(leak) = leak {
        kept.extend(leave(leak, &residents));
    }
    drop(residents);
    drop((plain, secure));
    if let Some(world) = Arc::into_inner(world) {
        world.stop().await;
    }
    Ok(visits.load(Ordering::Relaxed).saturating_sub(GUESTS))
}

/// Reports progress from time to time.
async fn report(begun: Instant, visits: Arc<AtomicU64>, progress: fn(Duration, u64, Census)) {
    loop {
        sleep(PROGRESS).await;
        progress(
            begun.elapsed(),
            visits.load(Ordering::Relaxed),
            Census::take(),
        );
    }
}

/// Leaks something. The result keeps it alive.
fn leave(leak: Leak, residents: &[SharedInformer<Counted>]) -> Option<Box<dyn std::any::Any>> {
    Some(match leak {
        Leak::Objects => Box::new(residents.first()?.snapshot()),
        Leak::Task => Box::new(tokio::spawn(std::future::pending::<()>())),
        Leak::File => Box::new(TcpListener::bind("127.0.0.1:0").ok()?),
        Leak::Memory => Box::new(vec![1_u8; 64 << 20]),
    })
}

/// Counts once everything has ended, or after `patience`.
async fn settled(patience: Duration) -> Census {
    let begun = Instant::now();
    loop {
        let census = Census::take();
        let is_over = census.tasks == 0 && census.objects == 0;
        if is_over || begun.elapsed() > patience {
            return census;
        }
        sleep(Duration::from_millis(20)).await;
    }
}
