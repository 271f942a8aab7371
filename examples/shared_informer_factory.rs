//! A factory returns the same informer for equal requests, and a lister reads its cache without a request
//! to the server. Every 30 s the handlers get the whole cache again. Such a resync helps controllers that
//! manage something outside of Kubernetes. On the mock server, time is virtual.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use informer::runtime::Tokio;
use informer::{Connect, Kind, Notification, Object, SharedInformerFactory};
use informer_examples::{Cluster, demonstrate};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{MockServer, Server, ServerConfig, VirtualClock};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

const RESYNC: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
struct Deployment {
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    replicas: u32,
}

impl Kind for Deployment {
    const GROUP: &'static str = "apps";
    const VERSION: &'static str = "v1";
    const PLURAL: &'static str = "deployments";
}

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    if cluster.is_mock() {
        return in_virtual_time().await;
    }
    let runtime = Tokio::current()?;
    let factory = SharedInformerFactory::new(cluster.client().clone(), runtime).resync(RESYNC);
    let mut told = follow(&factory).await?;
    while let Some(change) = told.recv().await {
        println!("{change}");
    }
    Ok(())
}

/// Follows deployments, and reads the cache.
async fn follow<C: Connect>(
    factory: &SharedInformerFactory<C>,
) -> Result<mpsc::Receiver<Notification<Object<Deployment>>>, Box<dyn Error>> {
    let deployments = factory.of::<Deployment>()?;
    let same = factory.of::<Deployment>()?.is_same(&deployments);
    println!("a second request returns the same informer: {same}");

    let (sender, told) = mpsc::channel(64);
    deployments.send_to(sender)?;
    factory.start()?;
    factory.synced(Duration::from_secs(30)).await?;

    println!("deployments in the namespace default:");
    for deployment in deployments.lister().namespace("default").list() {
        let replicas = deployment.spec.replicas;
        println!("  {}, replicas: {replicas}", deployment.key().name());
    }
    Ok(told)
}

/// Two resyncs, without waiting for them.
async fn in_virtual_time() -> Result<(), Box<dyn Error>> {
    let clock = VirtualClock::new();
    let server = MockServer::new(ServerConfig::new(42), clock.clone());
    server.with(deploy)?;
    let runtime = Tokio::current()?.with_clock(Arc::new(clock.clone()));
    let factory = SharedInformerFactory::new(server.connect(), runtime).resync(RESYNC);
    let mut told = follow(&factory).await?;

    for round in 0..3 {
        if round > 0 {
            println!("{} s pass", RESYNC.as_secs());
            clock.advance(RESYNC);
        }
        for _ in 0..DEPLOYMENTS.len() {
            if let Some(change) = told.recv().await {
                println!("  {change}");
            }
        }
    }
    Ok(())
}

const DEPLOYMENTS: [(&str, &str, u32); 3] = [
    ("default", "db", 1),
    ("default", "web", 3),
    ("kube-system", "dns", 2),
];

fn deploy(server: &mut Server) -> Result<(), ApiError> {
    for (namespace, name, replicas) in DEPLOYMENTS {
        let deployment = json!({
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"replicas": replicas},
        });
        server.create("deployments", deployment)?;
    }
    Ok(())
}
