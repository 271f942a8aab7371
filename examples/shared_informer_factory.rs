//! A factory returns the same informer for equal requests, and a lister reads its cache without a request
//! to the server. A handler hears of added, updated and deleted deployments.
//!
//! A resync shows a handler the whole cache again. Services have a shorter period than the default of the
//! factory, because their handler keeps a load balancer outside of Kubernetes: a resync repairs what
//! somebody broke there. On the mock server, time is virtual.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use informer::runtime::Tokio;
use informer::{
    Added, Cause, Connect, Deleted, Handler, InformerBuilder, Kind, Object, ObjectKey,
    SharedInformerFactory,
};
use informer_examples::{Cluster, demonstrate};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{MockServer, Server, ServerConfig, VirtualClock};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const RESYNC: Duration = Duration::from_secs(30);
const RESYNC_OF_SERVICES: Duration = Duration::from_secs(10);

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
    const KIND: &'static str = "Deployment";
    const PLURAL: &'static str = "deployments";
}

/// The key is all that is needed.
#[derive(Deserialize)]
struct Service {}

impl Kind for Service {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Service";
    const PLURAL: &'static str = "services";
}

/// Reports what it hears.
struct OnDeployment(UnboundedSender<String>);

/// The receiver is gone when the program is about to end.
fn say(told: &UnboundedSender<String>, text: String) {
    let _ = told.send(text);
}

impl Handler<Deployment> for OnDeployment {
    fn added(&mut self, deployment: &Object<Deployment>, _: Added) {
        let replicas = deployment.spec.replicas;
        say(
            &self.0,
            format!("add {}, replicas: {replicas}", deployment.key()),
        );
    }

    fn updated(&mut self, old: &Object<Deployment>, new: &Object<Deployment>, cause: Cause) {
        let (before, now) = (old.spec.replicas, new.spec.replicas);
        let key = new.key();
        say(
            &self.0,
            format!("update {key}, replicas: {before} to {now} ({cause})"),
        );
    }

    fn deleted(&mut self, key: &ObjectKey, _: Option<&Object<Deployment>>, _: Deleted) {
        say(&self.0, format!("delete {key}"));
    }
}

/// A load balancer outside of Kubernetes. Somebody else may change it, too.
#[derive(Clone, Default)]
struct Balancer(Arc<Mutex<BTreeSet<String>>>);

impl Balancer {
    fn change<R>(&self, act: impl FnOnce(&mut BTreeSet<String>) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Gives every service an entry in the balancer. It does not matter why it is called.
struct OnService(Balancer, UnboundedSender<String>);

impl OnService {
    fn ensure(&self, key: &ObjectKey, cause: Cause) {
        if self.0.change(|entries| entries.insert(key.to_string())) {
            say(&self.1, format!("balancer: {key} is added ({cause})"));
        }
    }
}

impl Handler<Service> for OnService {
    fn added(&mut self, service: &Object<Service>, how: Added) {
        self.ensure(service.key(), how.cause);
    }

    fn updated(&mut self, _: &Object<Service>, service: &Object<Service>, cause: Cause) {
        self.ensure(service.key(), cause);
    }

    fn deleted(&mut self, key: &ObjectKey, _: Option<&Object<Service>>, how: Deleted) {
        self.0.change(|entries| entries.remove(key.as_str()));
        say(
            &self.1,
            format!("balancer: {key} is removed ({})", how.cause),
        );
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    if cluster.is_mock() {
        return in_virtual_time().await;
    }
    let factory = SharedInformerFactory::new(cluster.client().clone(), Tokio::current()?);
    let factory = factory.resync(RESYNC);
    let (mut deployments, mut services) = follow(&factory, &Balancer::default()).await?;
    while let Some(told) = tokio::select! {
        told = deployments.recv() => told,
        told = services.recv() => told,
    } {
        println!("  {told}");
    }
    Ok(())
}

/// What the handlers say.
type Told = UnboundedReceiver<String>;

/// Follows deployments and services, and reads the cache.
async fn follow<C: Connect>(
    factory: &SharedInformerFactory<C>,
    balancer: &Balancer,
) -> Result<(Told, Told), Box<dyn Error>> {
    let deployments = factory.of::<Deployment>()?;
    let same = factory.of::<Deployment>()?.is_same(&deployments);
    println!("a second request returns the same informer: {same}");
    let (sender, of_deployments) = unbounded_channel();
    deployments.on(OnDeployment(sender))?;

    let own_period = InformerBuilder::<Service>::typed().resync(RESYNC_OF_SERVICES);
    let (sender, of_services) = unbounded_channel();
    let services = factory.informer(&own_period)?;
    services.on(OnService(balancer.clone(), sender))?;

    factory.start()?;
    factory.synced(Duration::from_secs(30)).await?;
    println!("deployments of kube-system:");
    let listed = deployments.lister().namespace("kube-system").list();
    for (at, deployment) in listed.iter().enumerate() {
        println!("  {at} => {}", deployment.key().name());
    }
    println!("what the handlers hear:");
    Ok((of_deployments, of_services))
}

async fn in_virtual_time() -> Result<(), Box<dyn Error>> {
    let clock = VirtualClock::new();
    let server = MockServer::new(ServerConfig::new(42), clock.clone());
    server.with(create)?;
    let runtime = Tokio::current()?.with_clock(Arc::new(clock.clone()));
    let factory = SharedInformerFactory::new(server.connect(), runtime).resync(RESYNC);
    let balancer = Balancer::default();
    let (mut deployments, mut services) = follow(&factory, &balancer).await?;
    show(&mut deployments, 3).await;
    show(&mut services, 1).await;

    println!("coredns is scaled, metrics-server is deleted:");
    server.with(|server| {
        let scaled = json!({"spec": {"replicas": 3}});
        server.patch("deployments", "kube-system/coredns", scaled)?;
        server.delete("deployments", "kube-system/metrics-server")
    })?;
    show(&mut deployments, 2).await;

    println!("somebody empties the balancer, and 10 s pass:");
    balancer.change(BTreeSet::clear);
    clock.advance(RESYNC_OF_SERVICES);
    show(&mut services, 1).await;

    println!("20 s more pass:");
    clock.advance(RESYNC - RESYNC_OF_SERVICES);
    show(&mut deployments, 2).await;
    Ok(())
}

/// Prints the next lines of a handler.
async fn show(told: &mut Told, lines: usize) {
    for _ in 0..lines {
        if let Some(line) = told.recv().await {
            println!("  {line}");
        }
    }
}

fn create(server: &mut Server) -> Result<(), ApiError> {
    for (namespace, name, replicas) in [
        ("default", "web", 3),
        ("kube-system", "coredns", 2),
        ("kube-system", "metrics-server", 1),
    ] {
        let metadata = json!({"namespace": namespace, "name": name});
        let deployment = json!({"metadata": metadata, "spec": {"replicas": replicas}});
        server.create("deployments", deployment)?;
    }
    let metadata = json!({"namespace": "default", "name": "web"});
    server.create("services", json!({"metadata": metadata}))?;
    Ok(())
}
