//! Each call that changes an informer has an `Input`, which does the same as the method.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use informer_core::decode::form::LeanBody;
use informer_core::decode::{Decoder, Lean};
use informer_core::indexer::IndexFn;
use informer_core::informer::{Input, Output, Parts};
use informer_core::processor::{ListenerConfig, ListenerId};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Signal};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Instant, Object, SourceId};

type Pods = Informer<Decoder<Lean>, Heap>;

/// The names of all public methods that take `&mut self`, found in the source.
fn methods() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/informer");
    let mut methods = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        let Some(start) = source.find("> Informer<D, S> {") else {
            continue;
        };
        for part in source[start..].split("    pub fn ").skip(1) {
            let (name, rest) = part
                .split_once(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap();
            let arguments = rest.split("->").next().unwrap().split('{').next().unwrap();
            if arguments.contains("&mut self") {
                methods.push(name.to_owned());
            }
        }
    }
    methods
}

fn camel(name: &str) -> String {
    let upper = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(upper).collect()
}

#[test]
fn every_method_that_changes_an_informer_has_an_input() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/informer/input.rs");
    let inputs = fs::read_to_string(path).unwrap();
    let inputs = inputs
        .split("pub enum Input")
        .nth(1)
        .unwrap()
        .split("\n}\n")
        .next()
        .unwrap();
    let mut methods = methods();
    methods.retain(|name| name != "apply");
    assert!(methods.len() >= 13, "{methods:?}");
    for method in methods {
        let input = format!("\n    {}", camel(&method));
        let found = inputs.match_indices(&input).any(|(at, _)| {
            let next = inputs[at + input.len()..].chars().next();
            matches!(next, Some(' ' | ',' | '('))
        });
        assert!(found, "`{method}` has no `Input::{}`", camel(&method));
    }
}

/// The functions and decoders that inputs name.
struct Named;

impl Parts<Decoder<Lean>> for Named {
    fn index_function(&self, name: &str) -> Option<IndexFn<Object<LeanBody>>> {
        by_app(name)
    }

    fn decoder(&self, name: &str) -> Option<Decoder<Lean>> {
        (name == "lean").then(|| Decoder::new(Lean))
    }
}

fn by_app(name: &str) -> Option<IndexFn<Object<LeanBody>>> {
    (name == "app").then(|| {
        IndexFn::new(|pod: &Object<LeanBody>, file: &mut dyn FnMut(&[u8])| {
            if let Some(app) = pod.labels().get("app") {
                file(app.as_bytes());
            }
        })
    })
}

