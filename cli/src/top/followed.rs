//! Informers that follow the resources.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use informer::{Client, InformerBuilder, MetadataBody, Notification, SharedInformer, Target};
use tokio::time::timeout;

use super::Flags;
use super::history::History;
use crate::settle::settle;

/// A resource with its informer.
pub(crate) struct Followed {
    /// As kubectl writes it: `pods`, `deployments.apps`.
    pub(crate) name: String,
    pub(crate) informer: SharedInformer<MetadataBody>,
    /// `None` until a sample was taken.
    pub(crate) history: Option<History>,
    /// Changes, without the initial state: it would dwarf all that comes later.
    changes: Arc<AtomicU64>,
}

impl Followed {
    /// Starts an informer for each resource of the command line.
    pub(crate) async fn all(flags: &Flags, client: &Client) -> Result<Vec<Self>, Box<dyn Error>> {
        let mut all = Vec::new();
        for resource in &flags.resources {
            let target = flags.scope.target(resource, client).await?;
            all.push(Self::start(target, client)?);
        }
        Ok(all)
    }

    fn start(target: Target, client: &Client) -> Result<Self, Box<dyn Error>> {
        let name = match target.group.as_str() {
            "" => target.plural.clone(),
            group => format!("{}.{group}", target.plural),
        };
        let informer = InformerBuilder::metadata_at(target).start(client)?;
        let changes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&changes);
        informer.on(move |notification| {
            if !matches!(notification, Notification::Added { initial: true, .. }) {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        Ok(Self {
            name,
            informer,
            history: None,
            changes,
        })
    }

    /// Takes a sample of the changes, that long after the last one.
    pub(crate) fn sample(&mut self, since: Duration) {
        let total = self.changes.load(Ordering::Relaxed);
        self.history.get_or_insert_default().record(total, since);
    }
}

/// Waits until all have settled, but not longer than this.
pub(crate) async fn settled(all: &[Followed], patience: Duration) {
    let settled = async {
        for followed in all {
            settle(&followed.informer).await;
        }
    };
    // What has not settled by then is shown as it is.
    let _ = timeout(patience, settled).await;
}
