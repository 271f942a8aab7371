//! Many writers, and nothing lost: create, update, delete and re-create.

use std::sync::Arc;
use std::time::{Duration, Instant};

use informer::{Backlog, FirstState, InformerBuilder, InformerConfig, QueueKind, Target};
use informer_e2e::Outcome;
use informer_e2e::api::Api;
use informer_e2e::follower::Follower;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::{LONG, World, pod, pods_in, pods_path, touch};

const NAMESPACE: &str = "churn";
const WRITERS: u64 = 50;
const PER_SECOND: u32 = 500;
const NAMES: usize = 10;

pub(super) async fn churn(world: &mut World) -> Outcome {
    world.namespace(NAMESPACE).await?;
    let client = world.client("admin").await?;
    let all_states = |builder: InformerBuilder<_>| builder.backlog(Backlog::Grow);
    let streamed = Follower::start(all_states(pods_in(NAMESPACE)), &client)?;
    let mut config = super::impatient();
    config.reflector.first_state = FirstState::Listed;
    config.queue = QueueKind::InOrder;
    let in_order = all_states(pods_in(NAMESPACE).preset(config));
    let in_order = Follower::start(in_order, &client)?;
    let as_client_go = InformerConfig::client_go(QueueKind::DeltaFifo);
    let as_client_go = all_states(pods_in(NAMESPACE).preset(as_client_go));
    let as_client_go = Follower::start(as_client_go, &client)?;
    let metadata = InformerBuilder::metadata_at(Target::new("", "v1", "pods")).namespace(NAMESPACE);
    let metadata = Follower::start(metadata, &client)?;
    for informer in [&streamed, &in_order, &as_client_go] {
        informer.informer.synced(LONG).await?;
    }
    metadata.informer.synced(LONG).await?;

    let began = Instant::now();
    let length = Duration::from_secs(world.quick_or(5, 30));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(Arc::clone(&world.api), writer, length));
    }
    let mut all = Tally::default();
    while let Some(tally) = writers.join_next().await {
        let Tally { writes, events } = tally??;
        all.writes += writes;
        all.events += events;
    }
    let Tally { writes, events } = all;
    let rate = writes as f64 / began.elapsed().as_secs_f64();

    world.report.note(format!(
        "churn: {writes} writes, {events} events, {rate:.0} writes/s by {WRITERS} writers"
    ));
    for (name, follower) in [
        ("streamed", &streamed),
        ("in order", &in_order),
        ("as client-go", &as_client_go),
    ] {
        let after = follower.equals(&world.api, LONG).await?;
        follower.undisturbed()?;
        // Every event is reported, and none are merged.
        let told = follower.audit.told();
        if told != events {
            return Err(format!("{told} notifications of {events} events").into());
        }
        let text = format!("churn, {name}: equal after {:.2} s", after.as_secs_f64());
        world.report.note(text);
    }
    metadata.equals(&world.api, LONG).await?;
    metadata.undisturbed()
}

#[derive(Clone, Copy, Default)]
struct Tally {
    writes: usize,
    events: usize,
}

/// Writes for a while, each object in its own way. A pod is deleted in two events: it is marked,
/// then it is gone.
async fn write(api: Arc<Api>, writer: u64, length: Duration) -> Outcome<Tally> {
    let mut random = writer + 1;
    let mut exists = [false; NAMES];
    let mut tally = Tally::default();
    let mut pace = interval(Duration::from_secs(WRITERS) / PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let pods = pods_path(NAMESPACE);
    let began = Instant::now();
    while began.elapsed() < length {
        pace.tick().await;
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (number, choice) = ((random >> 33) as usize % NAMES, (random >> 48) % 10);
        let name = format!("pod-{writer}-{number}");
        let path = format!("{pods}/{name}");
        let Some(exists) = exists.get_mut(number) else {
            continue;
        };
        tally.writes += 1;
        match choice {
            0..7 if *exists => {
                api.patch(&path, &touch(tally.writes)).await?;
                tally.events += 1;
            }
            _ if *exists => {
                api.delete(&path).await?;
                tally.events += 2;
                *exists = false;
            }
            _ => {
                api.create(&pods, &pod(&name)).await?;
                tally.events += 1;
                *exists = true;
            }
        }
    }
    Ok(tally)
}
