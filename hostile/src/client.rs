//! The program that meets a hostile server. It runs in a process of its own, so that its memory can be
//! measured, and does what any program does: it starts an informer and waits.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer::informer_transport_hyper::{HttpVersion, Secret, Settings};
use informer::{Client, Config, InformerBuilder, LeanBody, SharedInformer, Target};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::mode::{MOST_BYTES, MOST_OBJECTS, Program};
use crate::server::good::AFTER;

/// How long it takes to start the program again.
const AGAIN: Duration = Duration::from_millis(500);

/// How often the store is looked at while it is to become right.
const LOOK: Duration = Duration::from_millis(20);

/// How a client is told what to do.
pub(crate) struct Orders {
    pub(crate) url: String,
    pub(crate) http: HttpVersion,
    pub(crate) ca: String,
    pub(crate) program: Program,
}

type Pods = SharedInformer<LeanBody>;

/// What can be said about it.
#[derive(Clone)]
enum Outcome {
    NotYet(String),
    Runs(Pods),
}

/// Meets the server. Each line on the standard input is a question, each line on the standard output
/// its answer; it ends with the input.
pub(crate) async fn run(orders: Orders) -> Result<(), Box<dyn Error>> {
    let (sender, outcome) = watch::channel(Outcome::NotYet("it has not begun".to_owned()));
    let client = connect(&orders)?;
    let again = Arc::new(Notify::new());
    tokio::spawn(begin(client, orders.program, sender, Arc::clone(&again)));
    let mut questions = BufReader::new(stdin()).lines();
    while let Some(question) = questions.next_line().await? {
        let answer = match question.as_str() {
            "status" => {
                let outcome = outcome.borrow().clone();
                status(outcome).await
            }
            _ => {
                again.notify_one();
                recovered(&outcome).await
            }
        };
        println!("{answer}");
    }
    Ok(())
}

fn connect(orders: &Orders) -> Result<Client, Box<dyn Error>> {
    let mut settings = Settings::new();
    settings.http = orders.http;
    let mut config = Config::new(&orders.url)?.with_settings(settings);
    if orders.url.starts_with("https") {
        let token = Secret::from("hostile-s3cret".to_owned());
        config = config.with_ca_file(&orders.ca).with_token(token);
    }
    Ok(Client::new(config)?)
}

async fn begin(
    client: Client,
    program: Program,
    outcome: watch::Sender<Outcome>,
    again: Arc<Notify>,
) {
    if program == Program::ResolvesFirst {
        let mut is_again = false;
        while let Err(error) = client.resolve("pods").await {
            outcome.send_replace(Outcome::NotYet(error.to_string()));
            // Somebody starts the program again when the server is good, and then as often as it takes.
            if !is_again {
                again.notified().await;
            }
            is_again = true;
            sleep(AGAIN).await;
        }
    }
    let mut builder = InformerBuilder::lean(Target::new("", "v1", "pods"));
    if program == Program::InformsWithinLimits {
        builder = builder.max_objects(MOST_OBJECTS).max_bytes(MOST_BYTES);
    }
    match builder.start(&client) {
        Ok(pods) => outcome.send_replace(Outcome::Runs(pods)),
        Err(error) => outcome.send_replace(Outcome::NotYet(error.to_string())),
    };
    // The runtime ends with the process.
    std::future::pending::<()>().await;
}

/// What a user sees: why it is not synced, or what went wrong last.
async fn status(outcome: Outcome) -> serde_json::Value {
    let pods = match outcome {
        Outcome::NotYet(message) => return json!({"message": message}),
        Outcome::Runs(pods) => pods,
    };
    let message = match pods.synced(Duration::ZERO).await {
        Err(error) => error.reason,
        Ok(()) => pods.status().last_failure.map_or_else(
            || "synced, without a failure".to_owned(),
            |last| format!("synced; {} ({})", last.failure, last.message),
        ),
    };
    json!({"message": message})
}

/// Waits until the store is as the good server has it.
async fn recovered(outcome: &watch::Receiver<Outcome>) -> serde_json::Value {
    let began = Instant::now();
    loop {
        if let Outcome::Runs(pods) = &*outcome.borrow()
            && is_right(pods)
        {
            break;
        }
        sleep(LOOK).await;
    }
    json!({"seconds": began.elapsed().as_secs_f64()})
}

fn is_right(pods: &Pods) -> bool {
    let expected: BTreeMap<String, String> = AFTER
        .1
        .iter()
        .map(|(name, version)| (format!("web/{name}"), (*version).to_owned()))
        .collect();
    if !pods.is_synced() || pods.status().objects != expected.len() {
        return false;
    }
    let snapshot = pods.snapshot();
    let found: BTreeMap<String, String> = snapshot
        .iter()
        .map(|object| (object.key.to_string(), object.version.to_string()))
        .collect();
    found == expected
}
