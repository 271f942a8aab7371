//! One replica of ours, as a process: `replica KUBECONFIG NAMESPACE LEASE IDENTITY`. It contends until its
//! stdin ends, and prints each time that its guard says yes, with the times before and after the question.
#![expect(clippy::print_stdout, reason = "a command-line program prints")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use informer::ObjectKey;
use informer::election::{Election, ElectionBuilder, ElectionConfig, Guard};
use informer_e2e::Outcome;

use super::{LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD, now};
use crate::clients;

/// How often each worker asks.
const TICK: Duration = Duration::from_millis(10);
/// Some of them ask before the election has done anything after a pause.
const WORKERS: usize = 4;

pub(crate) async fn run(arguments: &[String]) -> Outcome {
    let [kubeconfig, namespace, lease, identity] = arguments else {
        return Err("usage: replica KUBECONFIG NAMESPACE LEASE IDENTITY".into());
    };
    let client = clients::of(Path::new(kubeconfig), "admin").await?;
    let election = ElectionBuilder::new(ObjectKey::new(namespace, lease))
        .identity(identity)
        .config(ElectionConfig {
            lease_duration: LEASE_DURATION,
            renew_deadline: RENEW_DEADLINE,
            retry_period: RETRY_PERIOD,
            release_on_stop: true,
        })
        .start(&client)?;
    let goes_on = Arc::new(AtomicBool::new(true));
    let workers: Vec<_> = std::iter::repeat_with(|| {
        let (election, goes_on) = (election.clone(), Arc::clone(&goes_on));
        thread::spawn(move || work(&election, &goes_on))
    })
    .take(WORKERS)
    .collect();
    let ended =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    ended.await??;
    election.stop().await;
    goes_on.store(false, Ordering::Relaxed);
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")?;
    }
    Ok(())
}

/// Asks the guard, and the election, until the end.
fn work(election: &Election, goes_on: &AtomicBool) {
    let mut guard: Option<Guard> = None;
    while goes_on.load(Ordering::Relaxed) {
        let from = now();
        let holds = guard.as_ref().is_some_and(Guard::holds);
        let to = now();
        let leads = election.is_leader();
        let last = now();
        if holds {
            println!("yes {from} {to}");
        } else {
            guard = election.guard();
        }
        if leads {
            println!("yes {to} {last}");
        }
        thread::park_timeout(TICK);
    }
}
