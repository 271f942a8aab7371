//! The decoder that joins the scanners and a form.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::answer::Excerpt;
use super::envelope::{Envelope, EventType};
use super::form::{BodyError, Form, TypeMeta};
use super::header::{Header, HeaderError};
use super::json_text::JsonStr;
use super::lines::{Frame, Lines};
use super::list::{Element, ListError, ListScanner, Part};
use super::status::Status;
use super::{Body, Decode, Limits};
use crate::decoded::Object;
use crate::failure::{Failure, message};
use crate::flow::{Fact, Place, Rejected};
use crate::key::ObjectKey;
use crate::reflector::ConfigError;

/// How much longer than an object a line of a watch may be.
const ENVELOPE: usize = 1024;

/// The longest version or uid that stays in memory when it is no longer needed.
const KEPT: usize = 1024;

/// Decodes JSON lists and watches to objects whose body has the form `F`.
///
/// Every byte is looked at a fixed number of times, whatever the pieces; at most one object is held
/// while it is incomplete. An object that cannot be used is a [`Fact::Rejected`], with its key if that
/// much can be read, and harms nobody else. What the server says its objects are is not checked
/// against anything: the form decides what fits.
///
/// ```
/// use informer_core::decode::{Body, Decode, JsonDecoder, Lean};
/// use informer_core::flow::Fact;
///
/// let mut decoder = JsonDecoder::new(Lean);
/// decoder.begin(Body::List);
///
/// let mut piece = &br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"meta"#[..];
/// assert_eq!(decoder.decode(&mut piece), None);
///
/// let mut piece = &br#"data":{"namespace":"web","name":"a"}}]}"#[..];
/// let Some(Fact::Item(pod)) = decoder.decode(&mut piece) else { panic!() };
/// assert_eq!(pod.key.as_str(), "web/a");
/// let end = Fact::PageEnd { version: "7", next: None, remaining: None };
/// assert_eq!(decoder.decode(&mut piece), Some(end));
/// assert_eq!(decoder.end(), Fact::Closed);
/// ```
#[derive(Clone, Debug)]
pub struct JsonDecoder<F> {
    at: At,
    list: ListScanner,
    lines: Lines,
    reader: Reader<F>,
}

#[derive(Clone, Copy, Debug)]
enum At {
    List,
    Watch,
    /// Nothing is expected any more: what comes is passed over.
    Over,
}

impl<F: Form> JsonDecoder<F> {
    /// A decoder with the default [`Limits`].
    #[must_use]
    pub const fn new(form: F) -> Self {
        Self::bounded(form, Limits::new())
    }

    /// A decoder with these limits.
    ///
    /// # Errors
    ///
    /// A limit is zero, or the depth is above [`MAX_DEPTH`](super::json_text::MAX_DEPTH).
    pub fn with_limits(form: F, limits: Limits) -> Result<Self, ConfigError> {
        if limits.object_bytes == 0 {
            return Err(ConfigError::Limit("object_bytes"));
        }
        if limits.depth == 0 || limits.depth > super::json_text::MAX_DEPTH {
            return Err(ConfigError::Limit("depth"));
        }
        Ok(Self::bounded(form, limits))
    }

    const fn bounded(form: F, limits: Limits) -> Self {
        Self {
            at: At::Over,
            list: ListScanner::new(limits.object_bytes),
            lines: Lines::new(limits.object_bytes.saturating_add(ENVELOPE)),
            reader: Reader {
                form,
                limits,
                uid: String::new(),
                version: String::new(),
                message: String::new(),
            },
        }
    }

    /// An element that lies whole at the front of `input` and is as it should be: reading it tells
    /// where it ends. Any other is left to the scanner, which is patient and minds nothing.
    fn whole_item(&mut self, input: &mut &[u8]) -> Option<Made<F>> {
        if !self.list.is_at_element(input) {
            return None;
        }
        let Limits {
            object_bytes,
            depth,
        } = self.reader.limits;
        let text = *input;
        let (header, length) = Header::first(text, depth).ok()?;
        if length > object_bytes {
            return None;
        }
        let json = self.list.pass_element(input, length);
        let type_meta = self.list.type_meta();
        let (place, make) = (Place::Item, Outcome::Item);
        Some(self.reader.object(json, Ok(header), type_meta, place, make))
    }

