//! The base of every informer: one list of all objects, then one watch that starts at the version of the
//! list. All other parts only process these events. A watch without a version would not do: it shows all
//! objects as ADDED, and cannot say what was deleted before.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;

use informer::runtime::{Runtime as _, Tokio};
use informer::{Client, Kind as _, Object};
use informer_core::flow::Change;
use informer_examples::pods::{self, Pod};
use informer_examples::screen::printable;
use informer_examples::{Cluster, ListWatch, Step, demonstrate};
use serde_json::Value;

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    cluster.play(pods::some)?;
    watch_without_version(cluster.client()).await?;
    let transport = cluster.client().transport(&Pod::target())?;
    let mut list_watch = ListWatch::new(Pod::target(), transport, Tokio::current()?.clock())?;
    loop {
        match list_watch.next().await {
            Step::Asks(path) => println!("GET {path}"),
            Step::Fails(why) => return Err(why.into()),
            Step::Says(change) => match change {
                Change::ReplaceItem(pod) => show("listed", &pod),
                // The list is complete. Now make some changes.
                Change::ReplaceEnd => cluster.play(pods::nettool)?,
                Change::Added(pod) => show("ADDED", &pod),
                Change::Updated(pod) => show("MODIFIED", &pod),
                Change::Deleted(pod) => {
                    show("DELETED", &pod);
                    if cluster.is_mock() {
                        return Ok(());
                    }
                }
                _ => {}
            },
        }
    }
}

/// Watches for a second, from no version, and prints the events.
async fn watch_without_version(client: &Client) -> Result<(), Box<dyn Error>> {
    let path = format!("{}?timeoutSeconds=1&watch=true", Pod::target().path());
    println!("GET {path}");
    let events = client.get(&path).await?;
    for event in serde_json::Deserializer::from_slice(&events).into_iter() {
        let event: Value = event?;
        let text = |path| event.pointer(path).and_then(Value::as_str).unwrap_or("?");
        let (what, phase) = (text("/type"), text("/object/status/phase"));
        let name = text("/object/metadata/name");
        let [what, name, phase] = [what, name, phase].map(printable);
        println!("{what:<8} {name}, {phase}");
    }
    Ok(())
}

fn show(what: &str, pod: &Object<Pod>) {
    println!("{what:<8} {}, {}", pod.key().name(), pod.status.phase);
}
