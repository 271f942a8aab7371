//! The server: objects, a revision counter, and a history that can be compacted.

use std::collections::BTreeMap;

use informer_core::transport::{At, Request, Signal};
use informer_core::{Encoding, Failure, Instant};
use informer_test_support::{Random, View};

#[derive(Default)]
pub struct Server {
    revision: u64,
    objects: BTreeMap<String, Stored>,
    history: Vec<Event>,
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
    name: String,
    uid: u64,
    revision: u64,
    app: u64,
}

impl Stored {
    fn json(&self) -> String {
        self.json_at(self.revision)
    }

    fn json_at(&self, revision: u64) -> String {
        format!(
            r#"{{"metadata":{{"namespace":"ns","name":"{}","uid":"u{}","resourceVersion":"{revision}","labels":{{"app":"a{}"}}}},"value":"{{\"quoted\":\\n}}"}}"#,
            self.name, self.uid, self.app
        )
    }
}

/// A change of an object.
struct Event {
    revision: u64,
    before: Option<Stored>,
    after: Option<Stored>,
}

impl Event {
    /// What a watch with this selector hears of it. An object that leaves the selector is shown as it was.
    fn shown_to(&self, selector: Selector) -> Option<(&'static str, String)> {
        let before = self.before.as_ref().filter(|it| selector.selects(it));
        let after = self.after.as_ref().filter(|it| selector.selects(it));
        match (before, after) {
            (None, None) => None,
            (None, Some(after)) => Some(("ADDED", after.json())),
            (Some(_), Some(after)) => Some(("MODIFIED", after.json())),
            (Some(before), None) => Some(("DELETED", before.json_at(self.revision))),
        }
    }
}

/// Which values of the label `app` a request selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selector([bool; 3]);

impl Selector {
    pub const ALL: Self = Self([true; 3]);

    /// Some values, at least one.
    pub fn any(random: &mut Random) -> Self {
        let bits = 1 + random.below(7);
        Self([bits & 1 > 0, bits & 2 > 0, bits & 4 > 0])
    }

    fn selects(self, object: &Stored) -> bool {
        self.0[object.app as usize]
    }
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

    /// The objects that at least one selector selects.
    pub fn state(&self, selectors: &[Selector]) -> View {
        let selected =
            |(_, object): &(&String, &Stored)| selectors.iter().any(|it| it.selects(object));
        let shown = |(key, object): (&String, &Stored)| {
            (key.clone(), format!("u{}@{}", object.uid, object.revision))
        };
        self.objects.iter().filter(selected).map(shown).collect()
    }

    pub fn put(&mut self, name: &str, recreate: bool) {
        if recreate {
            self.delete(name);
        }
        self.revision += 1;
        let key = format!("ns/{name}");
        let before = self.objects.remove(&key);
        let uid = before.as_ref().map(|object| object.uid);
        let object = Stored {
            name: name.to_owned(),
            uid: uid.unwrap_or_else(|| {
                self.uids += 1;
                self.uids
            }),
            revision: self.revision,
            app: self.revision % 3,
        };
        self.history.push(Event {
            revision: self.revision,
            before,
            after: Some(object.clone()),
        });
        self.objects.insert(key, object);
    }

    pub fn delete(&mut self, name: &str) {
        if let Some(gone) = self.objects.remove(&format!("ns/{name}")) {
            self.revision += 1;
            self.history.push(Event {
                revision: self.revision,
                before: Some(gone),
                after: None,
            });
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

    pub fn answer(&mut self, request: Request<'_>, selector: Selector, now: Instant) -> Answer {
        let mut answer = Answer {
            selector,
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
            Request::List { limit, page, .. } => match self.list(limit.is_some(), page, selector) {
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
                    for object in self.objects.values().filter(|it| selector.selects(it)) {
                        answer.line("ADDED", &object.json());
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
    fn list(&mut self, paged: bool, token: Option<&str>, selector: Selector) -> Option<String> {
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
        let rest = state.range(from.to_owned()..);
        let rest: Vec<_> = rest.filter(|(_, it)| selector.selects(it)).collect();
        let size = if paged && self.page > 0 {
            self.page
        } else {
            rest.len()
        };
        let items: Vec<_> = rest
            .iter()
            .take(size)
            .map(|(_, object)| object.json())
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
    selector: Selector,
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

    /// Whether this is a watch that has sent everything.
    pub fn is_current(&self, server: &Server) -> bool {
        let sent = self.follows.is_some_and(|sent| sent == server.revision);
        sent && self.begun && self.bytes.is_empty()
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
        for event in server.history.iter().filter(|event| event.revision > from) {
            if let Some((kind, object)) = event.shown_to(self.selector) {
                self.line(kind, &object);
            }
            self.follows = Some(event.revision);
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
