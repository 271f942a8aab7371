//! The server: objects, a revision counter, and a history that can be compacted.

use std::collections::BTreeMap;

use informer_core::transport::{At, Request, Signal};
use informer_core::{Encoding, Failure, Instant};
use informer_test_support::{Random, View};

#[derive(Default)]
pub struct Server {
    revision: u64,
    objects: BTreeMap<String, Stored>,
    /// Every change: its revision, its event type, the object.
    history: Vec<(u64, &'static str, String)>,
    /// Changes up to this revision are forgotten.
    compacted: u64,
    uids: u64,
    /// The states that paged lists read, by revision.
    listed: BTreeMap<u64, BTreeMap<String, Stored>>,
    /// How the next request fails.
    pub refuse: Option<Failure>,
    /// The page size, if the request allows pages; 0 for no pages.
    pub page: usize,
}

#[derive(Clone)]
struct Stored {
    uid: u64,
    revision: u64,
    json: String,
}

impl Server {
    /// An empty server. It starts at revision 1, because version 0 means "any version".
    pub fn new() -> Self {
        Self {
            revision: 1,
            ..Self::default()
        }
    }

    pub fn version_shown(&self) -> String {
        self.revision.to_string()
    }

    pub fn state(&self) -> View {
        let shown = |(key, object): (&String, &Stored)| {
            (key.clone(), format!("u{}@{}", object.uid, object.revision))
        };
        self.objects.iter().map(shown).collect()
    }

    pub fn put(&mut self, name: &str, recreate: bool) {
        self.revision += 1;
        let key = format!("ns/{name}");
        if recreate && let Some(gone) = self.objects.remove(&key) {
            let last = render(name, gone.uid, self.revision);
            self.history.push((self.revision, "DELETED", last));
            self.revision += 1;
        }
        let known = self.objects.get(&key).map(|object| object.uid);
        let uid = known.unwrap_or_else(|| {
            self.uids += 1;
            self.uids
        });
        let json = render(name, uid, self.revision);
        let event = if known.is_some() { "MODIFIED" } else { "ADDED" };
        self.history.push((self.revision, event, json.clone()));
        let revision = self.revision;
        self.objects.insert(
            key,
            Stored {
                uid,
                revision,
                json,
            },
        );
    }

    pub fn delete(&mut self, name: &str) {
        if let Some(gone) = self.objects.remove(&format!("ns/{name}")) {
            self.revision += 1;
            let last = render(name, gone.uid, self.revision);
            self.history.push((self.revision, "DELETED", last));
        }
    }

    pub fn mutate(&mut self, random: &mut Random) {
        let name = format!("p{}", random.below(12));
        match random.below(10) {
            0..=5 => self.put(&name, false),
            6 => self.put(&name, true),
            _ => self.delete(&name),
        }
    }

    /// Forgets the history, so that an informer that is behind must relist.
    pub fn compact(&mut self) {
        self.compacted = self.revision;
        self.listed.clear();
    }

    pub fn answer(&mut self, request: Request<'_>, now: Instant) -> Answer {
        let mut answer = Answer {
            begun: false,
            bytes: Vec::new(),
            end: None,
            complete: true,
            follows: None,
            until: None,
        };
        if let Some(failure) = self.refuse.take() {
            answer.end = Some(failure);
            return answer;
        }
        match request {
            Request::List { limit, page, .. } => match self.list(limit.is_some(), page) {
                Some(body) => answer.bytes = body.into_bytes(),
                None => answer.end = Some(Failure::Expired),
            },
            Request::Watch {
                version,
                timeout,
                initial_events,
            } => {
                answer.complete = false;
                answer.until = Some(now.after(timeout));
                let mut from = match version {
                    At::Version(version) | At::Exact(version) => version.parse().unwrap(),
                    At::Any | At::Latest => 0,
                };
                if initial_events {
                    from = self.revision;
                    for object in self.objects.values() {
                        answer.line("ADDED", &object.json);
                    }
                    let end = format!(
                        r#"{{"kind":"Pod","metadata":{{"resourceVersion":"{from}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}"#
                    );
                    answer.line("BOOKMARK", &end);
                }
                answer.follows = Some(from);
            }
        }
        answer
    }

