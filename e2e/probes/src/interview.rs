//! Sends every request of the table, in order.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::answer::normalised;
use crate::endpoint::{Endpoint, Reply};
use crate::error::ProbeError;
use crate::names::Names;
use crate::probe::{Chapter, Kept, Probe, Step};
use crate::subject::Subject;
use crate::table;

/// How often to check whether a new definition is served.
const LOOKS: usize = 100;

/// The server's answers by request, and its version.
///
/// # Errors
///
/// A request gets no answer at all, or the server cannot be prepared.
pub async fn interview(subject: &Subject) -> Result<(String, BTreeMap<String, Value>), ProbeError> {
    let endpoint = &subject.endpoint;
    let mut names = Names::new(&new_namespace(endpoint).await?);
    define_widgets(endpoint, &names).await?;
    let version = json_of(&endpoint.ask(&Probe::get("/version"), &names).await?);
    let version = version.get("gitVersion").and_then(Value::as_str);
    let version = version.unwrap_or("a server without a version").to_owned();

    let mut answers = BTreeMap::new();
    for chapter in table::chapters() {
        if !ask_chapter(subject, &chapter, &mut names, &mut answers).await? {
            break;
        }
    }
    Ok((version, answers))
}

/// Sends the requests of a chapter. Returns whether it could.
async fn ask_chapter(
    subject: &Subject,
    chapter: &Chapter,
    names: &mut Names,
    answers: &mut BTreeMap<String, Value>,
) -> Result<bool, ProbeError> {
    let mut steps = chapter.steps.as_slice();
    while let Some((step, rest)) = steps.split_first() {
        let probe = match step {
            Step::Ask(probe) => probe,
            Step::Until(probe, status) => {
                wait_for(&subject.endpoint, probe, *status, names).await?;
                steps = rest;
                continue;
            }
            Step::Forget if subject.forget().await? => {
                steps = rest;
                continue;
            }
            Step::Forget => return Ok(false),
        };
        let together = independent(steps);
        if together.is_empty() {
            let reply = subject.endpoint.ask(probe, names).await?;
            keep(probe, &reply, names);
            file(answers, chapter, probe, normalised(probe, &reply, names));
            steps = rest;
        } else {
            for (probe, answer) in ask_together(&subject.endpoint, &together, names).await? {
                file(answers, chapter, &probe, answer);
            }
            steps = steps.get(together.len()..).unwrap_or_default();
        }
    }
    Ok(true)
}

/// The first requests, as far as they can be sent at the same time.
fn independent(steps: &[Step]) -> Vec<Probe> {
    let probes = steps.iter().map_while(|step| match step {
        Step::Ask(probe) if probe.is_independent() => Some(probe.clone()),
        _ => None,
    });
    probes.collect()
}

/// Sends requests at the same time, because many answers take seconds. The answers are in the order
/// of the requests.
async fn ask_together(
    endpoint: &Endpoint,
    probes: &[Probe],
    names: &Names,
) -> Result<Vec<(Probe, Value)>, ProbeError> {
    let mut asked = JoinSet::new();
    for (place, probe) in probes.iter().cloned().enumerate() {
        let (endpoint, names) = (endpoint.clone(), names.clone());
        asked.spawn(async move {
            let reply = endpoint.ask(&probe, &names).await?;
            let answer = normalised(&probe, &reply, &names);
            Ok::<_, ProbeError>((place, (probe, answer)))
        });
    }
    let mut answers = asked
        .join_all()
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    answers.sort_by_key(|(place, _)| *place);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

fn keep(probe: &Probe, reply: &Reply, names: &mut Names) {
    match probe.kept {
        Some(Kept::Object(name)) => names.keep_object(name, &json_of(reply)),
        Some(Kept::Page(name)) => names.keep_page(name, &json_of(reply)),
        None => {}
    }
}

/// Files an answer under its request. A repeated request gets a number.
fn file(answers: &mut BTreeMap<String, Value>, chapter: &Chapter, probe: &Probe, answer: Value) {
    let line = format!("{}: {}", chapter.name, probe.line());
    let mut key = line.clone();
    let mut times = 1;
    while answers.contains_key(&key) {
        times += 1;
        key = format!("{line} ({times})");
    }
    answers.insert(key, answer);
}

fn json_of(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// Creates a new namespace, so that a server can be probed more than once.
async fn new_namespace(endpoint: &Endpoint) -> Result<String, ProbeError> {
    let mut number = 1;
    loop {
        let name = format!("probes-{number}");
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let probe = Probe::post("/api/v1/namespaces", &body);
        let reply = endpoint.ask(&probe, &Names::new(&name)).await?;
        match reply.status {
            201 => return Ok(name),
            409 => number += 1,
            _ => return Err(not_ready(&reply)),
        }
    }
}

/// Defines the custom resource of the table, and waits until it is served.
async fn define_widgets(endpoint: &Endpoint, names: &Names) -> Result<(), ProbeError> {
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let probe = Probe::post(definitions, &table::widget_definition());
    let reply = endpoint.ask(&probe, names).await?;
    // It exists already if this server has been probed before.
    if !matches!(reply.status, 201 | 409) {
        return Err(not_ready(&reply));
    }
    wait_for(endpoint, &Probe::get(table::WIDGETS), 200, names).await
}

/// Repeats a request until its answer has a status.
async fn wait_for(
    endpoint: &Endpoint,
    probe: &Probe,
    status: u16,
    names: &Names,
) -> Result<(), ProbeError> {
    let mut looks = 0;
    loop {
        let reply = endpoint.ask(probe, names).await?;
        looks += 1;
        match reply.status {
            reached if reached == status => return Ok(()),
            _ if looks == LOOKS => return Err(not_ready(&reply)),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

fn not_ready(reply: &Reply) -> ProbeError {
    let answer = String::from_utf8_lossy(&reply.body);
    ProbeError::NotReady {
        answer: format!("{} {}", reply.status, answer.trim()),
    }
}