const EVENTS: &str = r#"{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"x","uid":"1","resourceVersion":"3","labels":{"app":"web"}}}}
{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"y","uid":"2","resourceVersion":"4","labels":{"app":"db"}}}}
{"type":"ADDED","object":{"metadata":{"namespace":"a","resourceVersion":"5"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}}
{"type":"MODIFIED","object":{"metadata":{"namespace":"a","name":"x","uid":"1","resourceVersion":"9","labels":{"app":"db"}}}}
{"type":"DELETED","object":{"metadata":{"namespace":"a","name":"y","uid":"2","resourceVersion":"10"}}}
"#;

fn new() -> Pods {
    let config = InformerConfig {
        resync: Some(Duration::from_secs(30)),
        ..InformerConfig::new()
    };
    Informer::new(Decoder::new(Lean), config, 7).unwrap()
}

/// A whole run, with every kind of input.
fn life(exchanges: [ExchangeId; 2], [first, second]: [ListenerId; 2]) -> Vec<Input<'static>> {
    let at = Instant::from_micros;
    let config = ListenerConfig::new();
    let mut inputs = vec![
        Input::AddIndex {
            name: "by-app",
            function: "app",
        },
        Input::AddIndex {
            name: "other",
            function: "unknown",
        },
        Input::AddIndex {
            name: "by-app",
            function: "app",
        },
        Input::AddListener { config, now: at(1) },
        Input::Start { now: at(2) },
        Input::PollCommand { now: at(3) },
        Input::Signal {
            exchange: exchanges[0],
            signal: Signal::Opened(Encoding::Json),
            now: at(4),
        },
    ];
    let pieces = EVENTS.as_bytes().chunks(50).zip(5..);
    inputs.extend(pieces.map(|(piece, now)| Input::Signal {
        exchange: exchanges[0],
        signal: Signal::Bytes(piece),
        now: at(now),
    }));
    inputs.extend([
        Input::PollReadyListener,
        Input::PollNotification(first),
        Input::PollNotifications {
            listener: first,
            most: 8,
        },
        Input::AddListener {
            config,
            now: at(60),
        },
        Input::SkipReplay(second),
        Input::PollNotifications {
            listener: second,
            most: 1,
        },
        Input::PollRejected,
        Input::Advance {
            now: at(40_000_000),
        },
        Input::PollNotifications {
            listener: first,
            most: 8,
        },
        Input::Signal {
            exchange: exchanges[0],
            signal: Signal::Failed {
                failure: Failure::Expired,
                message: "too old",
            },
            now: at(50_000_000),
        },
        Input::Advance {
            now: at(90_000_000),
        },
        Input::PollCommand {
            now: at(90_000_001),
        },
        Input::Signal {
            exchange: exchanges[1],
            signal: Signal::Opened(Encoding::Json),
            now: at(90_000_002),
        },
        Input::AddSource {
            decoder: "lean",
            now: at(90_000_003),
        },
        Input::ExpectSources {
            more: true,
            now: at(90_000_003),
        },
        Input::ExpectSources {
            more: false,
            now: at(90_000_003),
        },
        Input::AddSource {
            decoder: "unknown",
            now: at(90_000_003),
        },
        Input::PollCommandOf {
            source: SourceId::FIRST,
            now: at(90_000_003),
        },
        Input::PollCommand {
            now: at(90_000_003),
        },
        Input::RemoveSource {
            source: SourceId::FIRST,
            now: at(90_000_004),
        },
        Input::RemoveSource {
            source: SourceId::FIRST,
            now: at(90_000_004),
        },
        Input::PollNotifications {
            listener: first,
            most: 8,
        },
        Input::PollCommandOf {
            source: SourceId::FIRST,
            now: at(90_000_004),
        },
        Input::RemoveIndex { name: "by-app" },
        Input::RemoveIndex { name: "by-app" },
        Input::RemoveListener(second),
        Input::RemoveListener(second),
        Input::PauseListener(first),
        Input::PauseListener(second),
        Input::Suspend {
            now: at(90_000_003),
        },
        Input::PollCommand {
            now: at(90_000_004),
        },
        Input::Hurry {
            now: at(90_000_005),
        },
        Input::DefinitionDeleted {
            now: at(90_000_005),
        },
        Input::Resume {
            now: at(90_000_006),
        },
        Input::ResumeListener(first),
        Input::PollReadyListener,
        Input::PollCommand {
            now: at(90_000_007),
        },
        Input::Stop {
            now: at(100_000_000),
        },
        Input::PollCommand {
            now: at(100_000_001),
        },
        Input::AddListener {
            config,
            now: at(100_000_002),
        },
    ]);
    inputs
}

/// The ids of exchanges and listeners, which depend only on the calls made.
fn ids() -> ([ExchangeId; 2], [ListenerId; 2]) {
    let mut informer = new();
    let mut now = Instant::from_micros(1);
    let listeners = [(); 2].map(|()| informer.add_listener(ListenerConfig::new(), now).unwrap());
    informer.start(now);
    let exchanges = [(); 2].map(|()| {
        loop {
            informer.advance(now);
            if let Some(Command::Open { exchange, .. }) = informer.poll_command(now) {
                let failed = Signal::Failed {
                    failure: Failure::Unreachable,
                    message: "",
                };
                assert_eq!(informer.signal(exchange, failed, now), Some(0));
                break exchange;
            }
            now = informer.next_deadline().unwrap();
        }
    });
    (exchanges, listeners)
}

