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
const WRITERS: u64 = 25;
const PER_SECOND: u64 = 500;
const NAMES: u64 = 20;

pub(super) async fn churn(world: &mut World) -> Outcome {
    world.namespace(NAMESPACE).await?;
    let client = world.client("admin")?;
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
    let metadata = InformerBuilder::metadata(Target::new("", "v1", "pods")).namespace(NAMESPACE);
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
    let mut writes = 0;
    while let Some(written) = writers.join_next().await {
        writes += written??;
    }
    let rate = writes as f64 / began.elapsed().as_secs_f64();

    for follower in [&streamed, &in_order, &as_client_go] {
        let after = follower.equals(&world.api, LONG).await?;
        follower.undisturbed()?;
        // Every write is an event, and nobody has merged any.
        let told = follower.audit.told().count;
        if told != writes {
            return Err(format!("{told} notifications of {writes} writes").into());
        }
        world.report.note(format!(
            "churn: {writes} writes, {rate:.0}/s by {WRITERS} writers; equal after {:.2} s",
            after.as_secs_f64()
        ));
    }
    metadata.equals(&world.api, LONG).await?;
    metadata.undisturbed()
}

/// Writes for so long, each object its own way, and says how many writes there were.
async fn write(api: Arc<Api>, writer: u64, length: Duration) -> Outcome<u64> {
    let mut random = writer + 1;
    let mut exists = [false; NAMES as usize];
    let mut writes = 0;
    let mut pace = interval(Duration::from_secs(WRITERS) / u32::try_from(PER_SECOND)?);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let began = Instant::now();
    while began.elapsed() < length {
        pace.tick().await;
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (number, choice) = ((random >> 33) % NAMES, (random >> 48) % 10);
        let name = format!("pod-{writer}-{number}");
        let path = pods_path(NAMESPACE);
        let Some(exists) = exists.get_mut(usize::try_from(number)?) else {
            continue;
        };
        match choice {
            _ if !*exists => {
                api.create(&path, &pod(&name)).await?;
                *exists = true;
            }
            0..7 => {
                api.patch(&format!("{path}/{name}"), &touch(writes as usize))
                    .await?;
            }
            7 | 8 => {
                api.delete(&format!("{path}/{name}")).await?;
                *exists = false;
            }
            _ => {
                api.delete(&format!("{path}/{name}")).await?;
                api.create(&path, &pod(&name)).await?;
                writes += 1;
            }
        }
        writes += 1;
    }
    Ok(writes)
}
