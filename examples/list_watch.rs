//! The base of every informer: one list of all objects, then one watch that starts at the version of the
//! list. All other parts only process these events.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

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

fn show(what: &str, pod: &Object<Pod>) {
    println!("{what:<8} {}, {}", pod.key().name(), pod.status.phase);
}
