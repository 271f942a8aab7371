//! The family `shared_informer`: a whole informer, with a scripted server and a scripted clock.

// Handlers, and what they are told.
mod handlers;

use alloc::collections::VecDeque;
use core::time::Duration;

use informer_core::decode::{JsonDecoder, Typed};
use informer_core::processor::{ListenerConfig, Resync};
use informer_core::queue::QueueKind;
use informer_core::reflector::{FirstState, Phase};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request, Signal};
use informer_core::{Informer, InformerConfig, Instant};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::{self, Refusal};
use crate::vector::{Case, Mismatch, Objects, Payload, Ref, TransformName};
use handlers::Handlers;

/// Sizes of the pieces in which the server's bytes arrive, over and over: any border must do.
const PIECES: [usize; 7] = [1, 7, 2, 61, 3, 17, 5];

/// So many times the clock may be moved within one step; a script that goes on longer is broken.
const MOST_HOPS: usize = 10_000;

#[derive(Deserialize)]
struct Config {
    queue: Queue,
    transport: Transport,
    #[serde(default)]
    resync_ms: u64,
    #[serde(default)]
    transform: TransformName,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Queue {
    DeltaFifo,
    RealFifoAtomic,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Transport {
    List,
    WatchList,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Op {
    AddHandler {
        h: String,
        resync_ms: Option<u64>,
        filter: Option<String>,
    },
    RemoveHandler {
        h: String,
    },
    // A start on `hold` is one without a list: the request stays unanswered.
    Start(Answers),
    ListReply(Answers),
    Event(Event),
    Bookmark {
        rv: String,
    },
    Burst {
        events: Vec<Event>,
    },
    WatchError {
        code: u16,
        reason: String,
        #[serde(flatten)]
        answers: Answers,
    },
    WatchClose(Answers),
    Advance {
        ms: u64,
    },
    Stop,
}

/// What the server answers to the requests of one step.
#[derive(Default, Deserialize)]
struct Answers {
    list: Option<List>,
    #[serde(default)]
    list_errors: VecDeque<Refusal>,
    #[serde(default)]
    watch_errors: VecDeque<Refusal>,
}

#[derive(Deserialize)]
struct List {
    rv: String,
    items: Vec<Ref>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: EventKind,
    obj: Ref,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum EventKind {
    Added,
    Modified,
    Deleted,
}

/// Whether the case is about the in-order queue that takes a full state apart, which we do not have.
pub(crate) fn is_plain(case: &Case) -> bool {
    case.config.get("queue").and_then(Value::as_str) == Some("real_fifo")
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    let mut run = Run::new(case).map_err(Mismatch::before_the_steps)?;
    case.replay(|op| run.play(op))
}

/// The informer under test, as it is used inside this family.
type Tested = Informer<JsonDecoder<Typed<Payload>>, Heap>;

struct Run<'a> {
    objects: &'a Objects,
    informer: Tested,
    handlers: Handlers,
    now: Instant,
    answers: Answers,
    /// A request that was not answered yet.
    request: Option<(ExchangeId, Asked)>,
    /// The watch over which events go.
    watch: Option<ExchangeId>,
    /// What the server was asked in this step.
    calls: Vec<Value>,
    /// The next one of the [`PIECES`].
    piece: usize,
}

#[derive(Clone, Copy)]
enum Asked {
    List,
    StreamedList,
    Watch,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Result<Self, String> {
        let config: Config = case.config()?;
        let mut informer_config = InformerConfig::client_go(match config.queue {
            Queue::DeltaFifo => QueueKind::DeltaFifo,
            Queue::RealFifoAtomic => QueueKind::InOrder,
        });
        informer_config.reflector.first_state = match config.transport {
            Transport::List => FirstState::Listed,
            Transport::WatchList => FirstState::Streamed,
        };
        let resync = Duration::from_millis(config.resync_ms);
        informer_config.resync = Some(resync).filter(|period| !period.is_zero());

        let decoder = JsonDecoder::new(Typed::new());
        let informer = Informer::new(decoder, informer_config, case.seed);
        let mut informer = informer.map_err(|error| error.to_string())?;
        if let Some(transform) = config.transform.function() {
            informer = informer.with_transform(transform);
        }
        Ok(Self {
            objects: &case.objects,
            informer,
            handlers: Handlers::default(),
            now: Instant::from_micros(1_000_000),
            answers: Answers::default(),
            request: None,
            watch: None,
            calls: Vec::new(),
            piece: 0,
        })
    }

    fn play(&mut self, op: Op) -> Result<Value, String> {
        self.answers = Answers::default();
        let mut failed = false;
        match op {
            Op::AddHandler {
                h,
                resync_ms,
                filter,
            } => {
                let config = ListenerConfig {
                    resync: match resync_ms {
                        None => Resync::Default,
                        Some(0) => Resync::Never,
                        Some(ms) => Resync::Every(Duration::from_millis(ms)),
                    },
                    ..ListenerConfig::client_go()
                };
                match self.informer.add_listener(config, self.now) {
                    Ok(listener) => self.handlers.add(h, listener, filter),
                    Err(_) => failed = true,
                }
            }
            Op::RemoveHandler { h } => {
                let listener = self.handlers.remove(&h);
                if !listener.is_some_and(|id| self.informer.remove_listener(id)) {
                    return Err(format!("there is no handler {h:?}"));
                }
            }
            Op::Start(answers) => {
                self.informer.start(self.now);
                self.answers = answers;
                self.run_until_watching()?;
            }
            Op::ListReply(answers) => {
                self.answers = answers;
                self.run_until_watching()?;
            }
            Op::Event(event) => self.send_events(&[event])?,
            Op::Burst { events } => self.send_events(&events)?,
            Op::Bookmark { rv } => self.send(&server::bookmark(&rv))?,
            Op::WatchError {
                code,
                reason,
                answers,
            } => {
                self.answers = answers;
                self.send(&Refusal::new(code, reason).event())?;
                self.run_until_watching()?;
            }
            Op::WatchClose(answers) => {
                self.answers = answers;
                if let Some(watch) = self.watch.take() {
                    self.signal(watch, Signal::Closed)?;
                }
                self.run_until_watching()?;
            }
            Op::Advance { ms } => {
                let target = self.now.after(Duration::from_millis(ms));
                self.run_until(target)?;
            }
            Op::Stop => self.informer.stop(self.now),
        }
        self.settle()?;
        Ok(self.state(failed))
    }

    /// What every answer tells about the informer.
    fn state(&mut self, failed: bool) -> Value {
        let store = self.informer.store();
        json!({
            "err": failed,
            "notes": self.handlers.take_notes(),
            "calls": core::mem::take(&mut self.calls),
            "store": self.objects.by_key(store.iter()),
            "last_rv": self.informer.reflector().version(),
            "store_rv": store.version(),
            "synced": self.informer.is_synced(),
            "handlers": self.handlers.synced(&self.informer),
        })
    }

    /// Lets the clock run until the informer watches again, or waits for an answer that is not in the
    /// script. It stops at every deadline on the way.
    fn run_until_watching(&mut self) -> Result<(), String> {
        for _ in 0..MOST_HOPS {
            self.settle()?;
            if !matches!(self.informer.reflector().phase(), Phase::Waiting { .. }) {
                return Ok(());
            }
            let deadline = self.informer.next_deadline();
            self.hop(deadline.ok_or("it waits, but not for the clock")?);
        }
        Err(format!("not watching again after {MOST_HOPS} deadlines"))
    }

    /// Lets the clock run up to `target`, stopping at every deadline on the way.
    fn run_until(&mut self, target: Instant) -> Result<(), String> {
        for _ in 0..MOST_HOPS {
            self.settle()?;
            match self.informer.next_deadline() {
                Some(deadline) if deadline <= target => self.hop(deadline),
                _ => {
                    self.hop(target);
                    return Ok(());
                }
            }
        }
        Err(format!("time stands still after {MOST_HOPS} deadlines"))
    }

    fn hop(&mut self, to: Instant) {
        self.now = self.now.max(to);
        self.informer.advance(self.now);
    }

    /// Answers and delivers until nothing moves any more.
    fn settle(&mut self) -> Result<(), String> {
        loop {
            self.take_commands();
            self.handlers.listen(&mut self.informer, self.objects);
            if !self.answer()? {
                return Ok(());
            }
        }
    }

    /// Takes note of what the informer asks for.
    fn take_commands(&mut self) {
        while let Some(command) = self.informer.poll_command(self.now) {
            let (exchange, request) = match command {
                Command::Open { exchange, request } => (exchange, request),
                Command::Abort(exchange) => {
                    self.watch = self.watch.filter(|watch| *watch != exchange);
                    self.request = self.request.filter(|(asked, _)| *asked != exchange);
                    continue;
                }
            };
            let (call, asked) = match request {
                // This server never pages: a request for a page equals nothing that was recorded.
                Request::List {
                    page: Some(page), ..
                } => (json!({"call": "list", "page": page}), Asked::List),
                Request::List { version, limit, .. } => {
                    let limit = limit.unwrap_or(0);
                    let call = json!({"call": "list", "rv": version.as_str(), "limit": limit});
                    (call, Asked::List)
                }
                Request::Watch {
                    version,
                    initial_events: true,
                    ..
                } => (
                    json!({"call": "watch", "rv": version.as_str(), "initial_events": true}),
                    Asked::StreamedList,
                ),
                Request::Watch { version, .. } => {
                    let call = json!({"call": "watch", "rv": version.as_str()});
                    (call, Asked::Watch)
                }
            };
            self.calls.push(call);
            self.watch = None;
            self.request = Some((exchange, asked));
        }
    }

    /// Answers the request under way, if the script has an answer. Says whether it did.
    fn answer(&mut self) -> Result<bool, String> {
        let Some((exchange, asked)) = self.request else {
            return Ok(false);
        };
        let refusal = match asked {
            Asked::List | Asked::StreamedList => self.answers.list_errors.pop_front(),
            Asked::Watch => self.answers.watch_errors.pop_front(),
        };
        if let Some(refusal) = refusal {
            self.request = None;
            let (failure, message) = refusal.failure();
            let message = message.as_str();
            self.signal(exchange, Signal::Failed { failure, message })?;
            return Ok(true);
        }
        let body = match (asked, &self.answers.list) {
            (Asked::Watch, _) => String::new(),
            (Asked::List | Asked::StreamedList, None) => return Ok(false),
            (Asked::List, Some(List { rv, items })) => {
                server::list(rv, &self.objects.get_all(items)?)
            }
            (Asked::StreamedList, Some(List { rv, items })) => {
                server::streamed_list(rv, &self.objects.get_all(items)?)
            }
        };
        self.request = None;
        self.signal(exchange, Signal::Opened)?;
        if let Asked::List = asked {
            self.deliver(exchange, &body)?;
            self.signal(exchange, Signal::Closed)?;
        } else {
            self.watch = Some(exchange);
            self.deliver(exchange, &body)?;
        }
        Ok(true)
    }

    fn send_events(&mut self, events: &[Event]) -> Result<(), String> {
        let mut lines = String::new();
        for Event { kind, obj } in events {
            let kind = match kind {
                EventKind::Added => "ADDED",
                EventKind::Modified => "MODIFIED",
                EventKind::Deleted => "DELETED",
            };
            lines.push_str(&server::event(kind, &self.objects.get(*obj)?));
        }
        self.send(&lines)
    }

    /// Sends lines over the open watch. Without one there is nobody to send them to.
    fn send(&mut self, lines: &str) -> Result<(), String> {
        match self.watch {
            Some(watch) => self.deliver(watch, lines),
            None => Ok(()),
        }
    }

    /// Delivers a body piece by piece.
    fn deliver(&mut self, exchange: ExchangeId, body: &str) -> Result<(), String> {
        let mut left = body.as_bytes();
        while !left.is_empty() {
            self.piece = (self.piece + 1) % PIECES.len();
            let size = PIECES.get(self.piece).copied().unwrap_or(1);
            let piece = left.get(..size).unwrap_or(left);
            let used = self.signal(exchange, Signal::Bytes(piece))?;
            left = left.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    fn signal(&mut self, exchange: ExchangeId, signal: Signal<'_>) -> Result<usize, String> {
        let used = self.informer.signal(exchange, signal, self.now);
        match (used, signal) {
            (Some(0), Signal::Bytes(_)) | (None, _) => {
                Err("the informer takes nothing, though no handler may hold it back".to_owned())
            }
            (Some(used), _) => Ok(used),
        }
    }
}
