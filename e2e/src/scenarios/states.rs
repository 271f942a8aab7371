//! Large states, read in every way.

use std::time::Instant;

use informer::{FirstState, InformerBuilder, LeanBody, Target};
use informer_e2e::Outcome;
use informer_e2e::follower::Follower;

use super::{LONG, MANY, World, impatient};

fn many_pods(first_state: FirstState) -> InformerBuilder<LeanBody> {
    let mut config = impatient();
    config.reflector.first_state = first_state;
    InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .namespace(MANY)
        .preset(config)
}

/// As a list and as a stream, with and without gzip.
pub(super) async fn states_in_every_way(world: &mut World) -> Outcome {
    let count = world.many().await?;
    for (first_state, user) in [
        (FirstState::Listed, "admin"),
        (FirstState::Listed, "uncompressed"),
        (FirstState::Streamed, "admin"),
        (FirstState::Streamed, "uncompressed"),
    ] {
        let proxy = world.proxy().await?;
        let client = world.client_through(&proxy, user).await?;
        let began = Instant::now();
        let follower = Follower::start(many_pods(first_state), &client)?;
        follower.informer.synced(LONG).await?;
        let (took, received) = (began.elapsed(), proxy.received());
        follower.equals(&world.api, LONG).await?;
        follower.undisturbed()?;
        let status = follower.informer.status();
        if status.objects != count {
            return Err(format!("{} objects of {count}", status.objects).into());
        }
        // This server never compresses watches, and compresses lists if the client accepts it.
        let is_compressed = first_state == FirstState::Listed && user == "admin";
        if is_compressed != (received < status.counts.bytes / 2) {
            let bytes = status.counts.bytes;
            return Err(format!("{first_state:?}, {user}: {received} for {bytes} bytes").into());
        }
        world.report.note(format!(
            "{count} pods, {first_state:?}, {user}: {:.2} s, {received} bytes on the wire for {}",
            took.as_secs_f64(),
            status.counts.bytes
        ));
    }
    Ok(())
}

/// A list from the watch cache comes in one piece. The first one is cut, and the next one asks for
/// the newest state, which comes in pages.
pub(super) async fn pages(world: &mut World) -> Outcome {
    let count = world.many().await?;
    let proxy = world.proxy().await?;
    let client = world.client_through(&proxy, "uncompressed").await?;
    let lists = world.api.requests("LIST", "pods").await?;
    proxy.cut_after(200_000);
    let follower = Follower::start(many_pods(FirstState::Listed).page_size(200), &client)?;
    follower.informer.synced(LONG).await?;
    if proxy.is_cut_pending() {
        return Err("the first list was not cut".into());
    }
    let asked = world.api.requests("LIST", "pods").await? - lists;
    let pages = count.div_ceil(200) as u64;
    if asked < pages {
        return Err(format!("{asked} lists were requested instead of {pages} pages").into());
    }
    follower.equals(&world.api, LONG).await?;
    follower.told_once()?;
    if follower.relists() != 0 {
        return Err(format!("{} relists", follower.relists()).into());
    }
    let text = format!("{count} pods, after a cut, in pages of 200: {asked} lists");
    world.report.note(text);
    Ok(())
}