    fn fact(&self, outcome: Outcome<Arc<Object<F::Body>>>) -> Fact<'_, Arc<Object<F::Body>>> {
        let version = self.reader.version.as_str();
        let message = self.reader.message.as_str();
        match outcome {
            Outcome::Item(object) => Fact::Item(object),
            Outcome::PageEnd => Fact::PageEnd {
                version: self.list.version(),
                next: self.list.next_page(),
                remaining: self.list.remaining(),
            },
            Outcome::Added(object) => Fact::Added(object),
            Outcome::Modified(object) => Fact::Modified(object),
            Outcome::Deleted(object) => Fact::Deleted(object),
            Outcome::Bookmark => Fact::Bookmark { version },
            Outcome::InitialEnd => Fact::InitialEnd { version },
            Outcome::Rejected { place, key } => Fact::Rejected(Rejected {
                place,
                key,
                uid: &self.reader.uid,
                version,
                reason: message,
            }),
            Outcome::Failed(failure) => Fact::Failed { failure, message },
        }
    }
}

impl<F: Form> Decode for JsonDecoder<F> {
    type Object = Arc<Object<F::Body>>;

    fn begin(&mut self, body: Body) {
        self.lines.reset();
        self.list = ListScanner::new(self.reader.limits.object_bytes);
        self.at = match body {
            Body::List => At::List,
            Body::Watch => At::Watch,
        };
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>> {
        let outcome = match self.at {
            At::List => match self.whole_item(input) {
                Some(item) => item,
                None => match self.list.next(input)? {
                    Ok(Part::Element(element)) => self.reader.item(element),
                    Ok(Part::End) => Outcome::PageEnd,
                    Err(error) => self.reader.fail(Failure::Undecodable, error),
                },
            },
            At::Watch => self.reader.line(self.lines.next(input)?),
            At::Over => {
                *input = &[];
                return None;
            }
        };
        if let Outcome::PageEnd | Outcome::Failed(_) = outcome {
            self.at = At::Over;
        }
        Some(self.fact(outcome))
    }

    fn end(&mut self) -> Fact<'_, Self::Object> {
        let at = core::mem::replace(&mut self.at, At::Over);
        self.lines.reset();
        let error = match at {
            At::List => self.list.end().err(),
            // A line that was cut off is no news: the next watch begins before it.
            At::Watch | At::Over => None,
        };
        let Some(error) = error else {
            return Fact::Closed;
        };
        let failure = match error {
            ListError::Incomplete { .. } => Failure::Broken,
            _ => Failure::Undecodable,
        };
        let outcome = self.reader.fail(failure, error);
        self.fact(outcome)
    }
}

/// Makes an object of a JSON text that consists of it alone: a line of a file, the answer to a `get`.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
///
/// let json = br#"{"metadata":{"namespace":"web","name":"a","labels":{"app":"shop"}},"spec":{}}"#;
/// let pod = decode_object(&mut Lean, json)?;
/// assert_eq!((pod.key.as_str(), pod.labels.get("app")), ("web/a", Some("shop")));
/// assert!(decode_object(&mut Lean, b"{}").is_err());
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
///
/// # Errors
/// The text is not an object with a name, or does not fit the form.
pub fn decode_object<F: Form>(form: &mut F, json: &[u8]) -> Result<Object<F::Body>, BodyError> {
    let header = Header::read(json, Limits::new().depth);
    assemble(form, json, header, TypeMeta::default())
}

