//! A reflector and a scripted server, for tests.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

// One fact in one phase.
pub mod scene;

use core::time::Duration;

use informer_core::flow::{Change, Fact};
use informer_core::reflector::{FirstState, Phase, Reflector, ReflectorConfig};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request};
use informer_core::{Failure, Instant, Object, ObjectKey};

pub type Pod = Object<()>;

pub fn pod(version: &str) -> Pod {
    Object::builder(ObjectKey::new("a", "x"))
        .uid("u")
        .version(version)
        .body(())
}

/// A reflector with its current exchange and a clock.
pub struct Conversation {
    pub reflector: Reflector<Heap>,
    pub exchange: Option<ExchangeId>,
    pub now: Instant,
}

impl Conversation {
    pub fn new(config: ReflectorConfig) -> Self {
        let mut reflector = Reflector::new(config, 7).unwrap();
        reflector.start(Instant::default());
        Self {
            reflector,
            exchange: None,
            now: Instant::default(),
        }
    }

    pub fn listed() -> Self {
        Self::new(ReflectorConfig {
            first_state: FirstState::Listed,
            ..ReflectorConfig::client_go()
        })
    }

    /// Skips waits, takes all commands and returns the last one as text.
    pub fn next(&mut self) -> String {
        while let Phase::Waiting { until, .. } = self.reflector.phase() {
            self.now = until;
            self.advance();
        }
        let mut last = String::from("nothing");
        while let Some(command) = self.reflector.poll_command(self.now) {
            last = match command {
                Command::Abort(_) => "abort".into(),
                Command::Open { exchange, request } => {
                    self.exchange = Some(exchange);
                    shown(request)
                }
            };
        }
        last
    }

    pub fn say(&mut self, fact: Fact<'_, Pod>) -> Option<Change<Pod>> {
        self.reflector
            .handle(self.exchange.unwrap(), fact, self.now)
    }

    pub fn fail(&mut self, failure: Failure) -> Option<Change<Pod>> {
        self.say(Fact::Failed {
            failure,
            message: "",
        })
    }

    /// Answers a list with an empty page.
    pub fn list(&mut self, version: &str, next: Option<&str>) -> Option<Change<Pod>> {
        self.say(Fact::Opened);
        self.say(Fact::PageEnd {
            version,
            next,
            remaining: None,
        })
    }

    pub fn advance(&mut self) -> Option<Change<Pod>> {
        self.reflector.advance(self.now)
    }

    pub fn sleep(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
    }
}

pub fn shown(request: Request<'_>) -> String {
    match request {
        Request::List {
            version,
            limit,
            page,
        } => format!(
            "list {} {} {}",
            version.as_str(),
            limit.unwrap_or(0),
            page.unwrap_or("-")
        ),
        Request::Watch {
            version,
            initial_events,
            ..
        } => format!("watch {} {initial_events}", version.as_str()),
    }
}
