//! Workers: what counts as a failure, and what they log about it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::controller::{Controller, Next};
use world::World;
use world::logged::{logged, saying};

/// An error with an optional cause.
#[derive(Debug)]
struct Because(&'static str, Option<Box<Self>>);

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Because {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

/// The attempts and errors that a worker logs for these outcomes.
fn said<E>(outcomes: Vec<Result<Next, E>>) -> Vec<(String, String)>
where
    E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
{
    let lines = logged(|| {
        let world = World::new();
        let controller: Controller<&str> = Controller::new(world.runtime.clone());
        let outcomes = Arc::new(Mutex::new(outcomes.into_iter()));
        controller
            .work(1, move |_| {
                let outcome = outcomes.lock().unwrap().next();
                async move { outcome.unwrap_or(Ok(Next::Done)) }
            })
            .unwrap();
        controller.queue().add("web");
        world.pass(Duration::from_secs(60));
    });
    let field = |line: &world::logged::Line, name| line.get(name).unwrap().to_owned();
    saying(&lines, "a reconciliation failed")
        .into_iter()
        .map(|line| (field(line, "attempts"), field(line, "error")))
        .collect()
}

#[test]
fn a_failure_is_logged_with_all_its_causes() {
    let refused = Because("connection refused", None);
    let because = Because("cannot reach the database", Some(Box::new(refused)));
    let outcome = Err(Because("cannot scale", Some(Box::new(because))));
    let text = "cannot scale: cannot reach the database: connection refused";
    assert_eq!(said(vec![outcome]), [("1".to_owned(), text.to_owned())]);
    // Some errors quote their cause themselves.
    let cause = Because("no route", None);
    let quoting = Because("cannot scale: no route", Some(Box::new(cause)));
    let text = "cannot scale: no route".to_owned();
    assert_eq!(said(vec![Err(quoting)]), [("1".to_owned(), text)]);
}

#[test]
fn every_error_type_works() {
    let first = |text: &str| vec![("1".to_owned(), text.to_owned())];
    assert_eq!(said(vec![Err("in short")]), first("in short"));
    assert_eq!(said(vec![Err("longer".to_owned())]), first("longer"));
    assert_eq!(said(vec![Err(io::Error::other("io"))]), first("io"));
    let boxed: Box<dyn Error + Send + Sync> = "boxed".into();
    assert_eq!(said(vec![Err(boxed)]), first("boxed"));
}

#[test]
fn attempts_count_from_one_and_restart_after_a_success() {
    for success in [Next::Done, Next::After(Duration::ZERO)] {
        let again = matches!(success, Next::After(_));
        let outcomes = vec![Err("a"), Err("b"), Ok(success), Err("c")];
        let attempts: Vec<_> = said(outcomes).into_iter().map(|(at, _)| at).collect();
        let expected: &[&str] = if again { &["1", "2", "1"] } else { &["1", "2"] };
        assert_eq!(attempts, expected, "{success:?}");
    }
}

/// The delays grow with consecutive failures, so they show what counts as a failure.
#[test]
fn to_look_again_later_is_a_success() {
    let world = World::new();
    let controller: Controller<&str> = Controller::new(world.runtime.clone());
    let clock = world.clock.clone();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    controller
        .work(1, move |_| {
            let mut seen = seen.lock().unwrap();
            seen.push(clock.now());
            let outcome = match seen.len() {
                1..=4 | 6 => Err("not yet"),
                5 => Ok(Next::After(Duration::from_secs(1))),
                _ => Ok(Next::Done),
            };
            async move { outcome }
        })
        .unwrap();
    controller.queue().add("web");
    world.pass(Duration::from_secs(60));
    let calls = calls.lock().unwrap();
    let waits = calls.windows(2).map(|two| two[1].since(two[0]).as_millis());
    assert_eq!(waits.collect::<Vec<_>>(), [5, 10, 20, 40, 1_000, 5]);
    assert_eq!(controller.queue().attempts(&"web"), 0);
}