fn assemble<F: Form>(
    form: &mut F,
    json: &[u8],
    header: Result<Header<'_>, HeaderError>,
    type_meta: TypeMeta<'_>,
) -> Result<Object<F::Body>, BodyError> {
    let header = header.map_err(BodyError::new)?;
    // A Table has no name either, but that is not what is wrong with it.
    if header.is_table() {
        return Err(BodyError::new("a Table of meta.k8s.io, not an object"));
    }
    let key = header.key().map_err(BodyError::new)?;
    let body = form.decode(json, &header, type_meta)?;
    let boxed = |text: Option<JsonStr<'_>>| text.map(JsonStr::to_cow).unwrap_or_default().into();
    let labels = header.labels();
    Ok(Object {
        key,
        uid: boxed(header.uid),
        version: boxed(header.version),
        labels: labels
            .map(|(key, value)| (key.to_cow(), value.to_cow()))
            .collect(),
        size: json.len(),
        body,
    })
}

/// A fact whose texts are in the [`Reader`].
enum Outcome<T> {
    Item(T),
    PageEnd,
    Added(T),
    Modified(T),
    Deleted(T),
    Bookmark,
    InitialEnd,
    Rejected {
        place: Place,
        key: Option<ObjectKey>,
    },
    Failed(Failure),
}

/// Makes facts of elements and lines.
#[derive(Clone, Debug)]
struct Reader<F> {
    form: F,
    limits: Limits,
    uid: String,
    version: String,
    message: String,
}

type Made<F> = Outcome<Arc<Object<<F as Form>::Body>>>;

impl<F: Form> Reader<F> {
    fn item(&mut self, element: Element<'_>) -> Made<F> {
        let json = element.frame.bytes;
        if element.frame.oversized {
            return self.reject_large(json, Place::Item);
        }
        let header = Header::read(json, self.limits.depth);
        self.object(json, header, element.type_meta, Place::Item, Outcome::Item)
    }

    fn line(&mut self, frame: Frame<'_>) -> Made<F> {
        let line = frame.bytes;
        if frame.endless {
            let text = format_args!(
                "a line of the watch that does not end; it begins with: {}",
                Excerpt::new(line)
            );
            return self.fail(Failure::Undecodable, text);
        }
        if frame.oversized {
            return self.broken_line(line, &self.too_large());
        }
        if let Some(envelope) = Envelope::guess(line)
            && let Ok(header) = Header::read(envelope.object, self.limits.depth)
        {
            return self.event(envelope, Ok(header));
        }
        match Envelope::read(line) {
            Ok(envelope) => {
                let header = Header::read(envelope.object, self.limits.depth);
                self.event(envelope, header)
            }
            Err(error) => self.broken_line(line, &message(error)),
        }
    }

    fn event(
        &mut self,
        envelope: Envelope<'_>,
        header: Result<Header<'_>, HeaderError>,
    ) -> Made<F> {
        let json = envelope.object;
        let (place, make): (_, fn(_) -> _) = match envelope.event {
            EventType::Added => (Place::Upsert, Outcome::Added),
            EventType::Modified => (Place::Upsert, Outcome::Modified),
            EventType::Deleted => (Place::Delete, Outcome::Deleted),
            EventType::Bookmark => return self.bookmark(json, header),
            EventType::Error => return self.error(json),
            EventType::Unknown(name) => return self.reject_unknown(json, name),
        };
        if json.len() > self.limits.object_bytes {
            return self.reject_large(json, place);
        }
        self.object(json, header, TypeMeta::default(), place, make)
    }

    fn object(
        &mut self,
        json: &[u8],
        header: Result<Header<'_>, HeaderError>,
        type_meta: TypeMeta<'_>,
        place: Place,
        make: fn(Arc<Object<F::Body>>) -> Made<F>,
    ) -> Made<F> {
        match assemble(&mut self.form, json, header, type_meta) {
            Ok(object) => make(Arc::new(object)),
            Err(error) => self.reject(json, place, error),
        }
    }

