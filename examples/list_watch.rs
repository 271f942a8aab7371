//! What every informer stands on: one list of what is there, then one watch that goes on from the
//! version of the list. Everything else is about what to do with these events.
#![expect(clippy::print_stdout, reason = "it explains by printing")]

use std::error::Error;
use std::process::ExitCode;

use informer::runtime::{Runtime as _, Tokio};
use informer::{Kind as _, Object};
use informer_core::flow::Change;
use informer_examples::pods::{self, Pod};
use informer_examples::{Cluster, ListWatch, Step, demonstrate};

#[tokio::main]
async fn main() -> ExitCode {
    demonstrate(run).await
}

async fn run(cluster: Cluster) -> Result<(), Box<dyn Error>> {
    cluster.play(pods::some)?;
    let transport = cluster.client().transport(&Pod::target())?;
    let mut list_watch = ListWatch::new(Pod::target(), transport, Tokio::current()?.clock())?;
    loop {
        match list_watch.next().await {
            Step::Asks(path) => println!("GET {path}"),
            Step::Fails(why) => return Err(why.into()),
            Step::Says(change) => match change {
                Change::ReplaceItem(pod) => show("listed", &pod),
                // The list is complete; now let something happen.
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

fn show(what: &str, pod: &Object<Pod>) {
    println!("{what:<8} {}, {}", pod.key.name(), pod.status.phase);
}
