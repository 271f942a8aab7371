//! A client without a network: requests and answers as text.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "each test file uses a part of this module"
)]

use informer_core::Instant;
use informer_transport_mock::answer::{Answer, AnswerBody};
use informer_transport_mock::request::{ApiRequest, Headers};
use informer_transport_mock::watch::{Polled, Watch, WatchEnd};
use informer_transport_mock::{Server, ServerConfig, StoredObject};
use serde_json::{Value, json};

pub fn at(seconds: u64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

pub fn server() -> Server {
    Server::new(ServerConfig::new(7))
}

/// A pod with a name and labels in the form `a=b,c=d`.
pub fn pod(name: &str, labels: &str) -> Value {
    let labels: Value = labels
        .split_terminator(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    json!({"metadata": {"name": name, "labels": labels}})
}

/// Sends a request, given as `METHOD path?query`, with a body.
pub fn send(server: &mut Server, line: &str, body: &Value, now: Instant) -> Answer {
    send_as(server, line, body, Headers::default(), now)
}

pub fn send_as(
    server: &mut Server,
    line: &str,
    body: &Value,
    headers: Headers<'_>,
    now: Instant,
) -> Answer {
    let (method, target) = line.split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    match ApiRequest::parse(method, path, query, headers) {
        Ok(request) => server.handle(&request, &body, now),
        Err(refused) => refused.into(),
    }
}

/// Writes at time 0: status code and body.
pub fn write(server: &mut Server, line: &str, body: &Value) -> (u16, Value) {
    let answer = send(server, line, body, at(0));
    (answer.status, value(&text(&answer)))
}

pub fn metadata(object: &StoredObject) -> &Value {
    &object.value()["metadata"]
}

/// Reads at time 0: status code and body.
pub fn get(server: &mut Server, target: &str) -> (u16, String) {
    let answer = send(server, &format!("GET {target}"), &Value::Null, at(0));
    (answer.status, text(&answer))
}

pub fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes().expect("a complete body").to_vec()).unwrap()
}

pub fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The names in a list.
pub fn names(list: &str) -> Vec<String> {
    let list = value(list);
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Opens a watch at `now`.
pub fn watch_at(server: &mut Server, target: &str, now: Instant) -> Watch {
    let line = format!("GET {target}");
    match send(server, &line, &Value::Null, now).body {
        AnswerBody::Watch(watch) => *watch,
        AnswerBody::Complete(bytes) => panic!("{}", String::from_utf8_lossy(&bytes)),
    }
}

pub fn watch(server: &mut Server, target: &str) -> Watch {
    watch_at(server, target, at(0))
}

/// The state of a watch that has nothing to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    Idle(Instant),
    Ended(WatchEnd),
}

/// Takes every line that a watch has to send.
pub fn lines(watch: &mut Watch, server: &Server, now: Instant) -> (Vec<String>, Rest) {
    let mut lines = Vec::new();
    loop {
        match watch.poll(server, now) {
            Polled::Frame(frame) => {
                lines.push(String::from_utf8(frame.to_bytes()).unwrap());
            }
            Polled::Idle(until) => return (lines, Rest::Idle(until)),
            Polled::Ended(end) => return (lines, Rest::Ended(end)),
        }
    }
}

/// The same, shortened to `TYPE name@version`.
pub fn events(watch: &mut Watch, server: &Server, now: Instant) -> (Vec<String>, Rest) {
    let (lines, rest) = lines(watch, server, now);
    let short = lines.iter().map(|line| {
        assert!(line.ends_with('\n'));
        let event = value(line);
        let (kind, object) = (event["type"].as_str().unwrap(), &event["object"]);
        if kind == "ERROR" {
            return format!("ERROR {}", object["code"]);
        }
        let metadata = &object["metadata"];
        let version = metadata["resourceVersion"].as_str().unwrap();
        let end = match metadata["annotations"]["k8s.io/initial-events-end"].as_str() {
            Some("true") if kind == "BOOKMARK" => " end",
            _ => "",
        };
        match metadata["name"].as_str() {
            Some(name) => format!("{kind} {name}@{version}"),
            None => format!("{kind} @{version}{end}"),
        }
    });
    (short.collect(), rest)
}

/// The events only, at a time in seconds.
pub fn said(watch: &mut Watch, server: &Server, seconds: u64) -> Vec<String> {
    events(watch, server, at(seconds)).0
}