    fn bookmark(&mut self, json: &[u8], header: Result<Header<'_>, HeaderError>) -> Made<F> {
        let header = match header {
            Ok(header) if header.is_table() => {
                return self.reject(
                    json,
                    Place::Unknown,
                    "a bookmark with a Table of meta.k8s.io",
                );
            }
            Ok(header) => header,
            Err(error) => {
                return self.reject(json, Place::Unknown, format_args!("a bookmark: {error}"));
            }
        };
        if header.version.is_none_or(JsonStr::is_empty) {
            return self.reject(json, Place::Unknown, "a bookmark without a version");
        }
        self.keep_version(&header);
        if header.initial_events_end {
            Outcome::InitialEnd
        } else {
            Outcome::Bookmark
        }
    }

    fn error(&mut self, json: &[u8]) -> Made<F> {
        let Some(status) = Status::read(json) else {
            let found = Excerpt::new(json);
            let text = format_args!("an ERROR event without a Status, it begins with: {found}");
            return self.fail(Failure::Other, text);
        };
        let failure = match status.classify() {
            // `TimedOut` on an open watch means that the connection did, and that the watch may go on
            // from where it was. Here the connection is fine: it is the server that cannot go on.
            Failure::TimedOut => Failure::Unavailable,
            failure => failure,
        };
        match (status.message, status.reason) {
            (Some(text), _) if !text.is_empty() => self.fail(failure, text),
            (_, Some(reason)) if !reason.is_empty() => self.fail(failure, reason),
            _ => self.fail(
                failure,
                format_args!("an ERROR event with code {}", status.code),
            ),
        }
    }

    /// A line that is no event as it stands. It still is one if it tells whose it is.
    fn broken_line(&mut self, line: &[u8], reason: &str) -> Made<F> {
        let Some(envelope) = Envelope::of_prefix(line) else {
            let found = Excerpt::new(line);
            let text = format_args!("a line of the watch: {reason}; it begins with: {found}");
            return self.fail(Failure::Undecodable, text);
        };
        let place = match envelope.event {
            EventType::Added | EventType::Modified => Place::Upsert,
            EventType::Deleted => Place::Delete,
            EventType::Unknown(name) => return self.reject_unknown(envelope.object, name),
            EventType::Bookmark | EventType::Error => {
                let text = format_args!("a BOOKMARK or ERROR event that cannot be read: {reason}");
                return self.fail(Failure::Undecodable, text);
            }
        };
        if Header::of_prefix(envelope.object).key().is_err() {
            let text = format_args!("a line of the watch without a readable key: {reason}");
            return self.fail(Failure::Undecodable, text);
        }
        self.reject(envelope.object, place, reason)
    }

    fn reject_large(&mut self, json: &[u8], place: Place) -> Made<F> {
        self.reject(json, place, self.too_large())
    }

    fn reject_unknown(&mut self, json: &[u8], name: JsonStr<'_>) -> Made<F> {
        self.reject(
            json,
            Place::Unknown,
            format_args!("unknown event type `{name}`"),
        )
    }

    fn reject(&mut self, json: &[u8], place: Place, reason: impl fmt::Display) -> Made<F> {
        self.message = message(reason);
        let header = Header::of_prefix(json);
        self.keep_version(&header);
        keep(&mut self.uid, header.uid);
        let key = header.key().ok();
        Outcome::Rejected { place, key }
    }

    fn fail(&mut self, failure: Failure, text: impl fmt::Display) -> Made<F> {
        self.message = message(text);
        Outcome::Failed(failure)
    }

    fn too_large(&self) -> String {
        let longest = self.limits.object_bytes;
        message(format_args!("larger than {longest} bytes"))
    }

    fn keep_version(&mut self, header: &Header<'_>) {
        keep(&mut self.version, header.version);
    }
}

/// Replaces `kept`, and gives back the memory of a long text.
fn keep(kept: &mut String, text: Option<JsonStr<'_>>) {
    kept.clear();
    kept.shrink_to(KEPT);
    kept.extend(text.into_iter().flat_map(JsonStr::chars));
}
