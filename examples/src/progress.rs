//! The progress of the first state.

use std::error::Error;
use std::pin::pin;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use informer::{Client, Kind, Phase, SharedInformer};
use serde_json::Value;
use tokio::time::interval;

/// Counts the objects on the server. A page with one object says how many others there are.
///
/// # Errors
/// They cannot be listed.
pub async fn count<K: Kind>(client: &Client) -> Result<u64, Box<dyn Error>> {
    let target = K::target();
    let page = client.get(&format!("{}?limit=1", target.path())).await;
    let page = page.map_err(|error| format!("cannot list {}: {error}", target.plural))?;
    let page: Value = serde_json::from_slice(&page)?;
    let others = page.pointer("/metadata/remainingItemCount");
    let listed = page.pointer("/items").and_then(Value::as_array);
    Ok(others.and_then(Value::as_u64).unwrap_or(0) + listed.map_or(0, |it| it.len() as u64))
}

/// Waits until the first state is in the cache, and returns how long that took. Shows a progress bar on a
/// terminal.
///
/// # Errors
/// The informer cannot read the first state.
pub async fn sync<K: Send + Sync + 'static>(
    informer: &SharedInformer<K>,
    total: u64,
) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    let style = ProgressStyle::with_template("  {bar:40} {pos} of {len}")?;
    let bar = ProgressBar::new(total).with_style(style);
    let mut synced = pin!(informer.synced(Duration::from_secs(60)));
    let mut look = interval(Duration::from_millis(20));
    loop {
        tokio::select! {
            synced = &mut synced => break synced?,
            _ = look.tick() => {
                let phase = informer.status().phase;
                if let Phase::Streaming { items } | Phase::Listing { items, .. } = phase {
                    bar.set_position(items.min(total));
                }
            }
        }
    }
    bar.finish_and_clear();
    Ok(begun.elapsed())
}
