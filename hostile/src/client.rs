//! The program under test. It runs in its own process, so that its memory can be measured. Like any
//! program, it starts an informer and waits.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer::informer_transport_hyper::{HttpVersion, Secret, Settings};
use informer::{Client, Config, Encoding, InformerBuilder, LeanBody, SharedInformer, Target};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::mode::{MOST_BYTES, MOST_OBJECTS, Program};
use crate::server::good::AFTER;

/// How long a restart of the program takes.
const AGAIN: Duration = Duration::from_millis(500);

/// How often the store is checked during recovery.
const LOOK: Duration = Duration::from_millis(20);

/// The parameters of a client.
pub(crate) struct Orders {
    pub(crate) url: String,
    pub(crate) http: HttpVersion,
    pub(crate) ca: String,
    pub(crate) program: Program,
}

type Pods = SharedInformer<LeanBody>;

/// The state of the informer, as far as it can be reported.
#[derive(Clone)]
enum Outcome {
    NotYet(String),
    Runs(Pods),
}

/// Runs against the server. Each line on stdin is a question, each line on stdout its answer. It
/// ends with its input.
pub(crate) async fn run(orders: Orders) -> Result<(), Box<dyn Error>> {
    let (sender, outcome) = watch::channel(Outcome::NotYet("it has not started".to_owned()));
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
                recovered(&outcome, orders.program).await
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
            // When the server turns good, the program is restarted until it succeeds.
            if !is_again {
                again.notified().await;
            }
            is_again = true;
            sleep(AGAIN).await;
        }
    }
    let mut builder = InformerBuilder::lean_at(Target::new("", "v1", "pods"));
    if program == Program::InformsWithinLimits {
        builder = builder.max_objects(MOST_OBJECTS).max_bytes(MOST_BYTES);
    }
    if program == Program::ReadsProtobuf {
        builder = builder.protobuf();
    }
    match builder.start(&client) {
        Ok(pods) => outcome.send_replace(Outcome::Runs(pods)),
        Err(error) => outcome.send_replace(Outcome::NotYet(error.to_string())),
    };
    // The runtime ends with the process.
    std::future::pending::<()>().await;
}

/// What a user sees: why the informer is not synced, or its last failure, and how many objects were left out.
async fn status(outcome: Outcome) -> serde_json::Value {
    let pods = match outcome {
        Outcome::NotYet(message) => return json!({"message": message}),
        Outcome::Runs(pods) => pods,
    };
    let mut message = match pods.synced(Duration::ZERO).await {
        Err(error) => error.reason,
        Ok(()) => pods.status().last_failure.map_or_else(
            || "synced, without a failure".to_owned(),
            |last| format!("synced; {} ({})", last.failure, last.message),
        ),
    };
    let rejected = pods.status().counts.rejected;
    if rejected > 0 {
        message.push_str(&format!("; {rejected} left out"));
    }
    json!({"message": message})
}

/// Waits until the store matches the good server.
async fn recovered(outcome: &watch::Receiver<Outcome>, program: Program) -> serde_json::Value {
    let began = Instant::now();
    loop {
        if let Outcome::Runs(pods) = &*outcome.borrow()
            && is_right(pods, program)
        {
            break;
        }
        sleep(LOOK).await;
    }
    json!({"seconds": began.elapsed().as_secs_f64()})
}

fn is_right(pods: &Pods, program: Program) -> bool {
    let expected: BTreeMap<String, String> = AFTER
        .1
        .iter()
        .map(|(name, version)| (format!("web/{name}"), (*version).to_owned()))
        .collect();
    if !pods.is_synced() || pods.status().objects != expected.len() {
        return false;
    }
    let encoding = match program {
        Program::ReadsProtobuf => Encoding::Protobuf,
        _ => Encoding::Json,
    };
    let snapshot = pods.snapshot();
    let found: BTreeMap<String, String> = snapshot
        .iter()
        .map(|object| (object.key().to_string(), object.version().to_string()))
        .collect();
    found == expected && snapshot.iter().all(|object| object.encoding() == encoding)
}
