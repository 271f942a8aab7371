//! Every phase × every fact, one row per cell.
//!
//! A row reads: phase, fact, then what follows: the phase afterwards, the change, the commands. In
//! each phase the reflector knows version 10 unless the phase says otherwise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use core::time::Duration;

use informer_core::flow::{Change, Fact, Place, Rejected};
use informer_core::reflector::{AfterWait, FirstState, Phase, Reflector, ReflectorConfig};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request};
use informer_core::{Failure, Instant, Labels, Object, ObjectKey};

type Pod = Object<()>;

fn pod(version: &str) -> Pod {
    Object {
        key: ObjectKey::new("a", "x"),
        uid: "u".into(),
        version: version.into(),
        labels: Labels::default(),
        size: 0,
        body: (),
    }
}

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

fn failed<'a>(failure: Failure) -> Fact<'a, Pod> {
    Fact::Failed {
        failure,
        message: "said the server",
    }
}

fn rejected<'a>(place: Place, key: bool) -> Fact<'a, Pod> {
    Fact::Rejected(Rejected {
        place,
        key: key.then(|| ObjectKey::new("a", "x")),
        uid: "",
        version: "13",
        reason: "bad",
    })
}

fn page<'a>(version: &'a str, next: Option<&'a str>) -> Fact<'a, Pod> {
    Fact::PageEnd {
        version,
        next,
        remaining: None,
    }
}

/// A reflector in a phase, the exchange under way, and the time.
struct Scene {
    reflector: Reflector<Heap>,
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

    fn fact(&mut self, fact: Fact<'_, Pod>) -> Option<Change<Pod>> {
        self.reflector.handle(self.exchange, fact, self.now)
    }

