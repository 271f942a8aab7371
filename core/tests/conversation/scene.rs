//! A reflector in a given phase, and the result of one fact as a row of a table.

use core::time::Duration;

use informer_core::flow::{Change, Fact, Place, Rejected};
use informer_core::reflector::{AfterWait, FirstState, Phase, Reflector, ReflectorConfig};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request};
use informer_core::{Failure, Instant, ObjectKey};

use super::{Pod, pod};

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

pub fn failed<'a>(failure: Failure) -> Fact<'a, Pod> {
    Fact::Failed {
        failure,
        message: "said the server",
    }
}

pub fn rejected<'a>(place: Place, key: bool) -> Fact<'a, Pod> {
    Fact::Rejected(Rejected {
        place,
        key: key.then(|| ObjectKey::new("a", "x")),
        uid: "",
        version: "13",
        reason: "bad",
    })
}

pub fn page<'a>(version: &'a str, next: Option<&'a str>) -> Fact<'a, Pod> {
    Fact::PageEnd {
        version,
        next,
        remaining: None,
    }
}

/// A reflector in a phase, its current exchange, and a clock.
pub struct Scene {
    pub reflector: Reflector<Heap>,
    exchange: ExchangeId,
    now: Instant,
}

impl Scene {
    fn new(first_state: FirstState) -> Self {
        let config = ReflectorConfig {
            first_state,
            ..ReflectorConfig::new()
        };
        let mut scene = Self {
            reflector: Reflector::new(config, 1).unwrap(),
            exchange: never_opened(),
            now: at(0),
        };
        scene.reflector.start(scene.now);
        scene
    }

    fn take(&mut self) -> Vec<String> {
        let mut commands = Vec::new();
        while let Some(command) = self.reflector.poll_command(self.now) {
            if let Command::Open { exchange, .. } = command {
                self.exchange = exchange;
            }
            commands.push(shown(command));
        }
        commands
    }

    pub fn fact(&mut self, fact: Fact<'_, Pod>) -> Option<Change<Pod>> {
        self.reflector.handle(self.exchange, fact, self.now)
    }

    pub fn phase(name: &str) -> Self {
        let mut scene = match name {
            "streaming" | "streaming, later" => Self::new(FirstState::Streamed),
            _ => Self::new(FirstState::Listed),
        };
        if name == "idle" {
            scene.reflector = Reflector::new(ReflectorConfig::new(), 1).unwrap();
            return scene;
        }
        scene.take();
        if name == "asked for list" {
            return scene;
        }
        scene.fact(Fact::Opened);
        match name {
            "listing" | "streaming" => return scene,
            "listing page 2" => {
                scene.fact(page("10", Some("token")));
                scene.take();
                scene.fact(Fact::Opened);
                return scene;
            }
            "streaming, later" => {
                scene.fact(Fact::Added(pod("9")));
                scene.now = at(2_000);
                return scene;
            }
            _ => {}
        }
        scene.fact(page(
            if name == "watching from 0" { "0" } else { "10" },
            None,
        ));
        scene.take();
        match name {
            "asked for watch" => return scene,
            "waiting" => {
                scene.fact(failed(Failure::Forbidden));
                return scene;
            }
            "stopped" => {
                scene.reflector.stop(scene.now);
                scene.take();
                return scene;
            }
            _ => {}
        }
        scene.fact(Fact::Opened);
        match name {
            "watching" | "watching from 0" => {}
            "watching, 2 s" => scene.now = at(2_000),
            "watching, 1 event" => {
                scene.fact(Fact::Modified(pod("11")));
            }
            other => panic!("no phase {other}"),
        }
        scene
    }
}

/// Returns an exchange of another reflector, for phases that have none.
fn never_opened() -> ExchangeId {
    let mut reflector: Reflector<Heap> = Reflector::new(ReflectorConfig::new(), 9).unwrap();
    reflector.start(at(0));
    match reflector.poll_command(at(0)) {
        Some(Command::Open { exchange, .. }) => exchange,
        other => panic!("{other:?}"),
    }
}

fn shown(command: Command<'_>) -> String {
    match command {
        Command::Abort(_) => "abort".into(),
        Command::Open { request, .. } => match request {
            Request::List {
                version,
                limit,
                page,
            } => {
                let page = page.map_or(String::new(), |page| format!(" page {page}"));
                let limit = limit.map_or_else(|| "all".into(), |limit| limit.to_string());
                format!("list {:?} {limit}{page}", version.as_str())
            }
            Request::Watch {
                version,
                initial_events,
                timeout,
            } => {
                assert!((300..600).contains(&timeout.as_secs()), "{timeout:?}");
                let stream = if initial_events { "stream" } else { "watch" };
                format!("{stream} {:?}", version.as_str())
            }
        },
    }
}

fn row(phase: &str, fact: Fact<'_, Pod>) -> String {
    let mut scene = Scene::phase(phase);
    let change = scene.fact(fact);
    let change = change.map_or_else(
        || "-".into(),
        |change| match change {
            Change::ReplaceBegin { streamed } => format!("begin streamed={streamed}"),
            Change::ReplaceItem(_) => "item".into(),
            Change::ReplaceRemove(_) => "remove".into(),
            Change::ReplaceUnreadable(key) => format!("unreadable {}", key.is_some()),
            Change::ReplaceEnd => "end".into(),
            Change::ReplaceAbandon => "abandon".into(),
            Change::Added(_) => "added".into(),
            Change::Updated(_) => "updated".into(),
            Change::Deleted(_) => "deleted".into(),
            Change::DeletedUnreadable(_) => "deleted unreadable".into(),
            Change::Displaced(_) => "displaced".into(),
            Change::Bookmark => "bookmark".to_owned(),
            Change::KindGone => "kind gone".to_owned(),
        },
    );
    let after = match scene.reflector.phase() {
        Phase::Idle => "idle".into(),
        Phase::Listing { .. } => "listing".into(),
        Phase::Streaming { .. } => "streaming".into(),
        Phase::Watching => "watching".into(),
        Phase::Suspended => "suspended".into(),
        Phase::Stopped => "stopped".into(),
        Phase::Waiting { then, until, cause } => {
            let delay = until.since(scene.now);
            let first = Duration::from_millis(800)..Duration::from_millis(1_600);
            let gone = Duration::from_secs(2)..Duration::from_secs(4);
            // A list decides that a kind is gone, which has delays of its own.
            let expected = match (phase, cause) {
                ("asked for list" | "listing" | "listing page 2", Failure::NotFound) => gone,
                _ => first,
            };
            assert!(expected.contains(&delay), "{phase}, {cause:?}: {delay:?}");
            match then {
                AfterWait::FullState => "wait, then full state",
                AfterWait::Stream => "wait, then stream",
                AfterWait::Watch => "wait, then watch",
            }
            .to_owned()
        }
    };
    let commands = scene.take();
    let commands = if commands.is_empty() {
        "-".into()
    } else {
        commands.join(", ")
    };
    let version = scene.reflector.version().unwrap_or_default();
    format!("{after} | {change} | {commands} | {version}")
}

pub fn check(phase: &str, rows: &[(Fact<'_, Pod>, &str)]) {
    let mut wrong = String::new();
    for (fact, expected) in rows {
        let got = row(phase, fact.clone());
        if got != *expected {
            wrong.push_str(&format!(
                "{phase}: {fact:?}\n  expected {expected}\n  got      {got}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
