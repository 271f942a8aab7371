//! The main features in one program: a shared informer with two handlers and two indices follows a busy
//! cluster. It shows the progress of the first list, queries its cache, prints changes and sums up.
//!
//! Without flags, the cluster is a mock server inside this program, which ends after a few seconds.

use std::collections::BTreeMap;
use std::error::Error;
use std::pin::pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use informer::{
    Added, Cause, Client, Deleted, Handler, IndexFn, InformerBuilder, Kind as _, Object, ObjectKey,
    Phase, Query, SharedInformer, by,
};
use informer_examples::pods::Pod;
use informer_examples::screen::{
    ADDED, ANSWER, DELETED, FAINT, TITLE, UPDATED, line, printable, styled,
};
use informer_examples::{Busy, Cluster, ClusterArgs, exit};
use informer_transport_mock::http::HttpConfig;
use informer_transport_mock::{Server, ServerConfig};
use serde_json::Value;
use tokio::sync::watch;

/// How often the mock server makes a change.
const PACE: Duration = Duration::from_millis(150);
/// How many changes of the mock server are shown.
const CHANGES: u64 = 40;

/// Follows the pods of a cluster. Without flags, it uses a mock API server inside this program
#[derive(Parser)]
struct Flags {
    /// Follow until Ctrl-C, which is the default for a real cluster
    #[arg(long, conflicts_with = "changes")]
    follow: bool,

    /// End after this many changes [default: 40 on the mock server]
    #[arg(long, value_name = "N")]
    changes: Option<u64>,

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
    let limit = match flags.changes {
        None if flags.follow || !cluster.is_mock() => u64::MAX,
        changes => changes.unwrap_or(CHANGES),
    };

    // One watch and one cache with two indices.
    let total = count(cluster.client()).await?;
    let pods = InformerBuilder::<Pod>::typed()
        .index("app", by::label("app"))
        .index("phase", by_phase())
        .start(cluster.client())?;

    // Two handlers, each at its own pace. Both get the current objects first.
    let (tally, mut tallied) = watch::channel(Tally::default());
    let (print, mut printed) = watch::channel(Progress::default());
    pods.on(Count(tally))?;
    sync(&pods, total).await?;
    ask(&pods)?;
    line(styled(TITLE, "\nChanges"))?;
    pods.on(Print::new(limit, print))?;

    let mut steps = 0;
    let mut pace = tokio::time::interval(PACE);
    let mut over = pin!(printed.wait_for(|it| it.closed || it.shown >= limit));
    loop {
        tokio::select! {
            _ = pace.tick(), if cluster.is_mock() && steps < limit => {
                cluster.play(|server| busy.step(server))?;
                steps += 1;
            }
            _ = &mut over => break,
            _ = tokio::signal::ctrl_c() => break,
        }
    }
    if cluster.is_mock() {
        tallied.wait_for(|tally| tally.changes >= steps).await?;
    }
    sum_up(&pods, &tallied.borrow())?;
    Ok(())
}

/// Opens the cluster of the flags, or a busy mock server. The mock server pauses now and then while it
/// lists, so that you can see the progress.
async fn open(flags: &ClusterArgs, busy: &mut Busy) -> Result<Cluster, Box<dyn Error>> {
    if flags.is_given() {
        line(styled(TITLE, "Informer, following your cluster"))?;
        return Cluster::open(flags).await;
    }
    line(styled(TITLE, "Informer, following a mock API server"))?;
    let hint = "  (--context NAME uses your own cluster; --follow runs until Ctrl-C)";
    line(styled(FAINT, hint))?;
    let mut server = Server::new(ServerConfig::new(42));
    busy.fill(&mut server)?;
    let pause = |part| format!("after {} events delay 80ms\n", 50 * part);
    let mut http = HttpConfig::new();
    http.faults = (1..8).map(pause).collect::<String>().parse()?;
    Cluster::mock_with(server, http).await
}

