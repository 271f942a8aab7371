//! A controller that keeps a load balancer in sync with the ready pods of each ReplicaSet.
//!
//! Two informers feed one queue: a ReplicaSet enqueues itself, a pod enqueues its owner. A worker reads the
//! current state of both caches and never looks at single events. Failures are retried with back-off.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::Parser;
use informer::controller::{Controller, Next, enqueue};
use informer::runtime::Tokio;
use informer::{InformerBuilder, Lister, Object, ObjectKey, SharedInformerFactory, Target, by};
use informer_examples::{Cluster, ClusterArgs, exit, flags};
use informer_transport_mock::http::SharedServer;
use informer_transport_mock::status::ApiError;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(30);

/// Keeps a simulated load balancer in sync with the ready pods of each ReplicaSet
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    cluster: ClusterArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(&flags()).await)
}

async fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::open(&args.cluster).await?;
    if let Some(server) = cluster.server() {
        set_up(server)?;
    }

    let factory = SharedInformerFactory::new(cluster.client().clone(), Tokio::current()?);
    let sets = factory.informer(&InformerBuilder::dynamic_at(Target::new(
        "apps",
        "v1",
        "replicasets",
    )))?;
    let pods = factory.informer(
        &InformerBuilder::dynamic_at(Target::new("", "v1", "pods")).index("owner", by::owner_uid()),
    )?;

    let controller = Controller::new(Tokio::current()?);
    let handlers = [
        sets.on(enqueue::this(controller.queue()))?,
        pods.on(enqueue::owner(controller.queue(), "apps", "ReplicaSet"))?,
    ];
    factory.start()?;
    for handler in &handlers {
        handler.synced(SOON).await?;
    }

    // Both caches are complete: from now on, an object that is missing does not exist.
    let balancer = Arc::new(Balancer::default());
    let reconciler = Reconciler {
        sets: sets.lister(),
        pods: pods.lister(),
        balancer: Arc::clone(&balancer),
    };
    let (reconciler, queue) = (Arc::new(reconciler), controller.queue());
    controller.work(2, move |key| {
        let outcome = reconciler.reconcile(&key);
        if let Err(error) = &outcome {
            let attempt = queue.attempts(&key) + 1;
            println!("worker    {key}: attempt {attempt} failed, {error}");
        }
        async { outcome }
    })?;

    match cluster.server() {
        Some(server) => play(server, &balancer).await?,
        None => tokio::signal::ctrl_c().await?,
    }

    // The workers process the keys that are queued and end. Then the watches end.
    controller.stop().await;
    factory.shutdown().await;
    println!("main      stopped, {} keys left", controller.queue().len());
    Ok(())
}

struct Reconciler {
    sets: Lister<Value>,
    pods: Lister<Value>,
    balancer: Arc<Balancer>,
}

impl Reconciler {
    /// Makes the balancer match the cluster. Calling it twice changes nothing.
    fn reconcile(&self, key: &ObjectKey) -> Result<Next, Box<dyn Error + Send + Sync>> {
        let shares = match self.sets.by_key(key) {
            None => None,
            Some(set) => {
                let pods = self.pods.by_index("owner", set.uid())?;
                Some(pods.iter().filter(|pod| is_ready(pod)).count())
            }
        };
        self.balancer.set(key, shares)?;
        Ok(Next::Done)
    }
}

fn is_ready(pod: &Object<Value>) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let is = |condition: &Value, name, text| condition.get(name).is_some_and(|value| value == text);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| is(condition, "type", "Ready") && is(condition, "status", "True"))
}

/// Something outside of the cluster that the controller manages.
#[derive(Default)]
struct Balancer {
    shares: watch::Sender<BTreeMap<ObjectKey, usize>>,
    /// How many of the next calls fail.
    failures: AtomicU32,
}

impl Balancer {
    fn set(&self, key: &ObjectKey, shares: Option<usize>) -> Result<(), &'static str> {
        if self.shares.borrow().get(key).copied() == shares {
            return Ok(());
        }
        let fails = |left: u32| left.checked_sub(1);
        if self
            .failures
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, fails)
            .is_ok()
        {
            return Err("the balancer does not answer");
        }
        match shares {
            Some(shares) => println!("balancer  {key} has {shares} shares"),
            None => println!("balancer  {key} is removed"),
        }
        self.shares.send_modify(|all| {
            match shares {
                Some(shares) => all.insert(key.clone(), shares),
                None => all.remove(key),
            };
        });
        Ok(())
    }

    /// Waits until the balancer has these shares for a key.
    async fn has(&self, key: &ObjectKey, shares: Option<usize>) -> Result<(), Box<dyn Error>> {
        let mut seen = self.shares.subscribe();
        let has = seen.wait_for(|all| all.get(key).copied() == shares);
        timeout(SOON, has).await??;
        Ok(())
    }
}

/// A ReplicaSet with three pods, two of them ready.
fn set_up(server: &SharedServer) -> Result<(), ApiError> {
    let set = json!({"metadata": {"name": "web"}, "spec": {"replicas": 3}});
    let uid = server
        .with(|server| server.create("replicasets", set))?
        .uid()
        .to_owned();
    for name in ["web-1", "web-2", "web-3"] {
        let owner = json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": true,
        });
        let pod = json!({"metadata": {"name": name, "ownerReferences": [owner]}});
        server.with(|server| server.create("pods", pod))?;
    }
    make_ready(server, "web-1")?;
    make_ready(server, "web-2")
}

fn make_ready(server: &SharedServer, pod: &str) -> Result<(), ApiError> {
    let status = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    server.with(|server| server.patch_status("pods", pod, status))?;
    Ok(())
}

/// Takes the place of the users of the cluster. Each step waits for the controller, only to make the output
/// the same in every run.
async fn play(server: &SharedServer, balancer: &Balancer) -> Result<(), Box<dyn Error>> {
    let web = ObjectKey::new("default", "web");
    balancer.has(&web, Some(2)).await?;

    println!("cluster   web-3 becomes ready");
    make_ready(server, "web-3")?;
    balancer.has(&web, Some(3)).await?;

    println!("cluster   web-1 is deleted while the balancer is down");
    balancer.failures.store(2, Ordering::Release);
    server.with(|server| server.delete("pods", "web-1"))?;
    balancer.has(&web, Some(2)).await?;

    println!("cluster   the ReplicaSet is deleted");
    server.with(|server| server.delete("replicasets", "web"))?;
    balancer.has(&web, None).await?;
    Ok(())
}
