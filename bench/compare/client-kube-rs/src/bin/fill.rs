//! Fills a cluster with generated pods, for measurements against a real API server.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use informer_bench_pods::Pods;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;

/// How many requests run at the same time.
const WRITERS: usize = 24;

/// Fills a cluster with generated pods. It must be empty, and has no kubelet that would run them.
#[derive(Parser, Debug)]
struct Options {
    /// The cluster, and a user with all rights.
    #[arg(long, value_name = "FILE")]
    kubeconfig: PathBuf,
    /// The number of pods.
    #[arg(long)]
    pods: usize,
    /// The number of namespaces.
    #[arg(long, default_value_t = 20)]
    namespaces: usize,
    /// What decides about the pods.
    #[arg(long)]
    seed: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match fill(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fill: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn fill(options: &Options) -> Result<(), Box<dyn Error>> {
    let file = Kubeconfig::read_from(&options.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let pods = Pods::new(options.seed, options.pods, options.namespaces);
    for name in pods.namespaces() {
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": name}}))?;
        let api = Api::all(client.clone());
        api.create(&PostParams::default(), &namespace).await?;
    }
    let writes = (0..pods.len()).map(|number| create(&client, &pods, number));
    stream::iter(writes)
        .buffer_unordered(WRITERS)
        .try_collect()
        .await
}

/// Creates a pod and then sets its status, as its controller and its kubelet would.
async fn create(client: &Client, pods: &Pods, number: usize) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    pods.write(number, &mut text);
    let mut pod: Pod = serde_json::from_str(&text)?;
    let metadata = &mut pod.metadata;
    (metadata.uid, metadata.resource_version) = (None, None);
    (metadata.managed_fields, metadata.generation) = (None, None);
    let namespace = metadata.namespace.clone().unwrap_or_default();
    let status = pod.status.take();
    let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let mut made = api.create(&PostParams::default(), &pod).await?;
    made.status = status;
    let name = made.metadata.name.clone().unwrap_or_default();
    api.replace_status(&name, &PostParams::default(), &made)
        .await?;
    Ok(())
}
