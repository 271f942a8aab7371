//! The stages of an informer, wired by hand: no runtime, no transport, no informer.
//!
//! A script takes the place of the server. Every line begins with the stage that prints it:
//! bytes → decode → reflector → queue → indexer → processor → listener.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;

use informer_core::decode::form::LeanBody;
use informer_core::decode::{Body, Decode, Decoder, Lean};
use informer_core::flow::{Change, Fact};
use informer_core::indexer::{IndexFn, Indexer, Rules, StoreLimits};
use informer_core::processor::{Audience, ListenerConfig, ListenerId, Processor};
use informer_core::queue::{Queue, QueueKind, Relist};
use informer_core::reflector::{FirstState, Phase, Reflector, ReflectorConfig};
use informer_core::storage::{Heap, Seed};
use informer_core::transport::{Command, ExchangeId, Request};
use informer_core::{Encoding, Instant, Notification, Object};
use informer_examples::no_flags;

type Pod = Object<LeanBody>;

/// The answers of the server, one for each request.
const ANSWERS: [&str; 3] = [
    r#"{"kind":"PodList","metadata":{"resourceVersion":"10"},"items":[
        {"metadata":{"namespace":"default","name":"web-1","uid":"a","resourceVersion":"3","labels":{"app":"web"}}},
        {"metadata":{"namespace":"default","name":"db-1","uid":"b","resourceVersion":"7","labels":{"app":"db"}}}]}"#,
    r#"{"type":"ADDED","object":{"metadata":{"namespace":"default","name":"web-2","uid":"c","resourceVersion":"11","labels":{"app":"web"}}}}
{"type":"MODIFIED","object":{"metadata":{"namespace":"default","name":"web-1","uid":"a","resourceVersion":"12","labels":{"app":"web"}}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"15"}}}
{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}}
"#,
    // While there was no watch, web-1 was replaced by a new pod with the same name, and db-1 was deleted.
    r#"{"kind":"PodList","metadata":{"resourceVersion":"30"},"items":[
        {"metadata":{"namespace":"default","name":"web-1","uid":"z","resourceVersion":"25","labels":{"app":"web"}}},
        {"metadata":{"namespace":"default","name":"web-2","uid":"c","resourceVersion":"11","labels":{"app":"web"}}}]}"#,
];

/// All stages. No stage knows another one.
struct Stages {
    decoder: Decoder<Lean>,
    reflector: Reflector<Heap>,
    queue: Queue<Pod, Heap>,
    store: Indexer<Pod, Heap>,
    processor: Processor<Pod, Heap>,
    listener: ListenerId,
    now: Instant,
}

fn main() -> Result<(), Box<dyn Error>> {
    no_flags();
    let mut stages = Stages::new()?;
    let mut answers = ANSWERS.into_iter();
    loop {
        let due = stages.reflector.advance(stages.now);
        stages.file(due)?;
        while let Some(command) = stages.reflector.poll_command(stages.now) {
            let Command::Open { exchange, request } = command else {
                println!("reflector  aborts the request");
                continue;
            };
            println!("\nreflector  asks: {}", shown(request));
            let body = match request {
                Request::List { .. } => Body::List,
                Request::Watch { .. } => Body::Watch,
            };
            let Some(answer) = answers.next() else {
                println!("\nthe script is over. The index `app` is now:");
                print!("{}", stages.store.table("app")?);
                return Ok(());
            };
            stages.answer(exchange, body, answer)?;
        }
        if let Phase::Waiting { until, cause, .. } = stages.reflector.phase() {
            let seconds = until.since(stages.now).as_secs_f32();
            println!("reflector  waits {seconds:.1} s, because: {cause}");
            stages.now = until;
        }
    }
}

