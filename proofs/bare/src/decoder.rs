//! A decoder without an allocator: frames in a buffer of fixed size, objects by the header scanner.

use heapless::{String, Vec};
use informer_core::decode::envelope::{Envelope, EventType};
use informer_core::decode::header::Header;
use informer_core::decode::json_text::{Cursor, JsonStr};
use informer_core::decode::status::Status;
use informer_core::decode::{Body, Decode};
use informer_core::flow::{Fact, Place, Rejected};
use informer_core::{Failure, Resource};

const DEPTH: usize = 16;

/// All that this program keeps of a pod.
#[derive(Clone, PartialEq, Debug)]
pub struct Pod {
    pub key: String<32>,
    pub uid: String<16>,
    pub version: String<16>,
    pub app: String<16>,
}

impl Resource for Pod {
    type Key = String<32>;

    fn key(&self) -> &String<32> {
        &self.key
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
        visit("app", &self.app);
    }
}

impl Pod {
    fn read(json: &[u8]) -> Option<Self> {
        let header = Header::read(json, DEPTH).ok()?;
        let mut key = String::new();
        if let Some(namespace) = header.namespace {
            append(&mut key, namespace)?;
            key.push('/').ok()?;
        }
        append(&mut key, header.name?)?;
        let mut app = String::new();
        if let Some((_, label)) = header.labels().find(|(key, _)| key.eq_str("app")) {
            append(&mut app, label)?;
        }
        Some(Self {
            key,
            uid: fit(header.uid?)?,
            version: fit(header.version?)?,
            app,
        })
    }
}

/// The string that a JSON string means, if it fits.
fn fit<const N: usize>(text: JsonStr<'_>) -> Option<String<N>> {
    let mut string = String::new();
    append(&mut string, text)?;
    Some(string)
}

fn append<const N: usize>(string: &mut String<N>, text: JsonStr<'_>) -> Option<()> {
    text.chars().try_for_each(|char| string.push(char)).ok()
}

/// Collects a line of a watch, or a whole list, in a kilobyte.
pub struct PodDecoder {
    body: Body,
    frame: Vec<u8, 1024>,
    /// The objects of the list that have been stated.
    stated: usize,
    over: bool,
    version: String<16>,
}

impl PodDecoder {
    pub const fn new() -> Self {
        Self {
            body: Body::List,
            frame: Vec::new(),
            stated: 0,
            over: true,
            version: String::new(),
        }
    }

    fn fail(&mut self) -> Fact<'_, Pod> {
        self.over = true;
        Fact::Failed {
            failure: Failure::Undecodable,
            message: "it does not fit, or it is not what we read",
        }
    }

    /// Takes bytes up to the end of a line; says whether it is complete.
    fn fill_line(&mut self, input: &mut &[u8]) -> Option<bool> {
        let end = input.iter().position(|byte| *byte == b'\n');
        let (line, rest) = input.split_at(end.map_or(input.len(), |at| at + 1));
        *input = rest;
        self.frame.extend_from_slice(line).ok()?;
        Some(end.is_some())
    }

    fn line(&mut self) -> Option<Fact<'_, Pod>> {
        let frame = core::mem::take(&mut self.frame);
        let envelope = Envelope::read(&frame).ok()?;
        let pod = || Pod::read(envelope.object);
        let rejected = |place| {
            Fact::Rejected(Rejected {
                place,
                key: None,
                uid: "",
                version: "",
                reason: "not a pod",
            })
        };
        Some(match envelope.event {
            EventType::Added => pod().map_or_else(|| rejected(Place::Upsert), Fact::Added),
            EventType::Modified => pod().map_or_else(|| rejected(Place::Upsert), Fact::Modified),
            EventType::Deleted => pod().map_or_else(|| rejected(Place::Delete), Fact::Deleted),
            EventType::Bookmark => {
                let header = Header::read(envelope.object, DEPTH).ok()?;
                self.version = fit(header.version?)?;
                Fact::Bookmark {
                    version: &self.version,
                }
            }
            EventType::Error => Fact::Failed {
                failure: Status::read(envelope.object)?.classify(),
                message: "the server says so",
            },
            EventType::Unknown(_) => rejected(Place::Unknown),
        })
    }

    /// The next object of a list that is complete, or its end. `None` if it is not complete.
    fn list(&mut self) -> Option<Fact<'_, Pod>> {
        let mut cursor = Cursor::new(&self.frame);
        let mut members = cursor.enter_object(DEPTH).ok()?;
        let (mut nth, mut found) = (0, None);
        while let Some(name) = members.next(&mut cursor).ok()? {
            if !name.eq_str("items") {
                let value = cursor.skip_value(DEPTH).ok()?;
                if name.eq_str("metadata") {
                    self.version = version_of_list(value)?;
                }
                continue;
            }
            let mut elements = cursor.enter_array(DEPTH).ok()?;
            while elements.next(&mut cursor).ok()? {
                let element = cursor.skip_value(DEPTH).ok()?;
                if nth == self.stated {
                    found = Pod::read(element);
                }
                nth += 1;
            }
        }
        cursor.end().ok()?;
        if let Some(pod) = found {
            self.stated += 1;
            return Some(Fact::Item(pod));
        }
        self.over = true;
        Some(Fact::PageEnd {
            version: &self.version,
            next: None,
            remaining: None,
        })
    }
}

/// `metadata.resourceVersion` of a list.
fn version_of_list(metadata: &[u8]) -> Option<String<16>> {
    let mut cursor = Cursor::new(metadata);
    let mut members = cursor.enter_object(DEPTH).ok()?;
    while let Some(name) = members.next(&mut cursor).ok()? {
        if name.eq_str("resourceVersion") {
            return fit(cursor.string().ok()?);
        }
        cursor.skip_value(DEPTH).ok()?;
    }
    None
}

impl Decode for PodDecoder {
    type Object = Pod;

    fn begin(&mut self, body: Body) {
        self.body = body;
        self.frame.clear();
        self.stated = 0;
        self.over = false;
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Pod>> {
        if self.over {
            *input = &[];
            return None;
        }
        match self.body {
            Body::Watch => match self.fill_line(input) {
                Some(true) => self.line(),
                Some(false) => None,
                None => Some(self.fail()),
            },
            Body::List => {
                if self.frame.extend_from_slice(input).is_err() {
                    return Some(self.fail());
                }
                *input = &[];
                self.list()
            }
        }
    }

    fn end(&mut self) -> Fact<'_, Pod> {
        match self.body {
            Body::List if !self.over => self.fail(),
            Body::List | Body::Watch => Fact::Closed,
        }
    }
}
