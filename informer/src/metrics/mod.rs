//! Metrics of informers, controllers, elections and clients, in the OpenMetrics format.
//!
//! Nothing is recorded in a registry: each scrape reads the status of what there is. So what was dropped is
//! no longer exported, and an event costs the same with and without metrics, except for histograms, which run
//! from the first [`Metrics::add`] on.

// How series are written.
mod write;

// Of informers, reflectors and handlers.
mod informers;

// Of controllers, their queues and elections.
mod controllers;

// Of clients.
#[cfg(feature = "hyper")]
mod clients;

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::registry::Registry;

use crate::inspect::{Inspect, Inventory};

/// Metrics of all that was added: informers, factories, controllers, elections and clients.
///
/// It is a [`Collector`] of the crate `prometheus-client`, so you can register it in a registry of your own.
/// [`text`](Self::text) gives the metrics by themselves. Clones are cheap and refer to the same metrics.
///
/// ```
/// use informer::prometheus_client::registry::Registry;
/// use informer::{InformerBuilder, Metrics, Target};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # server.with(|server| server.create("pods", serde_json::json!({"metadata": {"name": "a"}})))?;
///
/// // `server` is a mock API server with one pod.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
/// let metrics = Metrics::new();
/// metrics.add(&pods);
/// pods.synced(std::time::Duration::from_secs(30)).await?;
/// assert!(metrics.text().contains("informer_objects{informer=\"pods.v1\"} 1\n"));
///
/// // In a registry with metrics of your own:
/// let mut registry = Registry::default();
/// registry.register_collector(Box::new(metrics.clone()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Metrics {
    inventory: Arc<Inventory>,
}

impl Metrics {
    /// Metrics of nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Metrics of all that is in this inventory.
    #[cfg(feature = "ops")]
    pub(crate) const fn over(inventory: Arc<Inventory>) -> Self {
        Self { inventory }
    }

    /// Adds something to look at. It is not kept alive, and nothing is there twice.
    ///
    /// Histograms begin here, or for what is made later, as the informers of a factory, at the next scrape.
    pub fn add(&self, what: &(impl Inspect + ?Sized)) {
        self.inventory.add(what);
        let parts = self.inventory.parts();
        parts
            .informers
            .iter()
            .for_each(|it| drop(it.part.measure()));
        parts
            .controllers
            .iter()
            .for_each(|it| drop(it.part.measure()));
    }

    /// The metrics as OpenMetrics text, of the content type
    /// `application/openmetrics-text; version=1.0.0; charset=utf-8`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self.clone()));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let parts = self.inventory.parts();
        informers::write(&parts.informers, &mut encoder)?;
        controllers::write(&parts.controllers, &mut encoder)?;
        controllers::write_elections(&parts.elections, &mut encoder)?;
        #[cfg(feature = "hyper")]
        clients::write(&parts.clients, &mut encoder)?;
        Ok(())
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
