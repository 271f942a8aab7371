//! The scenarios, in this order, on one server. Each has its own namespace. Those that harm the
//! server come last and leave it working.

// Large states, read in every way.
mod states;

// Whole objects in protobuf.
mod protobuf;

// Many writers, and nothing lost.
mod churn;

// Kinds other than pods, and parts of objects.
mod kinds;

// Access rights.
mod users;

// Writes of single objects.
mod writes;

// A whole controller.
mod controllers;

// Many informers, one client.
mod many;

// Finalizers and events.
mod kit;

// Electors, ours and those of client-go.
mod elections;

// The informer that faults hit.
mod subject;

// Faults of the server.
mod server_faults;

// Faults of the line.
mod line_faults;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer::informer_core::reflector::{BackoffConfig, GoneConfig, ReflectorConfig};
use informer::{Failure, InformerBuilder, InformerConfig, LeanBody, Target};
use informer_e2e::Outcome;
use informer_e2e::api::Api;
use informer_e2e::cluster::Cluster;
use informer_e2e::follower::{Comparable, Follower};
use informer_e2e::proxy::Proxy;
use informer_e2e::report::{Aftermath, Report};
use serde_json::{Value, json};

use crate::clients::{self, Client};

pub(crate) use elections::replica;

/// Long enough for everything.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A namespace with many pods.
const MANY: &str = "many";

pub(crate) type Scenario = for<'a> fn(&'a mut World) -> Pin<Box<dyn Future<Output = Outcome> + 'a>>;

macro_rules! scenarios {
    ($($file:ident: $($name:ident),+;)+) => {
        /// All scenarios by name.
        pub(crate) const SCENARIOS: &[(&str, Scenario)] = &[
            $($((stringify!($name), |world| Box::pin($file::$name(world)))),+),+
        ];
    };
}

scenarios! {
    states: states_in_every_way, pages;
    protobuf: states_in_protobuf, both_encodings;
    churn: churn;
    kinds: deployments, cluster_scoped, custom_resources, kinds_come_and_go, selectors, metadata_only;
    users: token_and_certificate, rights_denied_and_granted, a_role_in_each_namespace;
    writes: objects_are_written;
    controllers: a_whole_controller;
    many: two_hundred_watches, read_your_writes;
    kit: finalizers, events;
    elections: elections;
    server_faults: kill_while_watching, kill_and_change_unseen, kill_while_listing, kill_while_streaming, restart_etcd,
        versions_compacted, stopped_and_continued;
    protobuf: versions_compacted_in_protobuf;
    line_faults: cuts, late_line, slow_line, silent_line;
}

/// The environment of the scenarios.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) api: Arc<Api>,
    pub(crate) report: Report,
    quick: bool,
    seeded: bool,
}

impl World {
    pub(crate) fn new(cluster: Cluster, api: Arc<Api>, quick: bool) -> Self {
        Self {
            cluster,
            api,
            report: Report::default(),
            quick,
            seeded: false,
        }
    }

    /// One value for `--quick`, the other without.
    const fn quick_or<T: Copy>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A client of the server itself.
    pub(crate) async fn client(&self, user: &str) -> Outcome<Client> {
        clients::of(self.cluster.kubeconfig(), user).await
    }

    /// A line to the server.
    async fn proxy(&self) -> Outcome<Proxy> {
        Ok(Proxy::to(self.cluster.address()?).await?)
    }

    /// A client at the other end of a line.
    async fn client_through(&self, proxy: &Proxy, user: &str) -> Outcome<Client> {
        let kubeconfig = self.cluster.kubeconfig_through(proxy.address())?;
        clients::of(&kubeconfig, user).await
    }

    /// Creates a namespace.
    pub(crate) async fn namespace(&self, name: &str) -> Outcome {
        let object = json!({"metadata": {"name": name}});
        self.api.create("/api/v1/namespaces", &object).await?;
        Ok(())
    }

    /// How many pods the namespace [`MANY`] has. The first call fills it.
    async fn many(&mut self) -> Outcome<usize> {
        let count = self.quick_or(2_000, 10_000);
        if !self.seeded {
            self.cluster.tell(&format!("seed {MANY} {count}")).await?;
            self.seeded = true;
        }
        Ok(count)
    }

    /// Checks a follower after a fault, and reports.
    async fn judge<K: Comparable>(
        &mut self,
        fault: &str,
        ended: Instant,
        follower: &Follower<K>,
    ) -> Outcome {
        let equal = follower.becomes_equal(&self.api, LONG).await;
        let path = follower.informer.target().path();
        let losses = match &equal {
            Ok(_) => 0,
            Err(_) => follower.differences(&self.api.list(&path).await?)?.len(),
        };
        let is_forced = |failure: &Failure| *failure == Failure::Expired;
        let failures = follower.failures();
        let aftermath = Aftermath {
            fault: fault.to_owned(),
            until_equal: equal.is_ok().then(|| ended.elapsed()),
            relists: follower.relists(),
            forced: failures.iter().filter(|it| is_forced(it)).count() as u64,
            duplicates: follower.audit.faults().len(),
            losses,
        };
        self.report.fault(aftermath.clone());
        equal?;
        follower.told_once()?;
        aftermath
            .judge()
            .map_err(|error| format!("{fault}: {error}; the failures were {failures:?}"))?;
        follower.is_verified(LONG).await
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) -> Outcome {
    let began = Instant::now();
    while !is_so().await {
        if began.elapsed() > LONG {
            return Err(format!("waited {LONG:?} until {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// The default configuration with short waits.
fn impatient() -> InformerConfig {
    InformerConfig {
        reflector: ReflectorConfig {
            backoff: BackoffConfig {
                base: Duration::from_millis(200),
                cap: Duration::from_secs(2),
                ..BackoffConfig::new()
            },
            gone: Some(GoneConfig {
                base: Duration::from_millis(200),
                cap: Duration::from_secs(2),
                ..GoneConfig::new()
            }),
            ..ReflectorConfig::new()
        },
        ..InformerConfig::new()
    }
}

fn pods_in(namespace: &str) -> InformerBuilder<LeanBody> {
    InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .namespace(namespace)
        .preset(impatient())
}

fn pods_path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/pods")
}

fn pod(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": "e2e"}},
        "spec": {"containers": [{"name": "main", "image": "registry.invalid/image"}]},
    })
}

/// A patch that makes a different change each time.
fn touch(number: usize) -> Value {
    json!({"metadata": {"annotations": {"example.com/touched": number.to_string()}}})
}
