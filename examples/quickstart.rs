//! What an informer does for you, in ten seconds: it follows a busy cluster, names the cause of every change,
//! merges changes for a slow handler, and finds what was deleted while its connection was cut.
//!
//! Without flags, the cluster is a mock API server inside this program. In a real cluster, nothing is cut.

use std::collections::BTreeMap;
use std::error::Error;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use informer::ops::{self, Ops, OpsError};
use informer::runtime::Tokio;
use informer::{
    AsyncHandler, Backlog, Failure, InformerBuilder, ListenerConfig, Notification, Object, Query,
    Resync, SharedInformer, StartError, by,
};
use informer_examples::pods::{self, Pod};
use informer_examples::screen::{
    ADDED, ANSWER, DELETED, FAINT, UPDATED, line, printable, styled, title,
};
use informer_examples::{Busy, Cluster, ClusterArgs, count, exit, sync};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::interval;

/// Follows the pods of a cluster. Without flags, it uses a mock API server inside this program
#[derive(Parser)]
struct Flags {
    /// Follow until Ctrl-C, which is the default for a real cluster
    #[arg(long)]
    follow: bool,

    /// Open the inspector at this address, and follow until Ctrl-C
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0"
    )]
    inspect: Option<String>,

    /// The time between two changes of the mock server
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 150)]
    pace: u64,

    #[command(flatten)]
    cluster: ClusterArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(Flags::parse()).await)
}

async fn run(flags: Flags) -> Result<(), Box<dyn Error>> {
    let mut busy = Busy::new();
    let cluster = open(&flags.cluster, &mut busy).await?;
    let total = count::<Pod>(cluster.client()).await?;

    // One watch and one cache, with two indices.
    let (fail, failures) = mpsc::unbounded_channel();
    let pods = InformerBuilder::<Pod>::typed()
        .index("app", by::label("app"))
        .index("phase", |pod: &Object<Pod>| pod.status.phase.clone())
        .resync(Duration::from_secs(1))
        .on_failure(move |it| fail.send(it.failure).unwrap_or_default())
        .build(cluster.client(), Tokio::current()?)?;

    // A page that shows what the informer does.
    let _port = match &flags.inspect {
        Some(address) => Some(inspect(address, &pods).await?),
        None => None,
    };

    // Two handlers, each at its own pace. For the slow one, waiting changes of the same pod are merged.
    let mut config = ListenerConfig::new();
    config.resync = Resync::Never;
    let quick = add(&pods, config, Work::Print(Instant::now()))?;
    config.backlog = Backlog::Coalesce { above: 0 };
    let turns = Arc::new(Semaphore::new(0));
    let slow = add(&pods, config, Work::WaitFor(Arc::clone(&turns)))?;

    pods.start()?;
    let took = sync(&pods, total).await?.as_secs_f32();
    let len = styled(ANSWER, pods.lister().len());
    line(format!("  synced {len} pods in {took:.2} s"));
    ask(&pods)?;

    let mut show = Show {
        cluster,
        busy,
        pace: Duration::from_millis(flags.pace.max(1)),
        pods,
        failures,
        quick,
        slow,
        late: None,
        turns,
    };
    let mut seen = Vec::new();
    if show.cluster.is_mock() {
        seen.push(show.merge().await?);
        seen.push(show.cut().await?);
        seen.push(show.join_late().await?);
    }
    if flags.follow || flags.inspect.is_some() || !show.cluster.is_mock() {
        show.follow().await?;
    }
    show.sum_up(&seen);
    Ok(())
}

/// Opens the cluster of the flags, or a busy mock server.
async fn open(flags: &ClusterArgs, busy: &mut Busy) -> Result<Cluster, Box<dyn Error>> {
    if flags.is_given() {
        title("Informer, following your cluster");
        return Cluster::open(flags).await;
    }
    title("Informer, following a mock API server");
    let hint = "  (--context NAME uses your own cluster; --follow runs until Ctrl-C)";
    line(styled(FAINT, hint));
    busy.serve().await
}

/// Opens the operations port, with the inspector at its root.
async fn inspect(address: &str, pods: &SharedInformer<Pod>) -> Result<Ops, OpsError> {
    let port = ops::serve(address).add_with_bodies(pods).history(20);
    let port = port.start().await?;
    line(format!("  inspector: {}", styled(ANSWER, port.url())));
    Ok(port)
}