    fn phase(name: &str) -> Self {
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

/// An exchange of some other reflector, for phases that have none.
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
        },
    );
    let after = match scene.reflector.phase() {
        Phase::Idle => "idle".into(),
        Phase::Listing { .. } => "listing".into(),
        Phase::Streaming { .. } => "streaming".into(),
        Phase::Watching => "watching".into(),
        Phase::Stopped => "stopped".into(),
        Phase::Waiting { then, until, .. } => {
            let delay = until.since(scene.now);
            let first = Duration::from_millis(800)..Duration::from_millis(1_600);
            let second = Duration::from_millis(1_600)..Duration::from_millis(3_200);
            assert!(first.contains(&delay) || (phase == "waiting" && second.contains(&delay)));
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

fn check(phase: &str, rows: &[(Fact<'_, Pod>, &str)]) {
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

const THROTTLED: Failure = Failure::Throttled { retry_after: None };

/// In phases without an exchange nothing that is said has an effect.
#[test]
fn idle_waiting_and_stopped_ignore_everything() {
    for (phase, stays) in [
        ("idle", "idle | - | - | "),
        ("waiting", "wait, then full state | - | - | 10"),
        ("stopped", "stopped | - | - | 10"),
    ] {
        check(
            phase,
            &[
                (Fact::Opened, stays),
                (Fact::Item(pod("12")), stays),
                (page("20", None), stays),
                (page("20", Some("t")), stays),
                (Fact::Added(pod("12")), stays),
                (Fact::Modified(pod("12")), stays),
                (Fact::Deleted(pod("12")), stays),
                (Fact::Bookmark { version: "12" }, stays),
                (Fact::InitialEnd { version: "12" }, stays),
                (rejected(Place::Item, true), stays),
                (rejected(Place::Upsert, true), stays),
                (rejected(Place::Delete, true), stays),
                (rejected(Place::Unknown, false), stays),
                (Fact::Closed, stays),
                (failed(Failure::Expired), stays),
                (failed(Failure::Internal), stays),
            ],
        );
    }
}

#[test]
fn a_list_that_was_asked_for() {
    let leave = "wait, then full state | - | - | ";
    let retry = "listing | - | list \"\" 500 | ";
    check(
        "asked for list",
        &[
            (Fact::Opened, "listing | begin streamed=false | - | "),
            (Fact::Closed, leave),
            (failed(Failure::Expired), retry),
            (failed(Failure::VersionTooLarge), retry),
            (failed(THROTTLED), leave),
            (failed(Failure::Unreachable), leave),
            (failed(Failure::Credentials), leave),
            (failed(Failure::Unauthorized), leave),
            (failed(Failure::Forbidden), leave),
            (failed(Failure::NotFound), leave),
            (failed(Failure::Invalid), leave),
            (failed(Failure::Internal), leave),
            (failed(Failure::Unavailable), leave),
            (failed(Failure::TimedOut), leave),
            (failed(Failure::Broken), leave),
            (failed(Failure::Undecodable), leave),
            (failed(Failure::Other), leave),
        ],
    );
}

#[test]
fn a_list_on_its_first_page() {
    let leave = "wait, then full state | abandon | - | ";
    let retry = "listing | abandon | list \"\" 500 | ";
    let stays = "listing | - | - | ";
    check(
        "listing",
        &[
            (Fact::Opened, stays),
            (Fact::Item(pod("12")), "listing | item | - | "),
            (page("20", None), "watching | end | watch \"20\" | 20"),
            (
                page("20", Some("t")),
                "listing | - | list \"\" 500 page t | ",
            ),
            (Fact::Added(pod("12")), stays),
            (Fact::Modified(pod("12")), stays),
            (Fact::Deleted(pod("12")), stays),
            (Fact::Bookmark { version: "12" }, stays),
            (Fact::InitialEnd { version: "12" }, stays),
            (
                rejected(Place::Item, true),
                "listing | unreadable true | - | ",
            ),
            (
                rejected(Place::Item, false),
                "listing | unreadable false | - | ",
            ),
            (Fact::Closed, leave),
            (failed(Failure::Expired), retry),
            (failed(Failure::VersionTooLarge), retry),
            (failed(THROTTLED), leave),
            (failed(Failure::Broken), leave),
            (failed(Failure::Undecodable), leave),
            (failed(Failure::TransformFailed), leave),
        ],
    );
}

/// The version of the list is that of its first page; an expired token is answered by one full list
/// at the version first asked for.
#[test]
fn a_list_on_a_later_page() {
    let leave = "wait, then full state | abandon | - | ";
    check(
        "listing page 2",
        &[
            (Fact::Opened, "listing | - | - | "),
            (Fact::Item(pod("12")), "listing | item | - | "),
            (page("20", None), "watching | end | watch \"10\" | 10"),
            (
                page("20", Some("t")),
                "listing | - | list \"\" 500 page t | ",
            ),
            (
                failed(Failure::Expired),
                "listing | abandon | list \"0\" all | ",
            ),
            (
                failed(Failure::VersionTooLarge),
                "listing | abandon | list \"\" 500 | ",
            ),
            (failed(Failure::Forbidden), leave),
            (Fact::Closed, leave),
        ],
    );
}

#[test]
fn a_streamed_state() {
    let list = "listing | abandon | list \"0\" 500 | ";
    let stays = "streaming | - | - | ";
    check(
        "streaming",
        &[
            (Fact::Opened, stays),
            (Fact::Item(pod("12")), stays),
            (page("20", None), stays),
            (Fact::Added(pod("12")), "streaming | item | - | "),
            (Fact::Modified(pod("12")), "streaming | item | - | "),
            (Fact::Deleted(pod("12")), "streaming | remove | - | "),
            (Fact::Bookmark { version: "12" }, stays),
            (
                Fact::InitialEnd { version: "12" },
                "watching | end | - | 12",
            ),
            (
                rejected(Place::Upsert, true),
                "streaming | unreadable true | - | ",
            ),
            (
                rejected(Place::Upsert, false),
                "streaming | unreadable false | - | ",
            ),
            (
                rejected(Place::Delete, true),
                "streaming | deleted unreadable | - | ",
            ),
            (
                rejected(Place::Delete, false),
                "listing | abandon | abort, list \"0\" 500 | ",
            ),
            (rejected(Place::Unknown, false), stays),
            // At once and without events: it is not supported.
            (Fact::Closed, list),
            (failed(Failure::Broken), list),
            (
                failed(Failure::Expired),
                "streaming | abandon | stream \"\" | ",
            ),
            (
                failed(Failure::VersionTooLarge),
                "streaming | abandon | stream \"\" | ",
            ),
            (failed(THROTTLED), "wait, then stream | abandon | - | "),
            (
                failed(Failure::Unreachable),
                "wait, then stream | abandon | - | ",
            ),
            (
                failed(Failure::Credentials),
                "wait, then stream | abandon | - | ",
            ),
            (failed(Failure::Invalid), list),
            (failed(Failure::Internal), list),
            (failed(Failure::Forbidden), list),
            (failed(Failure::Undecodable), list),
            (failed(Failure::NoEndBookmark), list),
            (failed(Failure::Idle), list),
        ],
    );
    // Interrupted in good time: the same again.
    let again = "streaming | abandon | stream \"\" | ";
    check(
        "streaming, later",
        &[
            (Fact::Closed, again),
            (failed(Failure::Broken), again),
            (failed(Failure::TimedOut), again),
        ],
    );
}

#[test]
fn a_watch_that_was_asked_for() {
    let leave = "wait, then full state | - | - | 10";
    let again = "wait, then watch | - | - | 10";
    check(
        "asked for watch",
        &[
            (Fact::Opened, "watching | - | - | 10"),
            (failed(Failure::Unreachable), again),
            (failed(Failure::Credentials), again),
            (failed(THROTTLED), again),
            (failed(Failure::Expired), leave),
            (failed(Failure::VersionTooLarge), leave),
            (failed(Failure::Forbidden), leave),
            (failed(Failure::NotFound), leave),
            (failed(Failure::Internal), leave),
            (failed(Failure::Unavailable), leave),
            (failed(Failure::TimedOut), leave),
            (failed(Failure::Broken), again),
            (failed(Failure::Other), leave),
            (failed(Failure::Idle), "watching | - | watch \"10\" | 10"),
        ],
    );
}

#[test]
fn a_watch() {
    let leave = "wait, then full state | - | - | 10";
    let stays = "watching | - | - | 10";
    check(
        "watching",
        &[
            (Fact::Opened, stays),
            (Fact::Item(pod("12")), stays),
            (page("20", None), stays),
            (Fact::Added(pod("12")), "watching | added | - | 12"),
            (Fact::Modified(pod("9")), "watching | updated | - | 9"),
            (Fact::Deleted(pod("12")), "watching | deleted | - | 12"),
            // A version that is missing is not adopted.
            (Fact::Modified(pod("")), "watching | updated | - | 10"),
            (
                Fact::Bookmark { version: "12" },
                "watching | bookmark | - | 12",
            ),
            (
                Fact::InitialEnd { version: "12" },
                "watching | bookmark | - | 12",
            ),
            (rejected(Place::Upsert, true), "watching | - | - | 13"),
            (rejected(Place::Unknown, false), "watching | - | - | 13"),
            (
                rejected(Place::Delete, true),
                "watching | deleted unreadable | - | 13",
            ),
            // Somebody is gone, and only a full state can tell who.
            (
                rejected(Place::Delete, false),
                "wait, then full state | - | abort | 10",
            ),
            // At once and without events.
            (Fact::Closed, leave),
            (failed(Failure::Broken), leave),
            // An expired watch does not make the version unavailable: it is listed at 10.
            (failed(Failure::Expired), leave),
            (failed(THROTTLED), "wait, then watch | - | - | 10"),
            // Only who has not answered at all can be away.
            (failed(Failure::Unreachable), leave),
            (failed(Failure::Invalid), leave),
            (failed(Failure::Internal), leave),
            (failed(Failure::Undecodable), leave),
            (failed(Failure::Forbidden), leave),
            (failed(Failure::Other), leave),
            (failed(Failure::Idle), "watching | - | watch \"10\" | 10"),
        ],
    );
    let on = "watching | - | watch \"10\" | 10";
    check(
        "watching, 2 s",
        &[
            (Fact::Closed, on),
            (failed(Failure::Broken), on),
            (failed(Failure::TimedOut), on),
        ],
    );
    let on = "watching | - | watch \"11\" | 11";
    check(
        "watching, 1 event",
        &[(Fact::Closed, on), (failed(Failure::Broken), on)],
    );
}

/// The state that such a watch begins with is in no order of versions.
#[test]
fn a_watch_without_a_version_adopts_none_of_its_first_adds() {
    check(
        "watching from 0",
        &[
            (Fact::Added(pod("12")), "watching | added | - | 0"),
            (Fact::Modified(pod("12")), "watching | updated | - | 12"),
            (Fact::Deleted(pod("12")), "watching | deleted | - | 12"),
            (
                Fact::Bookmark { version: "12" },
                "watching | bookmark | - | 12",
            ),
            (rejected(Place::Upsert, true), "watching | - | - | 0"),
        ],
    );
    let mut scene = Scene::phase("watching from 0");
    scene.fact(Fact::Bookmark { version: "12" });
    scene.fact(Fact::Added(pod("14")));
    assert_eq!(scene.reflector.version(), Some("14"));
}
