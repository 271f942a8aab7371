//! Writes of single objects.

use informer_e2e::Outcome;
use informer_e2e::writes::writes;

use super::World;

pub(super) async fn objects_are_written(world: &World) -> Outcome {
    world.namespace("objects").await?;
    writes(&world.client("admin").await?, "objects").await
}
