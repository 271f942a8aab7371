//! Asynchronous fan-out: three observers of one informer. A slow observer does not hold up a quick one. Its
//! notifications wait, either all of them or only the newest state of each object.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::time::Duration;

use informer::{
    AsyncHandler, Backlog, InformerBuilder, ListenerConfig, Notification, Object, Registration,
    SharedInformer, StartError,
};
use informer_examples::no_flags;
use informer_examples::pods::Pod;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::json;
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let server = MockServer::new(ServerConfig::new(42), VirtualClock::new());
    let pods = InformerBuilder::<Pod>::typed().start(&server.connect())?;
    pods.synced(Duration::from_secs(30)).await?;
    let keep_all = Backlog::Grow;
    let keep_newest = Backlog::Coalesce { above: 0 };
    let mut quick = Observer::add("quick  ", keep_all, &pods)?;
    let mut slow = Observer::add("slow   ", keep_all, &pods)?;
    let mut merging = Observer::add("merging", keep_newest, &pods)?;

    println!("a pod is created; two of the three observers take long to process it");
    quick.ready.send_replace(true);
    server.with(|server| server.create("pods", json!({"metadata": {"name": "web"}})))?;
    for observer in [&mut quick, &mut slow, &mut merging] {
        observer.progress.wait_for(|it| it.taken == 1).await?;
    }
    quick.progress.wait_for(|it| it.done == 1).await?;

    println!("it changes four times");
    for turn in 1..=4 {
        let change = json!({"metadata": {"annotations": {"turn": turn.to_string()}}});
        server.with(|server| server.patch("pods", "web", change))?;
    }
    quick.has_processed(5).await;
    for observer in [&quick, &slow, &merging] {
        observer.report();
    }

    println!("now the other observers continue");
    slow.ready.send_replace(true);
    slow.progress.wait_for(|it| it.done == 5).await?;
    merging.ready.send_replace(true);
    merging.progress.wait_for(|it| it.done == 2).await?;
    Ok(())
}

/// A handler that waits before each line until it is ready.
struct Observer {
    name: &'static str,
    ready: watch::Receiver<bool>,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct Progress {
    taken: u32,
    done: u32,
}

impl AsyncHandler<Pod> for Observer {
    async fn notified(&mut self, change: Notification<Object<Pod>>) {
        self.progress.send_modify(|it| it.taken += 1);
        if self.ready.wait_for(|ready| *ready).await.is_ok() {
            println!("  {} {change}", self.name);
            self.progress.send_modify(|it| it.done += 1);
        }
    }
}

/// The handle of an observer.
struct Observed {
    name: &'static str,
    ready: watch::Sender<bool>,
    progress: watch::Receiver<Progress>,
    registration: Registration<Pod>,
}

impl Observer {
    fn add(
        name: &'static str,
        backlog: Backlog,
        pods: &SharedInformer<Pod>,
    ) -> Result<Observed, StartError> {
        let (ready, is_ready) = watch::channel(false);
        let (makes, progress) = watch::channel(Progress::default());
        let observer = Self {
            name,
            ready: is_ready,
            progress: makes,
        };
        let config = ListenerConfig {
            backlog,
            ..ListenerConfig::new()
        };
        Ok(Observed {
            name,
            ready,
            progress,
            registration: pods.on_async_with(observer, config)?,
        })
    }
}

impl Observed {
    /// Waits until this many calls have returned, which is shortly after the observer counted them.
    async fn has_processed(&self, count: u64) {
        while self
            .registration
            .status()
            .is_some_and(|it| it.delivered < count)
        {
            tokio::task::yield_now().await;
        }
    }

    fn report(&self) {
        if let Some(status) = self.registration.status() {
            println!(
                "  {} has processed {}, {} pending, {} merged",
                self.name, status.delivered, status.pending, status.coalesced
            );
        }
    }
}
