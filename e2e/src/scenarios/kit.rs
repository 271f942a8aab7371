//! What controllers write: finalizers and events.

use informer::ObjectKey;
use informer::events::{Recorder, Reference};
use informer_e2e::{Outcome, kit};

use super::{LONG, World};

pub(super) async fn finalizers(world: &World) -> Outcome {
    world.namespace("finalizers").await?;
    kit::finalizers(&world.client("admin").await?, "finalizers").await
}

/// Also without the right to write them.
pub(super) async fn events(world: &World) -> Outcome {
    world.namespace("events").await?;
    kit::events(&world.client("admin").await?, "events").await?;
    let recorder = Recorder::new(&world.client("nobody").await?, "example.com/nobody")?;
    let pod = Reference::new("v1", "Pod", &ObjectKey::new("events", "shop"));
    recorder.normal(pod, "Scaled", "Scale", "");
    recorder.stop(LONG).await?;
    match recorder.counts().failed {
        1 => Ok(()),
        failed => Err(format!("{failed} events have failed instead of 1").into()),
    }
}