impl Stages {
    fn new() -> Result<Self, Box<dyn Error>> {
        let seed = Seed::new(1);
        let now = Instant::from_micros(0);
        let config = ReflectorConfig {
            first_state: FirstState::Listed,
            ..ReflectorConfig::new()
        };
        let mut reflector = Reflector::new(config, 1)?;
        reflector.start(now);
        let mut store = Indexer::new(seed.clone());
        let by_app = IndexFn::new(|pod: &Pod, file: &mut dyn FnMut(&[u8])| {
            if let Some(app) = pod.labels().get("app") {
                file(app.as_bytes());
            }
        });
        store.add_index("app", by_app)?;
        let mut processor = Processor::new(None, seed.clone());
        let listener = processor.add_listener(ListenerConfig::new(), &store, now)?;
        Ok(Self {
            decoder: Decoder::new(Lean),
            reflector,
            queue: Queue::new(
                QueueKind::DeltaFifo,
                Relist::Streamed,
                StoreLimits::NONE,
                seed,
            ),
            store,
            processor,
            listener,
            now,
        })
    }

    /// Feeds an answer of the server through all stages, in small pieces as from a socket.
    fn answer(
        &mut self,
        exchange: ExchangeId,
        body: Body,
        answer: &str,
    ) -> Result<(), Box<dyn Error>> {
        self.decoder.begin(body, Encoding::Json);
        let opened = self.reflector.handle(exchange, Fact::Opened, self.now);
        self.file(opened)?;
        for piece in answer.as_bytes().chunks(100) {
            let mut input = piece;
            while let Some(fact) = self.decoder.decode(&mut input) {
                println!("decode     {}", told(&fact));
                let change = self.reflector.handle(exchange, fact, self.now);
                self.file(change)?;
            }
        }
        self.deliver()
    }

    /// Puts a change into the queue. The queue looks up known objects in the store.
    fn file(&mut self, change: Option<Change<Pod>>) -> Result<(), Box<dyn Error>> {
        if let Some(change) = change {
            self.queue.push(change, &*self.store)?;
        }
        Ok(())
    }

    /// Applies the queued changes to the store and notifies the listener.
    fn deliver(&mut self) -> Result<(), Box<dyn Error>> {
        println!("queue      holds {} keys", self.queue.len());
        while let Some(step) = self.queue.next_from(&*self.store) {
            for notification in self.store.apply(step, Rules::default()).notifications {
                self.processor.publish(&notification, Audience::Everybody)?;
            }
        }
        if self.queue.is_synced() {
            self.processor.set_synced();
        }
        println!("indexer    holds {} pods", self.store.len());
        while let Some(notification) = self.processor.poll_notification(self.listener, &self.store)
        {
            println!("listener   {}", heard(&notification));
        }
        Ok(())
    }
}

fn shown(request: Request<'_>) -> String {
    match request {
        Request::List { version, limit, .. } => format!(
            "list, resourceVersion={:?}, limit={}",
            version.as_str(),
            limit.unwrap_or(0)
        ),
        Request::Watch {
            version, timeout, ..
        } => format!(
            "watch, resourceVersion={:?}, timeoutSeconds={}",
            version.as_str(),
            timeout.as_secs()
        ),
    }
}

fn told(fact: &Fact<'_, Pod>) -> String {
    match fact {
        Fact::Item(pod) => format!("an object of the list: {}", pod.key()),
        Fact::PageEnd { version, .. } => format!("the end of the list, version {version}"),
        Fact::Added(pod) => format!("ADDED {}", pod.key()),
        Fact::Modified(pod) => format!("MODIFIED {}", pod.key()),
        Fact::Deleted(pod) => format!("DELETED {}", pod.key()),
        Fact::Bookmark { version } => format!("BOOKMARK {version}"),
        Fact::Failed { failure, message } => format!("ERROR {failure:?}: {message}"),
        other => format!("{other:?}"),
    }
}

fn heard(notification: &Notification<Pod>) -> String {
    match notification {
        Notification::Added {
            object,
            initial,
            cause,
        } => {
            format!(
                "add    {} (initial: {initial}, cause: {cause:?})",
                object.key()
            )
        }
        Notification::Updated { old, new, cause } => format!(
            "update {} from {} to {} (cause: {cause:?})",
            new.key(),
            old.version(),
            new.version()
        ),
        Notification::Deleted {
            key,
            certainty,
            cause,
            ..
        } => {
            format!("delete {key} ({certainty:?}, cause: {cause:?})")
        }
    }
}
