//! Faults of the server.

use std::time::{Duration, Instant};

use informer::{FirstState, InformerBuilder, Phase, Target};
use informer_e2e::Outcome;
use informer_e2e::follower::{Comparable, Follower};
use informer_e2e::proxy::Line;

use super::subject::{IDLE, Subject, watchful, watchful_client};
use super::{LONG, MANY, World, until};

pub(super) async fn kill_while_watching(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "killed").await?;
    world.cluster.tell("kill-apiserver").await?;
    world.cluster.tell("start-apiserver").await?;
    let ended = Instant::now();
    subject.change(world).await?;
    let fault = "kill -9 while watching, restart";
    world.judge(fault, ended, &subject.follower).await
}

/// The server comes back and has changed before the informer can see it.
pub(super) async fn kill_and_change_unseen(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "unseen").await?;
    world.cluster.tell("kill-apiserver").await?;
    subject.proxy.set(Line::Down);
    world.cluster.tell("start-apiserver").await?;
    subject.change(world).await?;
    subject.proxy.set(Line::Good);
    let fault = "kill -9, restart, unseen changes";
    world.judge(fault, Instant::now(), &subject.follower).await
}

pub(super) async fn kill_while_listing(world: &mut World) -> Outcome {
    kill_during(world, FirstState::Listed, "kill -9 while listing, restart").await
}

pub(super) async fn kill_while_streaming(world: &mut World) -> Outcome {
    kill_during(
        world,
        FirstState::Streamed,
        "kill -9 while streaming, restart",
    )
    .await
}

/// The line is slow until the server is dead, so that it dies in the middle of the state.
async fn kill_during(world: &mut World, first_state: FirstState, fault: &str) -> Outcome {
    let count = world.many().await?;
    let proxy = world.proxy().await?;
    proxy.set(Line::Slow(100_000));
    let client = watchful_client(world, &proxy).await?;
    let mut config = watchful();
    config.reflector.first_state = first_state;
    let target = Target::new("", "v1", "pods").in_namespace(MANY);
    let follower = Follower::start(InformerBuilder::lean_at(target).preset(config), &client)?;
    let in_the_middle = async || match follower.informer.status().phase {
        Phase::Listing { items, .. } | Phase::Streaming { items } => items > 0,
        _ => false,
    };
    until("it is reading the state", in_the_middle).await?;
    world.cluster.tell("kill-apiserver").await?;
    if follower.informer.is_synced() {
        return Err("the state was read before the server died".into());
    }
    // A whole state may fit into the buffers of the sockets on the way.
    proxy.cut();
    proxy.set(Line::Good);
    world.cluster.tell("start-apiserver").await?;
    let ended = Instant::now();
    follower.informer.synced(LONG).await?;
    let objects = follower.informer.snapshot().len();
    if objects != count {
        return Err(format!("synced with {objects} objects of {count}").into());
    }
    world.judge(fault, ended, &follower).await
}

pub(super) async fn restart_etcd(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "etcd").await?;
    world.cluster.tell("restart-etcd").await?;
    // The API server needs a moment to find etcd again.
    until("a write succeeds", async || {
        world
            .api
            .patch("/api/v1/namespaces/etcd", &super::touch(1))
            .await
            .is_ok()
    })
    .await?;
    let ended = Instant::now();
    subject.change(world).await?;
    world
        .judge("etcd killed and restarted", ended, &subject.follower)
        .await
}

/// Objects change while nothing watches, and the server forgets the changes.
pub(super) async fn versions_compacted(world: &mut World) -> Outcome {
    let subject = Subject::watching(world, "compacted").await?;
    forgets(world, subject).await
}

/// The subject has to relist, once.
pub(super) async fn forgets<K: Comparable>(world: &mut World, mut subject: Subject<K>) -> Outcome {
    subject.proxy.set(Line::Down);
    subject.change(world).await?;
    world.cluster.tell("compact").await?;
    world.cluster.tell("kill-apiserver").await?;
    world.cluster.tell("start-apiserver").await?;
    subject.proxy.set(Line::Good);
    let ended = Instant::now();
    world
        .judge(
            "versions compacted, server restarted",
            ended,
            &subject.follower,
        )
        .await?;
    match subject.follower.relists() {
        1 => Ok(()),
        relists => Err(format!("{relists} relists instead of one").into()),
    }
}

/// A peer that stays connected and silent for longer than every timeout.
pub(super) async fn stopped_and_continued(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "stopped").await?;
    world.cluster.tell("stop-apiserver").await?;
    tokio::time::sleep(IDLE * 3 + Duration::from_secs(1)).await;
    let failures = subject.follower.failures().len();
    world.cluster.tell("cont-apiserver").await?;
    let ended = Instant::now();
    if failures == 0 {
        return Err("the informer did not notice the silence".into());
    }
    subject.change(world).await?;
    world
        .judge(
            "SIGSTOP for three idle deadlines, SIGCONT",
            ended,
            &subject.follower,
        )
        .await
}