/// Queries the cache, without a request to the server.
fn ask(pods: &SharedInformer<Pod>) -> Result<(), Box<dyn Error>> {
    title("\nThe cache answers from its indices");
    let store = pods.snapshot();
    let running = store.by_index("phase", "Running")?.count();
    let running = styled(ANSWER, format!("{running} pods"));
    line(format!("  by_index(phase, Running)  {running}"));
    let apps = store.table("app")?;
    if let Some((app, _)) = apps.rows().max_by_key(|(_, pods)| pods.len()) {
        let selector = format!("app={}", String::from_utf8_lossy(app));
        let labels = selector.parse()?;
        let query = Query::new().labels(&labels);
        let found = styled(ANSWER, format!("{} pods", store.select(&query).count()));
        let question = format!("select({})", printable(&selector));
        let plan = styled(FAINT, store.plan(&query));
        line(format!("  {question:<24}  {found}: {plan}"));
    }
    Ok(())
}

/// How often a handler was called, by cause and by what happened to the pod.
type Calls = BTreeMap<(String, &'static str), usize>;

fn calls_for(cause: &str, calls: &Calls) -> usize {
    let of = calls.iter().filter(|((of, _), _)| of == cause);
    of.map(|(_, count)| count).sum()
}

/// Waits until a handler was called this often for this cause.
async fn called(
    calls: &mut watch::Receiver<Calls>,
    times: usize,
    cause: &str,
) -> Result<(), Box<dyn Error>> {
    let enough = |calls: &Calls| calls_for(cause, calls) >= times;
    calls.wait_for(enough).await?;
    Ok(())
}

/// Adds a handler, and returns its calls.
fn add(
    pods: &SharedInformer<Pod>,
    config: ListenerConfig,
    work: Work,
) -> Result<watch::Receiver<Calls>, StartError> {
    let (calls, receiver) = watch::channel(Calls::new());
    pods.on_async_with(Counting { work, calls }, config)?;
    Ok(receiver)
}

/// A handler that counts its calls.
struct Counting {
    work: Work,
    calls: watch::Sender<Calls>,
}

/// What it does besides.
enum Work {
    Print(Instant),
    /// It returns when it gets a turn, as if it waited for another service.
    WaitFor(Arc<Semaphore>),
}

impl AsyncHandler<Pod> for Counting {
    async fn notified(&mut self, change: Notification<Object<Pod>>) {
        let (style, sign, what, details) = match &change {
            Notification::Added { object, .. } => {
                (ADDED, "+", "added", object.status.phase.clone())
            }
            Notification::Updated { old, new, .. } => {
                let phases = format!("{} → {}", old.status.phase, new.status.phase);
                (UPDATED, "~", "updated", phases)
            }
            Notification::Deleted { certainty, .. } => {
                (DELETED, "-", "deleted", certainty.to_string())
            }
        };
        let cause = change.cause().to_string();
        if let Work::Print(begun) = self.work
            && !change.is_initial()
        {
            let time = styled(FAINT, format!("{:>6.2} s", begun.elapsed().as_secs_f32()));
            let what = styled(style, format!("{sign} {what:<7}"));
            let [key, details] = [change.key().as_str(), &details].map(printable);
            line(format!("{time}  {what}  {key:<14} {details:<18} {cause}"));
        }
        self.calls
            .send_modify(|calls| *calls.entry((cause, what)).or_default() += 1);
        if let Work::WaitFor(turns) = &self.work
            && !change.is_initial()
            && let Ok(turn) = turns.acquire().await
        {
            turn.forget();
        }
    }
}

struct Show {
    cluster: Cluster,
    busy: Busy,
    pace: Duration,
    pods: SharedInformer<Pod>,
    failures: mpsc::UnboundedReceiver<Failure>,
    quick: watch::Receiver<Calls>,
    slow: watch::Receiver<Calls>,
    late: Option<watch::Receiver<Calls>>,
    turns: Arc<Semaphore>,
}

/// The acts. Each returns what was seen.
impl Show {
    /// Pods change while the slow handler is busy with the first change.
    async fn merge(&mut self) -> Result<String, Box<dyn Error>> {
        title("\nPods change, and one crashes again and again");
        let mut pace = interval(self.pace);
        let mut changes = 0;
        for _ in 0..3 {
            pace.tick().await;
            self.cluster.play(|server| self.busy.step(server))?;
            called(&mut self.slow, 1, "watch").await?;
            for phase in ["Failed", "Running", "Failed", "Running"] {
                pace.tick().await;
                let crash = |server: &mut _| pods::set_phase(server, "shop/web-1", phase);
                self.cluster.play(crash)?;
            }
            changes += 5;
        }
        called(&mut self.quick, changes, "watch").await?;
        let handlers = self.pods.status().handlers;
        let merged: u64 = handlers.iter().map(|it| it.coalesced).sum();
        let calls = changes - merged as usize;
        self.turns.add_permits(Semaphore::MAX_PERMITS / 2);
        called(&mut self.slow, calls, "watch").await?;
        Ok(format!(
            "A slow handler held up nobody: {changes} changes were {changes} calls of the quick one, and {calls} of the slow one."
        ))
    }

    /// A pod is deleted while nobody watches.
    async fn cut(&mut self) -> Result<String, Box<dyn Error>> {
        title("\nThe connection is cut, and shop/web-2 is deleted meanwhile");
        let begun = Instant::now();
        let before = calls_for("relist", &self.quick.borrow());
        self.cluster.stop().await;
        self.cluster.play(|server| {
            server.delete("pods", "shop/web-2")?;
            pods::set_phase(server, "shop/web-3", "Failed")
        })?;
        while let Some(failure) = self.failures.recv().await {
            line(format!("  {} {failure}", styled(DELETED, "!")));
            match failure {
                Failure::Unreachable => self.cluster.serve_again().await?,
                Failure::Expired => break,
                _ => {}
            }
        }
        called(&mut self.quick, before + 2, "relist").await?;
        Ok(format!(
            "No event told of the deletion of shop/web-2. The relist inferred it, {:.2} s after the cut.",
            begun.elapsed().as_secs_f32()
        ))
    }

    /// A handler joins late. It gets the cache, and a second later again.
    async fn join_late(&mut self) -> Result<String, Box<dyn Error>> {
        title("\nA handler joins late, with a resync every second");
        let (known, before) = (self.pods.lister().len(), self.pods.status().counts.objects);
        let work = Work::WaitFor(Arc::clone(&self.turns));
        let late = self
            .late
            .insert(add(&self.pods, ListenerConfig::new(), work)?);
        for cause in ["replay", "resync"] {
            called(late, known, cause).await?;
            line(format!("  {} pods  {cause}", styled(ANSWER, known)));
        }
        let sent = self.pods.status().counts.objects - before;
        Ok(format!(
            "The late handler was called {} times from the cache. The server sent {sent} objects for that.",
            2 * known
        ))
    }

    /// Follows the cluster until Ctrl-C.
    async fn follow(&mut self) -> Result<(), Box<dyn Error>> {
        title("\nChanges, until Ctrl-C");
        let mut pace = interval(self.pace);
        let mut second = interval(Duration::from_secs(1));
        let mut pressed = pin!(tokio::signal::ctrl_c());
        loop {
            tokio::select! {
                biased;
                pressed = &mut pressed => return Ok(pressed?),
                _ = pace.tick() => self.cluster.play(|server| self.busy.step(server))?,
                _ = second.tick() => self.turns.add_permits(1),
                Some(failure) = self.failures.recv() => {
                    line(format!("  {} {failure}", styled(DELETED, "!")));
                }
            }
        }
    }

    fn sum_up(&self, seen: &[String]) {
        title("\nWhat was seen");
        let head = "  handler  cause    added  updated  deleted";
        line(styled(FAINT, head));
        let late = self.late.iter().map(|calls| ("late", calls));
        let handlers = [("quick", &self.quick), ("slow", &self.slow)];
        for (name, calls) in handlers.into_iter().chain(late) {
            let calls = calls.borrow();
            for cause in ["relist", "watch", "replay", "resync"] {
                let of = |what| calls.get(&(cause.to_owned(), what)).unwrap_or(&0);
                let [added, updated, deleted] = ["added", "updated", "deleted"].map(of);
                if calls_for(cause, &calls) > 0 {
                    let counts = format!("{added:>6}  {updated:>7}  {deleted:>7}");
                    line(format!("  {name:<7}  {cause:<6}  {counts}"));
                }
            }
        }
        for sentence in seen {
            line(format!("  {sentence}"));
        }
        let status = self.pods.status();
        line(format!(
            "  The cache has {} pods (failures: {}, full states read: {}).",
            status.objects, status.counts.failures, status.counts.full_states
        ));
    }
}
