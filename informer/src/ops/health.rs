//! Is the program alive, and is it ready?

use std::time::Duration;

use crate::inspect::{ControllerPart, ElectionPart, InformerPart, Named, Parts};
use crate::status::Status;

/// Why the program is not alive, in lines: informers that a panic or the end of their runtime has ended.
/// Starting the program again helps; it does not help a server that cannot be reached.
pub(super) fn trouble_alive(parts: &Parts) -> Vec<String> {
    let informers = parts.informers.iter().filter_map(|Named { name, part }| {
        let status = part.status();
        let ended = status.panic.is_some() || status.lost.is_some();
        ended.then(|| explained(name, &status.explain()))
    });
    informers.collect()
}

/// Why the program is not ready, in lines.
pub(super) fn trouble_ready(parts: &Parts, within: Duration) -> Vec<String> {
    let informers = parts.informers.iter().filter_map(|it| stale(it, within));
    let controllers = parts.controllers.iter().filter_map(idle);
    let elections = parts.elections.iter().filter_map(ended);
    informers.chain(controllers).chain(elections).collect()
}

fn stale(Named { name, part }: &Named<dyn InformerPart>, within: Duration) -> Option<String> {
    if part.is_fresh(within) {
        return None;
    }
    let status = part.status();
    let mut sentences = status.explain();
    sentences.extend(silent(&status, within));
    Some(explained(name, &sentences))
}

/// An informer that follows the server is stale because the server is silent.
fn silent(status: &Status, within: Duration) -> Option<String> {
    let byte = status
        .last_byte
        .filter(|byte| status.following && *byte > within)?;
    let (byte, within) = (byte.as_secs(), within.as_secs_f64());
    Some(format!(
        "The server has been silent for {byte} s; it may be for {within} s."
    ))
}

/// A controller has workers as soon as its informers are synced. That another replica leads is no trouble.
fn idle(Named { name, part }: &Named<dyn ControllerPart>) -> Option<String> {
    let status = part.status();
    let idle = status.stopped || status.workers == 0;
    idle.then(|| explained(name, &status.explain()))
}

fn ended(Named { name, part }: &Named<dyn ElectionPart>) -> Option<String> {
    let status = part.status();
    let ended = status.ended.is_some();
    ended.then(|| explained(name, &status.explain()))
}

fn explained(name: &str, sentences: &[String]) -> String {
    format!("{name}: {}", sentences.join(" "))
}
