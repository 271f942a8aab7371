//! The family `shared_informer`: a whole informer, with a scripted server and a scripted clock.

// The server of a case.
mod scripted_server;

// What handlers record.
mod notes;

// The interface of an informer under test.
mod backend;

// The core, driven by hand.
mod by_hand;

// The crate `informer`.
mod front_door;

use core::time::Duration;

use informer_core::processor::{ListenerConfig, Resync};
use informer_core::queue::QueueKind;
use informer_core::reflector::{FirstState, Phase};
use informer_core::{InformerConfig, Instant};
use informer_transport_mock::VirtualClock;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Way;
use crate::server::{self, Refusal};
use crate::vector::{Case, Mismatch, Objects, Ref, TransformName};
use backend::{Backend, Seen, Setup};
use by_hand::ByHand;
use front_door::FrontDoor;
use notes::Notes;
use scripted_server::{FullState, Refusals, ScriptedServer};

/// How often the clock may move within one step. A script that needs more is broken.
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
    // A start on `hold` has no list: the request stays unanswered.
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

/// The server's answers to the requests of one step.
#[derive(Deserialize)]
struct Answers {
    list: Option<List>,
    #[serde(flatten)]
    refusals: Refusals,
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

/// Whether the case uses the non-atomic in-order queue, which we do not have.
pub(crate) fn is_plain(case: &Case) -> bool {
    case.config.get("queue").and_then(Value::as_str) == Some("real_fifo")
}

pub(crate) fn replay(case: &Case, way: Way) -> Result<(), Mismatch> {
    match way {
        Way::ByHand => replay_with::<ByHand>(case),
        Way::FrontDoor => replay_with::<FrontDoor>(case),
    }
}

fn replay_with<B: Backend>(case: &Case) -> Result<(), Mismatch> {
    let mut run = Run::<B>::new(case).map_err(Mismatch::before_the_steps)?;
    case.replay(|op| run.play(op))
}

struct Run<'a, B> {
    objects: &'a Objects,
    informer: B,
    server: ScriptedServer,
    clock: VirtualClock,
    notes: Notes,
}

impl<'a, B: Backend> Run<'a, B> {
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

        let server = ScriptedServer::default();
        let clock = VirtualClock::new();
        let informer = B::new(Setup {
            config: informer_config,
            transform: config.transform,
            seed: case.seed,
            server: server.clone(),
            clock: clock.clone(),
        })?;
        Ok(Self {
            objects: &case.objects,
            informer,
            server,
            clock,
            notes: Notes::default(),
        })
    }

    fn play(&mut self, op: Op) -> Result<Value, String> {
        // Answers are for the requests of their step.
        self.server.follow(None, Refusals::default());
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
                let hear = self.notes.handler(&h, filter);
                failed = self.informer.add_handler(&h, config, hear).is_err();
            }
            Op::RemoveHandler { h } => self.informer.remove_handler(&h)?,
            Op::Start(answers) => {
                self.informer.start()?;
                self.follow(answers)?;
                self.run_until_watching()?;
            }
            Op::ListReply(answers) => {
                self.follow(answers)?;
                self.run_until_watching()?;
            }
            Op::Event(event) => self.send_events(&[event])?,
            Op::Burst { events } => self.send_events(&events)?,
            Op::Bookmark { rv } => self.server.send(&server::bookmark(&rv)),
            Op::WatchError {
                code,
                reason,
                answers,
            } => {
                self.follow(answers)?;
                self.server.send(&Refusal::new(code, reason).event());
                self.run_until_watching()?;
            }
            Op::WatchClose(answers) => {
                self.follow(answers)?;
                self.server.close();
                self.run_until_watching()?;
            }
            Op::Advance { ms } => {
                let target = self.clock.now().after(Duration::from_millis(ms));
                self.run_until(target)?;
            }
            Op::Stop => self.informer.stop(),
        }
        self.informer.settle()?;
        Ok(self.state(failed))
    }

    /// The state of the informer, which every answer contains.
    fn state(&self, failed: bool) -> Value {
        let Seen {
            version,
            store,
            store_version,
            synced,
            handlers,
        } = self.informer.look();
        json!({
            "err": failed,
            "notes": self.notes.take(self.objects),
            "calls": self.server.take_calls(),
            "store": self.objects.by_key(&store),
            "last_rv": version,
            "store_rv": store_version,
            "synced": synced,
            "handlers": handlers,
        })
    }

    fn follow(&self, Answers { list, refusals }: Answers) -> Result<(), String> {
        let full_state = |List { rv, items }: List| {
            Ok::<_, String>(FullState {
                version: rv,
                objects: self.objects.get_all(&items)?,
            })
        };
        self.server
            .follow(list.map(full_state).transpose()?, refusals);
        Ok(())
    }

    fn send_events(&self, events: &[Event]) -> Result<(), String> {
        let mut lines = String::new();
        for Event { kind, obj } in events {
            let kind = match kind {
                EventKind::Added => "ADDED",
                EventKind::Modified => "MODIFIED",
                EventKind::Deleted => "DELETED",
            };
            lines.push_str(&server::event(kind, &self.objects.get(*obj)?));
        }
        self.server.send(&lines);
        Ok(())
    }

    /// Runs the clock until the informer watches again, or waits for an answer that is not in the
    /// script. Stops at every deadline on the way.
    fn run_until_watching(&mut self) -> Result<(), String> {
        for _ in 0..MOST_HOPS {
            self.informer.settle()?;
            if !matches!(self.informer.phase(), Phase::Waiting { .. }) {
                return Ok(());
            }
            let deadline = self.informer.next_deadline();
            self.hop(deadline.ok_or("the informer waits, but has no deadline")?);
        }
        Err(format!("not watching again after {MOST_HOPS} deadlines"))
    }

    /// Runs the clock up to `target`, with a stop at every deadline on the way.
    fn run_until(&mut self, target: Instant) -> Result<(), String> {
        for _ in 0..MOST_HOPS {
            self.informer.settle()?;
            match self.informer.next_deadline() {
                Some(deadline) if deadline <= target => self.hop(deadline),
                _ => {
                    self.hop(target);
                    return Ok(());
                }
            }
        }
        Err(format!(
            "the clock does not advance after {MOST_HOPS} deadlines"
        ))
    }

    fn hop(&self, to: Instant) {
        self.clock.set(self.clock.now().max(to));
    }
}
