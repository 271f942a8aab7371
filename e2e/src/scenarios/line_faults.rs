//! Faults of the line to the server. If the fault stays, the time counts from the last write.

use std::time::{Duration, Instant};

use informer_e2e::Outcome;
use informer_e2e::follower::Follower;
use informer_e2e::proxy::Line;

use super::subject::{Subject, watchful, watchful_client};
use super::{LONG, World, pods_in, until};

pub(super) async fn cuts(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "cuts").await?;
    for _ in 0..5 {
        subject.change(world).await?;
        subject.proxy.cut();
    }
    // Once more for longer, during many changes.
    subject.proxy.set(Line::Down);
    subject.change(world).await?;
    subject.proxy.set(Line::Good);
    let ended = Instant::now();
    world
        .judge(
            "five cuts, and the line down for a while",
            ended,
            &subject.follower,
        )
        .await
}

pub(super) async fn late_line(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "late").await?;
    subject.proxy.set(Line::Late(Duration::from_millis(400)));
    for _ in 0..3 {
        subject.change(world).await?;
    }
    let ended = Instant::now();
    world
        .judge("everything 400 ms late", ended, &subject.follower)
        .await
}

/// Changes arrive at 10 kB/s, and so does a whole state.
pub(super) async fn slow_line(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "slow").await?;
    subject.proxy.set(Line::Slow(10_000));
    for _ in 0..3 {
        subject.change(world).await?;
    }
    let ended = Instant::now();
    world
        .judge("10 kB/s, in a watch", ended, &subject.follower)
        .await?;
    let client = watchful_client(world, &subject.proxy).await?;
    let started = Instant::now();
    let late = Follower::start(pods_in("slow").preset(watchful()), &client)?;
    late.informer.synced(LONG).await?;
    world.judge("10 kB/s, from the start", started, &late).await
}

/// Connections stay open, and nothing arrives.
pub(super) async fn silent_line(world: &mut World) -> Outcome {
    let mut subject = Subject::watching(world, "silent").await?;
    subject.proxy.set(Line::Silent);
    subject.change(world).await?;
    until("the silence is noticed", async || {
        !subject.follower.failures().is_empty()
    })
    .await?;
    subject.change(world).await?;
    subject.proxy.set(Line::Good);
    let ended = Instant::now();
    world
        .judge(
            "a black hole, until it is noticed",
            ended,
            &subject.follower,
        )
        .await
}