/// A custom index: pods by phase.
fn by_phase() -> IndexFn<Object<Pod>> {
    IndexFn::plain(|pod: &Object<Pod>, file| file(pod.status.phase.as_bytes()))
}

/// Counts the pods. A page with one pod says how many others there are.
async fn count(client: &Client) -> Result<u64, Box<dyn Error>> {
    let path = format!("{}?limit=1", Pod::target().path());
    let page = client.get(&path).await;
    let page = page.map_err(|error| format!("cannot list pods: {error}"))?;
    let page: Value = serde_json::from_slice(&page)?;
    let others = page.pointer("/metadata/remainingItemCount");
    let listed = page.pointer("/items").and_then(Value::as_array);
    Ok(others.and_then(Value::as_u64).unwrap_or(0) + listed.map_or(0, |it| it.len() as u64))
}

/// Waits until the first state is in the cache. Shows a progress bar on a terminal.
async fn sync(pods: &SharedInformer<Pod>, total: u64) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let style = ProgressStyle::with_template("  {bar:40} {pos} of {len} pods")?;
    let bar = ProgressBar::new(total).with_style(style);
    let mut synced = pin!(pods.synced(Duration::from_secs(60)));
    let mut look = tokio::time::interval(Duration::from_millis(20));
    loop {
        tokio::select! {
            synced = &mut synced => break synced?,
            _ = look.tick() => {
                if let Phase::Streaming { items } | Phase::Listing { items, .. } = pods.status().phase {
                    bar.set_position(items.min(total));
                }
            }
        }
    }
    bar.finish_and_clear();
    let (len, seconds) = (pods.lister().len(), begun.elapsed().as_secs_f32());
    let took = styled(FAINT, format!("in {seconds:.2} s"));
    line(format!("  synced {} pods {took}", styled(ANSWER, len)))?;
    Ok(())
}

/// Queries the cache, without a request to the server.
fn ask(pods: &SharedInformer<Pod>) -> Result<(), Box<dyn Error>> {
    let lister = pods.lister();
    let answer = |question: String, answer: String| {
        let (question, answer) = (printable(&question), printable(&answer));
        line(format!("  {question:<48} {}", styled(ANSWER, answer)))
    };
    let count = |pods: Vec<Object<Pod>>| format!("{} pods", pods.len());

    line(styled(TITLE, "\nQueries of the cache"))?;
    for phase in ["Running", "Pending"] {
        let found = lister.by_index("phase", phase)?;
        answer(format!("by_index(\"phase\", \"{phase}\")"), count(found))?;
    }
    if let Some((app, _)) = apps(pods)?.first() {
        let found = lister.by_index("app", app)?;
        let first = found.first().map(|pod| pod.key().clone());
        answer(format!("by_index(\"app\", \"{app}\")"), count(found))?;
        if let Some(key) = first {
            let phase = lister.by_key(&key).map(|pod| pod.status.phase.clone());
            answer(format!("by_key({key})"), phase.unwrap_or_default())?;
            let others = format!("app!={app}");
            let selector = others.parse()?;
            let query = Query::new().namespace(key.namespace()).labels(&selector);
            let question = format!("select({others}, namespace {})", key.namespace());
            answer(question, count(lister.select(&query)))?;
        }
    }
    Ok(())
}

/// All apps with their number of pods, largest first.
fn apps(pods: &SharedInformer<Pod>) -> Result<Vec<(String, usize)>, Box<dyn Error>> {
    let store = pods.snapshot();
    let mut apps: Vec<_> = store
        .table("app")?
        .rows()
        .map(|(app, pods)| (String::from_utf8_lossy(app).into_owned(), pods.len()))
        .collect();
    apps.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(apps)
}

/// The first handler prints changes.
struct Print {
    begun: Instant,
    limit: u64,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct Progress {
    shown: u64,
    /// Whether the reader of the output is gone.
    closed: bool,
}

impl Print {
    fn new(limit: u64, progress: watch::Sender<Progress>) -> Self {
        Self {
            begun: Instant::now(),
            limit,
            progress,
        }
    }

