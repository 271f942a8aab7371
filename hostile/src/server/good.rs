//! A good server: a few pods in two states, and the changes between these.

use std::time::Duration;

use super::ask::{Ask, Kind};
use super::reply::{Reply, every, hang, say};

/// The state of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// While the server is hostile.
    Before,
    /// After it has turned good.
    After,
}

impl State {
    /// The version, and the names and versions of the pods.
    const fn content(self) -> (&'static str, &'static [(&'static str, &'static str)]) {
        match self {
            Self::Before => BEFORE,
            Self::After => AFTER,
        }
    }
}

const BEFORE: (&str, &[(&str, &str)]) = ("1003", &[("a", "1001"), ("b", "1002"), ("c", "1003")]);

/// What the store must contain in the end: names and versions.
pub(crate) const AFTER: (&str, &[(&str, &str)]) = (
    "2004",
    &[("b", "1002"), ("c", "2002"), ("d", "2003"), ("e", "2004")],
);

/// The interval between bookmarks.
const BOOKMARKS: Duration = Duration::from_secs(10);

/// A pod as JSON.
pub(crate) fn pod(name: &str, version: &str) -> String {
    let metadata = format!(r#""namespace":"web","uid":"{name}","resourceVersion":"{version}""#);
    format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}",{metadata}}}}}"#)
}

/// A line of a watch.
pub(crate) fn event(kind: &str, object: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

/// A bookmark.
pub(crate) fn bookmark(version: &str) -> String {
    marked(version, "")
}

/// The bookmark that ends a streamed list.
pub(crate) fn end_bookmark(version: &str) -> String {
    marked(
        version,
        r#","annotations":{"k8s.io/initial-events-end":"true"}"#,
    )
}

fn marked(version: &str, more: &str) -> String {
    let metadata = format!(r#"{{"resourceVersion":"{version}"{more}}}"#);
    event(
        "BOOKMARK",
        &format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata}}}"#),
    )
}

/// A list of these items, as JSON.
pub(crate) fn list(version: &str, more: &str, items: &str) -> String {
    let metadata = format!(r#"{{"resourceVersion":"{version}"{more}}}"#);
    format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{metadata},"items":[{items}]}}"#)
}

/// The answer of a good server.
pub(crate) fn answer(ask: &Ask, state: State) -> Reply {
    let (version, pods) = state.content();
    let pods = pods.iter().map(|(name, version)| pod(name, version));
    match ask.kind {
        Kind::Discovery => discovery(&ask.path),
        Kind::List if !ask.page.is_empty() => {
            Reply::failure(410, "Expired", "The provided continue parameter is too old")
        }
        Kind::List => Reply::ok(list(version, "", &pods.collect::<Vec<_>>().join(","))),
        Kind::Stream => {
            let state = only_state(state);
            let steps = state.steps.chain(every(BOOKMARKS, bookmark(version)));
            Reply::steps(steps)
        }
        Kind::Watch => watch(ask, version, state),
    }
}

/// A streamed list without a watch after it.
pub(crate) fn only_state(state: State) -> Reply {
    let (version, pods) = state.content();
    let pods = pods.iter().map(|(name, version)| pod(name, version));
    let mut text: String = pods.map(|pod| event("ADDED", &pod)).collect();
    text.push_str(&end_bookmark(version));
    Reply::ok(text)
}

fn watch(ask: &Ask, version: &str, state: State) -> Reply {
    if ask.version.is_empty() || ask.version.bytes().any(|byte| !byte.is_ascii_digit()) {
        let message = format!("Invalid value: {:.20}: must be a number", ask.version);
        return Reply::failure(400, "BadRequest", &message);
    }
    // While it is hostile, it accepts any version, because it may have announced any.
    if ask.version == version || state == State::Before {
        return Reply::steps(every(BOOKMARKS, bookmark(&ask.version)));
    }
    if state == State::After && ask.version == BEFORE.0 {
        let changes = [
            event("DELETED", &pod("a", "2001")),
            event("MODIFIED", &pod("c", "2002")),
            event("ADDED", &pod("d", "2003")),
            event("ADDED", &pod("e", "2004")),
        ];
        return Reply::steps(say(changes.concat()).chain(hang()));
    }
    Reply::failure(410, "Expired", "too old resource version")
}

fn discovery(path: &str) -> Reply {
    Reply::ok(match path {
        "/api" => r#"{"kind":"APIVersions","versions":["v1"]}"#,
        "/apis" => r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[]}"#,
        "/api/v1" => {
            concat!(
                r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","#,
                r#""singularName":"pod","namespaced":true,"kind":"Pod","verbs":["list","watch"]}]}"#
            )
        }
        _ => return Reply::failure(404, "NotFound", "there is nothing here"),
    })
}
