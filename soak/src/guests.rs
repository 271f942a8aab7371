//! Informers that start and stop, in several ways.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use informer::runtime::Tokio;
use informer::{
    Backlog, InformerBuilder, ListenerConfig, Notification, Object, QueueKind, SharedInformer,
    SharedInformerFactory, Target,
};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::counted::Counted;
use crate::run::Failed;
use crate::server::World;

/// How long a guest stays at most. While the server misbehaves, a guest may see nothing at all.
const STAY: Duration = Duration::from_millis(500);

/// How many ways there are.
const WAYS: u64 = 9;

pub(crate) fn pods() -> InformerBuilder<Counted> {
    InformerBuilder::typed_at(Target::new("", "v1", "pods"))
}

/// Waits for something, but not for long.
async fn a_while<T>(wait: impl Future<Output = T>) {
    // The result does not matter, only that nothing is left behind.
    let _ = timeout(STAY, wait).await;
}

/// Runs one guest after the other, until `visits` are used up.
pub(crate) async fn come_and_go(
    world: Arc<World>,
    shared: informer::Client,
    visits: Arc<AtomicU64>,
    goes_on: impl Fn(u64) -> bool,
) -> Result<(), Failed> {
    loop {
        let number = visits.fetch_add(1, Ordering::Relaxed);
        if !goes_on(number) {
            return Ok(());
        }
        visit(&world, &shared, number).await?;
    }
}

async fn visit(world: &World, client: &informer::Client, number: u64) -> Result<(), Failed> {
    match number % WAYS {
        // Stops before it has seen anything.
        0 => drop(pods().start(client)?),
        1 => stream(&pods().start(client)?).await?,
        2 => handlers(&pods().queue(QueueKind::InOrder).start(client)?).await?,
        3 => holds_itself(&pods().start(client)?).await?,
        4 => waits(world, &pods().start(client)?).await,
        5 => stalls(&pods().resync(Duration::from_secs(1)).start(client)?).await?,
        6 => factory(client, true).await?,
        7 => factory(client, false).await?,
        // A client of its own, with its own connections.
        _ => {
            let own = world.client(number / WAYS)?;
            let informer = pods().namespace("default").start(&own)?;
            a_while(informer.synced(STAY)).await;
        }
    }
    Ok(())
}

/// A stream dropped half-way, and one that is never read.
async fn stream(informer: &SharedInformer<Counted>) -> Result<(), Failed> {
    let mut read = informer.stream()?;
    let _unread = informer.stream()?;
    a_while(async {
        for _ in 0..300 {
            if read.next().await.is_none() {
                break;
            }
        }
    })
    .await;
    Ok(())
}

/// Handlers that are removed, forgotten and stopped.
async fn handlers(informer: &SharedInformer<Counted>) -> Result<(), Failed> {
    let kept = informer.on(|_| {})?;
    let removed = informer.on_async(|_| std::future::ready(()))?;
    informer.on(|_| {})?;
    a_while(kept.synced(STAY)).await;
    a_while(removed.remove()).await;
    informer.stop();
    informer.join().await;
    Ok(())
}

/// A handler that holds its informer, as a controller does, and the notifications it got.
async fn holds_itself(informer: &SharedInformer<Counted>) -> Result<(), Failed> {
    let lister = informer.lister();
    let last = std::sync::Mutex::new(None);
    let observed = informer.on(move |told: Notification<Object<Counted>>| {
        let _ = lister.by_key(told.key());
        if let Ok(mut last) = last.lock() {
            *last = Some(told);
        }
    })?;
    a_while(observed.synced(STAY)).await;
    informer.stop();
    Ok(())
}

/// Abandoned waits.
async fn waits(world: &World, informer: &SharedInformer<Counted>) {
    let version = world.server.with(|server| server.version() + 1_000_000);
    let version = version.to_string();
    a_while(informer.synced(STAY)).await;
    for _ in 0..20 {
        let given_up = informer.reached(&version, STAY);
        let _ = timeout(STAY / 100, given_up).await;
        let seen = informer.status();
        let _ = timeout(STAY / 100, informer.status_change(&seen)).await;
    }
}

/// A handler whose first call returns only after everything else is gone.
async fn stalls(informer: &SharedInformer<Counted>) -> Result<(), Failed> {
    let gate = Arc::new(Semaphore::new(0));
    let mut config = ListenerConfig::new();
    config.backlog = Backlog::Stall { at: 10 };
    let waits = {
        let gate = Arc::clone(&gate);
        move |_| {
            let gate = Arc::clone(&gate);
            async move { drop(gate.acquire().await) }
        }
    };
    let stalls = informer.on_async_with(waits, config)?;
    let observed = informer.on(|_| {})?;
    a_while(observed.synced(STAY)).await;
    drop(stalls);
    informer.stop();
    gate.close();
    Ok(())
}

/// A factory that is shut down, or just dropped.
async fn factory(client: &informer::Client, shut_down: bool) -> Result<(), Failed> {
    let factory = SharedInformerFactory::new(client.clone(), Tokio::current()?);
    let all = factory.informer(&pods())?;
    let some = factory.informer(&pods().labels("app=web"))?;
    let again = factory.informer(&pods())?;
    factory.start()?;
    a_while(factory.synced(STAY)).await;
    factory.forget(&some);
    drop((all, some));
    if shut_down {
        factory.shutdown().await;
    }
    drop(factory);
    drop(again);
    Ok(())
}
