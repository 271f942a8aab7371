//! A good server: a few pods in two states, and the changes between these.

use std::time::Duration;

use bytes::Bytes;

use super::ask::{Ask, Kind};
use super::protobuf;
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
    let form = Form::of(ask);
    match ask.kind {
        Kind::Discovery => discovery(&ask.path),
        Kind::List if !ask.page.is_empty() => {
            Reply::failure(410, "Expired", "The provided continue parameter is too old")
        }
        Kind::List => form.typed(Reply::ok(form.list(state))),
        Kind::Stream => {
            let bookmark = form.bookmark(state.content().0);
            let state = say(form.state(state));
            form.typed(Reply::steps(state.chain(every(BOOKMARKS, bookmark))))
        }
        Kind::Watch => watch(ask, form, state),
    }
}

/// A streamed list without a watch after it.
pub(crate) fn only_state(state: State) -> Reply {
    Reply::ok(Form::Json.state(state))
}

/// How a body is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Json,
    Protobuf,
}

impl Form {
    const fn of(ask: &Ask) -> Self {
        if ask.accepts_protobuf {
            Self::Protobuf
        } else {
            Self::Json
        }
    }

    fn typed(self, reply: Reply) -> Reply {
        match self {
            Self::Json => reply,
            Self::Protobuf => reply.with("content-type", protobuf::PROTOBUF),
        }
    }

    fn list(self, state: State) -> Bytes {
        let (version, pods) = state.content();
        if self == Self::Protobuf {
            let pods = pods.iter().map(|(name, at)| protobuf::pod(name, at));
            return protobuf::list(version, pods).into();
        }
        let pods: Vec<_> = pods.iter().map(|(name, at)| pod(name, at)).collect();
        list(version, "", &pods.join(",")).into()
    }

    /// The state as events, up to its bookmark.
    fn state(self, state: State) -> Bytes {
        let (version, pods) = state.content();
        let events = pods.iter().map(|(name, at)| self.event("ADDED", name, at));
        let end = match self {
            Self::Json => end_bookmark(version).into(),
            Self::Protobuf => protobuf::end_bookmark(version),
        };
        events.chain([end]).flatten().collect()
    }

    fn event(self, kind: &str, name: &str, version: &str) -> Vec<u8> {
        match self {
            Self::Json => event(kind, &pod(name, version)).into(),
            Self::Protobuf => protobuf::event(kind, &protobuf::pod(name, version)),
        }
    }

    fn bookmark(self, version: &str) -> Bytes {
        match self {
            Self::Json => bookmark(version).into(),
            Self::Protobuf => protobuf::bookmark(version).into(),
        }
    }
}

fn watch(ask: &Ask, form: Form, state: State) -> Reply {
    let version = state.content().0;
    if ask.version.is_empty() || ask.version.bytes().any(|byte| !byte.is_ascii_digit()) {
        let message = format!("Invalid value: {:.20}: must be a number", ask.version);
        return Reply::failure(400, "BadRequest", &message);
    }
    // While it is hostile, it accepts any version, because it may have announced any.
    if ask.version == version || state == State::Before {
        let steps = every(BOOKMARKS, form.bookmark(&ask.version));
        return form.typed(Reply::steps(steps));
    }
    if state == State::After && ask.version == BEFORE.0 {
        let changes = [
            form.event("DELETED", "a", "2001"),
            form.event("MODIFIED", "c", "2002"),
            form.event("ADDED", "d", "2003"),
            form.event("ADDED", "e", "2004"),
        ];
        return form.typed(Reply::steps(say(changes.concat()).chain(hang())));
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
