//! Our electors and those of client-go contend for one Lease, with kills and pauses.

// One replica of ours, as a process.
mod replica;

// Processes that are killed, paused and asked to end.
mod contender;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use informer_e2e::api::Watch;
use informer_e2e::tenure::{Held, in_turn, rightly, usurped};
use informer_e2e::{Outcome, Random};
use tokio::time::sleep;

use super::World;
use contender::{Contender, Kind};

pub(crate) use replica::run as replica;

const NAMESPACE: &str = "elections";
const LEASE: &str = "contended";
/// The times of all replicas; see also `e2e/interop/client-go/elector`.
const LEASE_DURATION: Duration = Duration::from_secs(4);
const RENEW_DEADLINE: Duration = Duration::from_secs(3);
const RETRY_PERIOD: Duration = Duration::from_millis(500);
const SEED: u64 = 20;

type History = Arc<Mutex<Vec<Held>>>;

fn now() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Notes every state of the Lease.
async fn record(mut watch: Watch, history: History) -> Outcome {
    while let Some(event) = watch.next().await? {
        let seen = now();
        let lease = event.get("object").ok_or("an event without an object")?;
        let held = Held::read(lease, seen)?;
        let mut history = history.lock().unwrap_or_else(PoisonError::into_inner);
        history.push(held);
    }
    Err("the watch has ended".into())
}

/// Two of each kind, and what was done to them.
struct Contest {
    kubeconfig: String,
    random: Random,
    contenders: Vec<Contender>,
    /// Those that have ended.
    past: Vec<Contender>,
    started: usize,
    history: History,
    killed: usize,
    paused: usize,
    retired: usize,
}

impl Contest {
    fn held(&self) -> Vec<Held> {
        let history = self.history.lock();
        history.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether replicas of this kind have held the Lease.
    fn has_led(&self, kind: Kind) -> bool {
        let history = self.held();
        history.iter().any(|held| kind.has_named(&held.holder))
    }

    fn start(&mut self, kind: Kind) -> Outcome<Contender> {
        self.started += 1;
        Contender::start(kind, self.started, &self.kubeconfig)
    }

    /// A new process in this place.
    fn replace(&mut self, at: usize) -> Outcome {
        let Some(kind) = self.contenders.get(at).map(Contender::kind) else {
            return Ok(());
        };
        let new = self.start(kind)?;
        if let Some(place) = self.contenders.get_mut(at) {
            self.past.push(std::mem::replace(place, new));
        }
        Ok(())
    }

    /// Does something to the holder, or to any one.
    async fn disturb(&mut self) -> Outcome {
        let holder = self.held().pop().map(|held| held.holder);
        let is_holder = |one: &Contender| Some(one.name()) == holder.as_deref();
        let any = self.random.below(self.contenders.len() as u64) as usize;
        let at = match self.random.below(5) {
            0 => any,
            _ => self.contenders.iter().position(is_holder).unwrap_or(any),
        };
        // Mostly longer than the deadline.
        let pause = Duration::from_millis(2_000 + self.random.below(5_000));
        let deed = self.random.below(3);
        let Some(chosen) = self.contenders.get_mut(at) else {
            return Ok(());
        };
        match deed {
            0 => {
                self.killed += 1;
                chosen.kill().await?;
                self.replace(at)
            }
            1 => {
                self.paused += 1;
                chosen.signal("STOP").await?;
                sleep(pause).await;
                chosen.signal("CONT").await
            }
            _ => {
                self.retired += 1;
                chosen.retire().await?;
                self.replace(at)
            }
        }
    }
}

/// Each holder's time ends before the next begins, and our guards say no in time.
pub(super) async fn elections(world: &mut World) -> Outcome {
    world.namespace(NAMESPACE).await?;
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases");
    let history = History::default();
    let watch = world.api.watch(&path).await?;
    let recorder = tokio::spawn(record(watch, Arc::clone(&history)));
    let mut contest = Contest {
        kubeconfig: world.cluster.kubeconfig().display().to_string(),
        random: Random::new(SEED),
        contenders: Vec::new(),
        past: Vec::new(),
        started: 0,
        history,
        killed: 0,
        paused: 0,
        retired: 0,
    };
    for kind in [Kind::Ours, Kind::ClientGo, Kind::Ours, Kind::ClientGo] {
        let one = contest.start(kind)?;
        contest.contenders.push(one);
    }
    let length = Duration::from_secs(world.quick_or(40, 120));
    let began = Instant::now();
    let both = |contest: &Contest| contest.has_led(Kind::Ours) && contest.has_led(Kind::ClientGo);
    while began.elapsed() < length || (began.elapsed() < 3 * length && !both(&contest)) {
        let pause = 1_000 + contest.random.below(2_500);
        sleep(Duration::from_millis(pause)).await;
        contest.disturb().await?;
        if recorder.is_finished() {
            return recorder.await?;
        }
    }
    for contender in &mut contest.contenders {
        contender.retire().await?;
    }
    let took = began.elapsed();
    let last = world.api.get(&format!("{path}/{LEASE}")).await?;
    let last = Held::read(&last, 0)?.renewed;
    super::until("the last write was seen", async || {
        contest.held().iter().any(|held| held.renewed == last)
    })
    .await?;
    recorder.abort();
    let both = both(&contest);
    judge(world, contest, took).await?;
    match both {
        true => Ok(()),
        false => Err("only one kind of elector has led".into()),
    }
}

async fn judge(world: &mut World, contest: Contest, took: Duration) -> Outcome {
    let history = contest.held();
    let turns = in_turn(&history)?;
    let mut latest = Duration::ZERO;
    let mut said_yes = 0;
    let Contest {
        killed,
        paused,
        retired,
        ..
    } = contest;
    for contender in contest.contenders.into_iter().chain(contest.past) {
        for said in contender.said().await? {
            said_yes += 1;
            latest = latest.max(rightly(&said, &history, RENEW_DEADLINE)?);
        }
    }
    if said_yes == 0 {
        return Err("our guards never said yes".into());
    }
    let (seconds, writes) = (took.as_secs(), history.len());
    let (changes, early, usurped) = (turns.changes, turns.early, usurped(&history));
    world.report.note(format!(
        "elections: {changes} changes of the holder and {writes} writes in {seconds} s; {killed} killed, \
         {paused} paused, {retired} retired; our guards said yes {said_yes} times, at most {latest:.3?} after a \
         renewal; client-go gave up what another one held {usurped} times, and began up to {early:.3?} early"
    ));
    Ok(())
}
