//! Follows and prints.

use std::error::Error;
use std::future::ready;
use std::io;

use informer::ops::{self, Ops, OpsError};
use informer::{
    Client, InformerBuilder, Inspect, Notification, Notifications, Object, SharedInformer, Status,
};

use super::line::Line;
use super::output::Output;
use crate::screen::printable;
use crate::stop::Stop;
use crate::words;

/// Follows until `stop` is ready, and then prints the cache.
pub(crate) async fn follow<K: Send + Sync + 'static>(
    builder: InformerBuilder<K>,
    client: &Client,
    inspect: Option<&str>,
    output: &mut Output,
    stop: &mut Stop,
) -> Result<(), Box<dyn Error>> {
    let informer = builder
        .on_rejected(warn)
        .build(client, informer::runtime::Tokio::current()?)?;
    let _port = match inspect {
        Some(address) => Some(open(address, &informer).await?),
        None => None,
    };
    let mut teller = Teller {
        notifications: informer.stream()?,
        seen: informer.status(),
        known: 0,
        is_synced: false,
        output,
    };
    informer.start()?;
    teller.status(informer.status())?;
    loop {
        tokio::select! {
            biased;
            () = &mut *stop => return Ok(teller.store(&informer).await?),
            told = teller.notifications.next() => match told {
                Some(notification) => teller.change(&notification)?,
                None => return Err(ended(&informer.status()).into()),
            },
            changed = informer.status_change(&teller.seen) => if let Some(status) = changed {
                // Print the changes that led to the new status first.
                teller.changes().await?;
                teller.status(status)?;
            },
        }
    }
}

/// Opens the inspector. Its address goes where messages go: the standard output is for scripts.
#[expect(clippy::print_stderr, reason = "for the person who looks")]
async fn open(address: &str, informer: &impl Inspect) -> Result<Ops, OpsError> {
    // Every user of this machine can look, so bodies stay here.
    let port = ops::serve(address).add(informer).history(20);
    let port = port.start().await?;
    eprintln!("inspector: {}", port.url());
    Ok(port)
}

/// Turns notifications and status changes into lines.
struct Teller<'a, K: Send + Sync + 'static> {
    notifications: Notifications<K>,
    seen: Status,
    /// How many objects exist according to the printed lines.
    known: usize,
    is_synced: bool,
    output: &'a mut Output,
}

impl<K: Send + Sync + 'static> Teller<'_, K> {
    fn change(&mut self, notification: &Notification<Object<K>>) -> io::Result<()> {
        match notification {
            Notification::Added { .. } => self.known += 1,
            Notification::Updated { .. } => {}
            Notification::Deleted { .. } => self.known = self.known.saturating_sub(1),
        }
        self.output.tell(&Line::of(notification))
    }

    fn status(&mut self, status: Status) -> Result<(), Box<dyn Error>> {
        if !self.is_synced
            && let Some(reason) = words::hopeless(&status)
        {
            return Err(reason.into());
        }
        let has_failed = status.counts.failures > self.seen.counts.failures;
        if has_failed || words::phase(&status) != words::phase(&self.seen) {
            self.output.tell(&Line::of_status(&status, has_failed))?;
        }
        self.seen = status;
        let told = self.notifications.status();
        if !self.is_synced && told.is_some_and(|told| told.synced) {
            self.is_synced = true;
            let count = self.known;
            self.output.tell(&Line::Synced { count })?;
        }
        Ok(())
    }

    /// Prints the pending changes. Returns whether there were any.
    async fn changes(&mut self) -> io::Result<bool> {
        let mut any = false;
        while let Some(notification) = self.waiting().await {
            self.change(&notification)?;
            any = true;
        }
        Ok(any)
    }

    /// Prints the cache, after all changes that led to it.
    async fn store(&mut self, informer: &SharedInformer<K>) -> io::Result<()> {
        loop {
            let store = informer.snapshot();
            if !self.changes().await? {
                return self.output.tell(&Line::of_store(&store));
            }
        }
    }

    /// The next notification, if there is one now.
    async fn waiting(&mut self) -> Option<Notification<Object<K>>> {
        loop {
            tokio::select! {
                biased;
                told = self.notifications.next() => return told,
                () = ready(()) => {}
            }
            // The stream yields now and then, so check whether it is really empty.
            if self
                .notifications
                .status()
                .is_none_or(|told| told.pending == 0)
            {
                return None;
            }
        }
    }
}

fn ended(status: &Status) -> String {
    let reason = status.panic.as_deref().unwrap_or("it was stopped");
    format!("cannot follow {} any more: {reason}", status.name)
}

/// Warns that a rejected object is missing in the cache.
#[expect(clippy::print_stderr, reason = "programs report what is missing")]
fn warn(rejected: &informer::RejectedObject<informer::ObjectKey, String>) {
    let key = rejected
        .key
        .as_ref()
        .map_or("an object", |key| key.as_str());
    let key = printable(key);
    eprintln!("warning: {key} is left out: {}", rejected.reason);
}