fn play(inputs: &[Input<'_>]) -> Vec<String> {
    let mut informer = new();
    let mut outputs = Vec::new();
    for input in inputs {
        informer.apply(*input, &Named, |output| outputs.push(format!("{output:?}")));
        outputs.push(format!(
            "{:?} {:?}",
            informer.status(),
            informer.next_deadline()
        ));
    }
    outputs
}

#[test]
fn the_same_seed_and_inputs_give_the_same_outputs() {
    let (exchanges, listeners) = ids();
    let inputs = life(exchanges, listeners);
    let outputs = play(&inputs);
    assert_eq!(outputs, play(&inputs));
    let all = outputs.join("\n");
    for part in [
        "initial: true",
        "Updated",
        "Deleted",
        "Resync",
        "UnknownName",
        "SourceAdded(Ok",
        "SourceRemoved",
        "NameTaken",
        "Stopped",
        "Abort",
    ] {
        assert!(all.contains(part), "{part} does not occur:\n{all}");
    }
}

#[test]
fn an_input_does_what_its_method_does() {
    let (exchanges, listeners) = ids();
    let mut informer = new();
    let mut outputs = Vec::new();
    for input in life(exchanges, listeners) {
        let output: Output<'_, Decoder<Lean>, Heap> = match input {
            Input::Start { now } => {
                informer.start(now);
                Output::Done
            }
            Input::Stop { now } => {
                informer.stop(now);
                Output::Done
            }
            Input::Signal {
                exchange,
                signal,
                now,
            } => Output::Used(informer.signal(exchange, signal, now)),
            Input::Advance { now } => {
                informer.advance(now);
                Output::Done
            }
            Input::PollCommand { now } => {
                outputs.push(format!("Command({:?})", informer.poll_command(now)));
                outputs.push(format!(
                    "{:?} {:?}",
                    informer.status(),
                    informer.next_deadline()
                ));
                continue;
            }
            Input::AddListener { config, now } => Output::Added(informer.add_listener(config, now)),
            Input::SkipReplay(listener) => {
                informer.skip_replay(listener);
                Output::Done
            }
            Input::Suspend { now } => {
                informer.suspend(now);
                Output::Done
            }
            Input::Resume { now } => {
                informer.resume(now);
                Output::Done
            }
            Input::Hurry { now } => {
                informer.hurry(now);
                Output::Done
            }
            Input::DefinitionDeleted { now } => {
                informer.definition_deleted(now);
                Output::Done
            }
            Input::PauseListener(listener) => Output::Exists(informer.pause_listener(listener)),
            Input::ResumeListener(listener) => Output::Exists(informer.resume_listener(listener)),
            Input::RemoveListener(listener) => Output::Removed(informer.remove_listener(listener)),
            Input::PollReadyListener => Output::Ready(informer.poll_ready_listener()),
            Input::PollNotification(listener) => {
                Output::Notification(informer.poll_notification(listener))
            }
            Input::PollNotifications { listener, most } => {
                let given = informer.poll_notifications(listener, most, |notification| {
                    outputs.push(format!("Notification({:?})", Some(notification)));
                });
                Output::Given(given)
            }
            Input::PollRejected => Output::Rejected(informer.poll_rejected()),
            Input::AddIndex { name, function } => match by_app(function) {
                Some(function) => Output::IndexAdded(informer.add_index(name, function)),
                None => Output::UnknownName,
            },
            Input::AddSource { decoder, now } => match Named.decoder(decoder) {
                Some(decoder) => Output::SourceAdded(informer.add_source(decoder, now)),
                None => Output::UnknownName,
            },
            Input::ExpectSources { more, now } => {
                informer.expect_sources(more, now);
                Output::Done
            }
            Input::RemoveSource { source, now } => {
                Output::Removed(informer.remove_source(source, now))
            }
            Input::PollCommandOf { source, now } => {
                let command = informer.poll_command_of(source, now);
                outputs.push(format!("Command({command:?})"));
                outputs.push(format!(
                    "{:?} {:?}",
                    informer.status(),
                    informer.next_deadline()
                ));
                continue;
            }
            Input::RemoveIndex { name } => Output::IndexRemoved(informer.remove_index(name)),
        };
        outputs.push(format!("{output:?}"));
        outputs.push(format!(
            "{:?} {:?}",
            informer.status(),
            informer.next_deadline()
        ));
    }
    assert_eq!(outputs, play(&life(exchanges, listeners)));
}
