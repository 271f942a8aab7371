//! A decoder without an allocator: it frames into fixed buffers and reads object headers.

use heapless::{String, Vec};
use informer_core::decode::json::envelope::{Envelope, EventType};
use informer_core::decode::json::header::Header;
use informer_core::decode::json::lines::Lines;
use informer_core::decode::json::list::{ListScanner, Part};
use informer_core::decode::json::status::ApiStatus;
use informer_core::decode::json::text::JsonStr;
use informer_core::decode::{Body, Decode};
use informer_core::flow::{Fact, Place, Rejected};
use informer_core::{Encoding, Failure, Resource};

const DEPTH: usize = 16;

/// What this program keeps of a pod.
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

/// The unescaped string, if it fits.
fn fit<const N: usize>(text: JsonStr<'_>) -> Option<String<N>> {
    let mut string = String::new();
    append(&mut string, text)?;
    Some(string)
}

fn append<const N: usize>(string: &mut String<N>, text: JsonStr<'_>) -> Option<()> {
    text.chars().try_for_each(|char| string.push(char)).ok()
}

/// Memory for data that arrives in pieces: a line, an element, or the metadata of a list.
type Buffer = Vec<u8, 512>;

/// The longest element or line.
const LONGEST: usize = 512;

/// Decodes lists and watches of pods, one object at a time.
pub struct PodDecoder {
    at: At,
    list: ListScanner<Buffer>,
    lines: Lines<Buffer>,
    version: String<16>,
}

enum At {
    List,
    Watch,
    /// In a body of unsupported encoding.
    Unknown,
    Over,
}

impl PodDecoder {
    pub const fn new() -> Self {
        Self {
            at: At::Over,
            list: ListScanner::new(LONGEST),
            lines: Lines::new(LONGEST),
            version: String::new(),
        }
    }
}

impl Decode for PodDecoder {
    type Object = Pod;

    fn begin(&mut self, body: Body, encoding: Encoding) {
        self.list = ListScanner::new(LONGEST);
        self.lines.reset();
        self.at = match (encoding, body) {
            (Encoding::Json, Body::List) => At::List,
            (Encoding::Json, Body::Watch) => At::Watch,
            _ => At::Unknown,
        };
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Pod>> {
        let fact = match self.at {
            At::List => match self.list.next(input)? {
                Ok(Part::Element(element)) => {
                    stated(Pod::read(element.frame.bytes), Place::Item, Fact::Item)
                }
                Ok(Part::End) => Fact::PageEnd {
                    version: self.list.version(),
                    next: self.list.next_page(),
                    remaining: self.list.remaining(),
                },
                Err(_) => failed("the answer is not a list, or does not fit"),
            },
            At::Watch => event(self.lines.next(input)?.bytes, &mut self.version)
                .unwrap_or_else(|| failed("a line of the watch is not an event, or does not fit")),
            At::Unknown => failed("the encoding of the answer is not supported"),
            At::Over => {
                *input = &[];
                return None;
            }
        };
        if let Fact::PageEnd { .. } | Fact::Failed { .. } = fact {
            self.at = At::Over;
        }
        Some(fact)
    }

    fn end(&mut self) -> Fact<'_, Pod> {
        match core::mem::replace(&mut self.at, At::Over) {
            At::List => failed("the list is not complete"),
            At::Unknown => failed("the encoding of the answer is not supported"),
            At::Watch | At::Over => Fact::Closed,
        }
    }
}

/// Reads a line of a watch. Stores the version of a bookmark in `kept`.
fn event<'a>(line: &[u8], kept: &'a mut String<16>) -> Option<Fact<'a, Pod>> {
    let envelope = Envelope::read(line).ok()?;
    let pod = Pod::read(envelope.object);
    Some(match envelope.event {
        EventType::Added => stated(pod, Place::Upsert, Fact::Added),
        EventType::Modified => stated(pod, Place::Upsert, Fact::Modified),
        EventType::Deleted => stated(pod, Place::Delete, Fact::Deleted),
        EventType::Bookmark => {
            let header = Header::read(envelope.object, DEPTH).ok()?;
            *kept = fit(header.version?)?;
            Fact::Bookmark { version: kept }
        }
        EventType::Error => Fact::Failed {
            failure: ApiStatus::read(envelope.object)?.classify(),
            message: "the server reported an error",
        },
        EventType::Unknown(_) => stated(None, Place::Unknown, Fact::Added),
    })
}

/// The fact that `state` makes of the pod, or a rejected object.
fn stated<'a>(pod: Option<Pod>, place: Place, state: fn(Pod) -> Fact<'a, Pod>) -> Fact<'a, Pod> {
    pod.map_or(
        Fact::Rejected(Rejected {
            place,
            key: None,
            uid: "",
            version: "",
            reason: "not a pod, or does not fit",
        }),
        state,
    )
}

fn failed(message: &'static str) -> Fact<'static, Pod> {
    Fact::Failed {
        failure: Failure::Undecodable,
        message,
    }
}
