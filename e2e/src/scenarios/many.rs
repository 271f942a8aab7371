//! Many informers, one client.

use informer::{InformerBuilder, Target};
use informer_e2e::Outcome;
use informer_e2e::api::version;
use informer_e2e::follower::Follower;
use serde_json::json;

use crate::clients::CONNECTIONS;

use super::{LONG, World, impatient, pod, pods_in, pods_path, touch};

const WATCHES: usize = 200;

pub(super) async fn two_hundred_watches(world: &mut World) -> Outcome {
    world.namespace("watches").await?;
    let target = || Target::new("", "v1", "configmaps").in_namespace("watches");
    let path = target().path();
    for number in 0..WATCHES {
        let labels = json!({"shard": number.to_string()});
        let object = json!({"metadata": {"name": format!("shard-{number}"), "labels": labels}});
        world.api.create(&path, &object).await?;
    }
    let proxy = world.proxy().await?;
    let client = world.client_through(&proxy, "admin").await?;
    let followers = (0..WATCHES).map(|number| {
        let builder = InformerBuilder::lean_at(target())
            .labels(format_args!("shard={number}"))
            .preset(impatient());
        Follower::start(builder, &client)
    });
    let followers = followers.collect::<Outcome<Vec<_>>>()?;
    for follower in &followers {
        follower.informer.synced(LONG).await?;
    }
    if proxy.open() > CONNECTIONS {
        return Err(format!("{} connections for {WATCHES} watches", proxy.open()).into());
    }
    for (number, follower) in followers.iter().enumerate() {
        let object = format!("{path}/shard-{number}");
        let touched = world.api.patch(&object, &touch(number)).await?;
        follower.informer.reached(version(&touched)?, LONG).await?;
    }
    for follower in &followers {
        follower.equals(&world.api, LONG).await?;
        follower.undisturbed()?;
        if follower.informer.snapshot().len() != 1 {
            return Err("a watch has the objects of another".into());
        }
    }
    let connections = proxy.open();
    let text = format!("{WATCHES} watches over {connections} connections");
    world.report.note(text);
    Ok(())
}

/// After waiting for the version of a write, the store has it.
pub(super) async fn read_your_writes(world: &World) -> Outcome {
    world.namespace("writes").await?;
    let path = pods_path("writes");
    let follower = Follower::start(pods_in("writes"), &world.client("admin").await?)?;
    for number in 0..50 {
        let name = format!("pod-{number}");
        let key = format!("writes/{name}").parse()?;
        let created = world.api.create(&path, &pod(&name)).await?;
        let touched = world
            .api
            .patch(&format!("{path}/{name}"), &touch(number))
            .await?;
        for (written, newest) in [(created, &touched), (touched.clone(), &touched)] {
            let store = follower.informer.reached(version(&written)?, LONG).await?;
            let kept = store.get(&key).ok_or("the written object is missing")?;
            if ![version(&written)?, version(newest)?].contains(&kept.version()) {
                return Err(format!(
                    "{name} is at {}, a version that was never written",
                    kept.version()
                )
                .into());
            }
        }
    }
    follower.equals(&world.api, LONG).await?;
    follower.undisturbed()
}