    fn show(&self, what: String, key: &ObjectKey, details: &str) {
        let seconds = self.begun.elapsed().as_secs_f32();
        let time = styled(FAINT, format!("{seconds:>7.2} s"));
        self.progress.send_if_modified(|progress| {
            let goes_on = progress.shown < self.limit && !progress.closed;
            if goes_on {
                let [key, details] = [key.as_str(), details].map(printable);
                let printed = line(format!("{time}  {what}  {key:<20} {details}"));
                progress.closed = printed.is_err();
                progress.shown += 1;
            }
            goes_on
        });
    }
}

impl Handler<Pod> for Print {
    fn added(&mut self, pod: &Object<Pod>, how: Added) {
        if !how.initial {
            self.show(styled(ADDED, "+ added  "), pod.key(), &pod.status.phase);
        }
    }

    fn updated(&mut self, old: &Object<Pod>, new: &Object<Pod>, _: Cause) {
        let (before, now) = (&old.status.phase, &new.status.phase);
        let details = if before == now {
            format!("{now}, version {}", new.version())
        } else {
            format!("{before} → {now}")
        };
        self.show(styled(UPDATED, "~ updated"), new.key(), &details);
    }

    fn deleted(&mut self, key: &ObjectKey, last: Option<&Object<Pod>>, _: Deleted) {
        let phase = last.map_or("", |pod| &pod.status.phase);
        self.show(styled(DELETED, "- deleted"), key, &format!("was {phase}"));
    }
}

/// The second handler counts changes by app.
struct Count(watch::Sender<Tally>);

#[derive(Default)]
struct Tally {
    changes: u64,
    apps: BTreeMap<String, Row>,
}

#[derive(Default)]
struct Row {
    added: u64,
    updated: u64,
    deleted: u64,
}

impl Count {
    fn count(&self, pod: Option<&Object<Pod>>, one_more: impl FnOnce(&mut Row)) {
        let app = pod.and_then(|pod| pod.labels().get("app")).unwrap_or("-");
        self.0.send_modify(|tally| {
            tally.changes += 1;
            one_more(tally.apps.entry(app.to_owned()).or_default());
        });
    }
}

impl Handler<Pod> for Count {
    fn added(&mut self, pod: &Object<Pod>, how: Added) {
        if !how.initial {
            self.count(Some(pod), |row| row.added += 1);
        }
    }

    fn updated(&mut self, _: &Object<Pod>, new: &Object<Pod>, _: Cause) {
        self.count(Some(new), |row| row.updated += 1);
    }

    fn deleted(&mut self, _: &ObjectKey, last: Option<&Object<Pod>>, _: Deleted) {
        self.count(last, |row| row.deleted += 1);
    }
}

/// Prints the counted changes and the status of the informer.
fn sum_up(pods: &SharedInformer<Pod>, tally: &Tally) -> Result<(), Box<dyn Error>> {
    line(styled(TITLE, "\nSummary"))?;
    let titles = format!(
        "  {:<16}{:>6}{:>8}{:>9}{:>9}",
        "app", "pods", "added", "updated", "deleted"
    );
    line(styled(FAINT, titles))?;
    for (app, len) in apps(pods)?.into_iter().take(10) {
        let none = Row::default();
        let Row {
            added,
            updated,
            deleted,
        } = tally.apps.get(&app).unwrap_or(&none);
        let app = printable(&app);
        line(format!(
            "  {app:<16}{len:>6}{added:>8}{updated:>9}{deleted:>9}"
        ))?;
    }
    let status = pods.status();
    line(format!(
        "  The cache has {} pods at version {}. The server has sent {} objects in total.",
        status.objects,
        status.version.as_deref().unwrap_or("–"),
        status.counts.objects
    ))?;
    Ok(())
}
