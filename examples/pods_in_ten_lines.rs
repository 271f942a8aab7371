//! Lists the pods, gets one of them, and prints every change, in ten lines. It needs `informer`, tokio and a
//! cluster, and nothing else of this project: copy it.
#![allow(clippy::print_stdout, reason = "the example prints what it does")]

use informer::{Client, Config, InformerBuilder, Target};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new(Config::infer()?)?; // as kubectl finds it, or the service account
    let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start(&client)?;
    pods.synced(Duration::from_secs(30)).await?;
    for pod in pods.lister().list() {
        println!("list: {}", pod.key());
    }
    let web = pods.lister().get("default", "web-1");
    println!("get: version {:?}", web.map(|pod| pod.version().to_owned()));
    pods.on(|change| println!("{change}"))?;
    Ok(tokio::signal::ctrl_c().await?)
}