    /// One page of the state at the revision of the first page; `None` if that is forgotten.
    fn list(&mut self, paged: bool, token: Option<&str>) -> Option<String> {
        // A token holds the revision of the list and the first key of the page.
        let (revision, from) = token
            .and_then(|token| token.split_once('|'))
            .map_or((self.revision, ""), |(revision, key)| {
                (revision.parse().unwrap(), key)
            });
        if token.is_none() {
            self.listed.insert(revision, self.objects.clone());
        }
        let state = self.listed.get(&revision)?;
        let rest: Vec<_> = state.range(from.to_owned()..).collect();
        let size = if paged && self.page > 0 {
            self.page
        } else {
            rest.len()
        };
        let items: Vec<_> = rest
            .iter()
            .take(size)
            .map(|(_, object)| object.json.as_str())
            .collect();
        let next = rest
            .get(size)
            .map_or(String::new(), |(key, _)| format!("{revision}|{key}"));
        Some(format!(
            r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}","continue":"{next}"}},"items":[{}]}}"#,
            items.join(",")
        ))
    }
}

/// An answer that is being sent.
pub struct Answer {
    begun: bool,
    pub bytes: Vec<u8>,
    /// How it fails after the last byte. A watch without a failure goes on.
    pub end: Option<Failure>,
    complete: bool,
    /// For a watch: the revision up to which it has sent all events.
    follows: Option<u64>,
    until: Option<Instant>,
}

impl Answer {
    fn line(&mut self, event: &str, object: &str) {
        let line = format!("{{\"type\":\"{event}\",\"object\":{object}}}\n");
        self.bytes.extend_from_slice(line.as_bytes());
    }

    pub fn close(&mut self) {
        self.complete = true;
        self.follows = None;
    }

    /// Adds the events since the last call, if this is a watch.
    pub fn catch_up(&mut self, server: &Server, now: Instant) {
        let Some(from) = self.follows.filter(|_| self.end.is_none()) else {
            return;
        };
        if from < server.compacted {
            let expired = r#"{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}"#;
            self.line("ERROR", expired);
            self.close();
            return;
        }
        for (revision, event, object) in &server.history {
            if *revision > from {
                self.line(event, object);
                self.follows = Some(*revision);
            }
        }
        if self.until.is_some_and(|until| until <= now) {
            self.close();
        }
    }

    pub fn signal(&self, length: usize) -> Option<Signal<'_>> {
        match self.end {
            Some(failure) if self.bytes.is_empty() => {
                return Some(Signal::Failed {
                    failure,
                    message: "as planned",
                });
            }
            _ if !self.begun => return Some(Signal::Opened(Encoding::Json)),
            _ => {}
        }
        if !self.bytes.is_empty() {
            return Some(Signal::Bytes(&self.bytes[..length.min(self.bytes.len())]));
        }
        self.complete.then_some(Signal::Closed)
    }

    /// Removes the used bytes. Returns whether the answer has ended.
    pub fn consume(&mut self, used: usize) -> bool {
        if self.bytes.is_empty() && (self.end.is_some() || (self.begun && self.complete)) {
            return true;
        }
        self.begun = true;
        self.bytes.drain(..used);
        false
    }
}

fn render(name: &str, uid: u64, revision: u64) -> String {
    format!(
        r#"{{"metadata":{{"namespace":"ns","name":"{name}","uid":"u{uid}","resourceVersion":"{revision}","labels":{{"app":"a{}"}}}},"value":"{{\"quoted\":\\n}}"}}"#,
        revision % 3
    )
}
