//! From the frames of a protobuf body to facts.

use alloc::vec::Vec;

use super::envelope::{Envelope, Event};
use super::form::ProtobufObject;
use super::frames::Frames;
use super::header::Header;
use super::known::KnownType;
use super::list::{ListError, ListScanner, type_of_elements};
use super::metadata::write_json;
use super::record;
use super::status::ApiStatus;
use crate::decode::excerpt::Excerpt;
use crate::decode::facts::{AsideOf, Bookmark, ErrorEvent, FactOf, Facts, TABLE, Whose};
use crate::decode::form::{BodyError, Form, ProtobufUse};
use crate::decode::frame::Frame;
use crate::decode::json;
use crate::decode::json::form::JsonObject;
use crate::decode::json::header::Written;
use crate::decode::{Body, Limits, TypeMeta};
use crate::decoded::{Aside, Draft, Extent, Object};
use crate::failure::{Failure, message};
use crate::flow::{Fact, Place};

/// How much longer than its object a frame of a watch may be.
const ENVELOPE: usize = 1024;

/// The most memory that is kept for the JSON of the next object.
const KEPT: usize = 64 << 10;

/// Reads one body after another.
#[derive(Clone, Debug)]
pub(in crate::decode) struct ProtobufReading {
    body: Body,
    longest: usize,
    list: ListScanner<Vec<u8>>,
    frames: Frames<Vec<u8>>,
    memory: Memory,
}

/// What one object leaves to the next.
#[derive(Clone, Debug, Default)]
struct Memory {
    known: KnownType,
    /// `metadata` of the last object, for forms that want it.
    json: Json,
}

/// `metadata` of an object as JSON.
#[derive(Clone, Debug, Default)]
struct Json {
    text: Vec<u8>,
    written: Written,
}

impl ProtobufReading {
    pub(in crate::decode) fn new(limits: Limits) -> Self {
        let longest = limits.object_bytes;
        Self {
            body: Body::List,
            longest,
            list: ListScanner::new(longest),
            frames: Frames::new(longest.saturating_add(ENVELOPE)),
            memory: Memory::default(),
        }
    }

    /// Starts a new body.
    pub(in crate::decode) fn begin(&mut self, body: Body) {
        self.body = body;
        self.frames.reset();
        self.list = ListScanner::new(self.longest);
    }

    /// Takes bytes up to the end of one fact.
    #[inline(always)]
    pub(in crate::decode) fn next<'a, F: Form>(
        &'a mut self,
        input: &mut &[u8],
        facts: &'a mut Facts<F>,
    ) -> Option<FactOf<'a, F>> {
        if let Body::Watch = self.body {
            return Some(match self.frames.next(input)? {
                frame if frame.endless => facts.endless_frame(self.frames.length()),
                frame => facts.frame(frame, &mut self.memory),
            });
        }
        Some(match self.list.next_untyped(input)? {
            Ok(Some((frame, list_type))) => {
                facts.element_message(frame, list_type, &mut self.memory)
            }
            Ok(None) => Fact::PageEnd {
                version: self.list.version(),
                next: self.list.next_page(),
                remaining: self.list.remaining(),
            },
            Err(error) => facts.fail(Failure::Undecodable, error),
        })
    }

    /// Ends the body.
    pub(in crate::decode) fn end<'a, F: Form>(&mut self, facts: &'a mut Facts<F>) -> FactOf<'a, F> {
        self.frames.reset();
        match (self.body, self.list.end()) {
            // A cut frame does not matter: the next watch starts before it.
            (Body::Watch, _) | (Body::List, Ok(())) => Fact::Closed,
            (Body::List, Err(error @ ListError::Incomplete { .. })) => {
                facts.fail(Failure::Broken, error)
            }
            (Body::List, Err(error)) => facts.fail(Failure::Undecodable, error),
        }
    }
}

impl<F: Form> Facts<F> {
    /// The object in an element of a list with this type, which was checked when it was complete.
    #[inline(always)]
    fn element_message(
        &mut self,
        frame: Frame<'_>,
        list_type: &[u8],
        Memory { known, json }: &mut Memory,
    ) -> FactOf<'_, F> {
        let object = frame.bytes;
        if frame.oversized {
            return self.reject_large(Place::Item, whose(object));
        }
        let type_meta = type_of_elements(known.read(list_type).unwrap_or_default());
        let read = self.assemble_message(object, type_meta, json);
        self.object(read, Place::Item, Fact::Item, || whose(object))
    }

    fn assemble_message(
        &mut self,
        object: &[u8],
        type_meta: TypeMeta<'_>,
        json: &mut Json,
    ) -> Result<Object<F::Body>, BodyError> {
        let aside = &self.aside;
        assemble(
            &mut self.form,
            &mut self.draft,
            object,
            type_meta,
            json,
            aside,
        )
    }

    fn endless_frame(&mut self, length: u32) -> FactOf<'_, F> {
        let text = format_args!(
            "a frame of the watch has {length} bytes, more than twice the limit; is the answer \
             protobuf, and no proxy changes it?"
        );
        self.fail(Failure::Undecodable, text)
    }

    #[inline(always)]
    fn frame(&mut self, frame: Frame<'_>, memory: &mut Memory) -> FactOf<'_, F> {
        let bytes = frame.bytes;
        if frame.oversized {
            return self.broken_frame(bytes, &self.too_large());
        }
        match Event::read(bytes) {
            Ok(event) => self.message_event(event, memory),
            Err(error) => self.broken_frame(bytes, &message(error)),
        }
    }

    #[inline(always)]
    fn message_event<'a>(
        &'a mut self,
        event: Event<'_>,
        Memory { known, json }: &mut Memory,
    ) -> FactOf<'a, F> {
        let bytes = event.object;
        let (place, state): (_, fn(_) -> FactOf<'a, F>) = match event.kind {
            "ADDED" => (Place::Upsert, Fact::Added),
            "MODIFIED" => (Place::Upsert, Fact::Modified),
            "DELETED" => (Place::Delete, Fact::Deleted),
            "BOOKMARK" => return self.bookmark(bookmark(bytes), || whose_enveloped(bytes)),
            "ERROR" => return self.error_event(error_event(bytes), bytes),
            other => return self.reject_unknown(other, whose_enveloped(bytes)),
        };
        let read = match Envelope::read_knowing(bytes, known).map_err(BodyError::new) {
            Ok(envelope) if envelope.object.len() > self.limits.object_bytes => {
                return self.reject_large(place, whose(envelope.object));
            }
            Ok(Envelope { type_meta, object }) => self.assemble_message(object, type_meta, json),
            Err(error) => Err(error),
        };
        self.object(read, place, state, || whose_enveloped(bytes))
    }

    /// A frame that is not a valid event. It is only rejected if its key is readable.
    fn broken_frame(&mut self, frame: &[u8], reason: &str) -> FactOf<'_, F> {
        let Some(Event { kind, object }) = Event::from_prefix(frame) else {
            let found = Excerpt(frame);
            let text =
                format_args!("cannot read a frame of the watch: {reason}; it starts with: {found}");
            return self.fail(Failure::Undecodable, text);
        };
        let whose = whose_enveloped(object);
        let place = match kind {
            "ADDED" | "MODIFIED" => Place::Upsert,
            "DELETED" => Place::Delete,
            "BOOKMARK" | "ERROR" => {
                let text = format_args!("cannot read a BOOKMARK or ERROR event: {reason}");
                return self.fail(Failure::Undecodable, text);
            }
            other => return self.reject_unknown(other, whose),
        };
        if whose.key.is_none() {
            let text = format_args!("a frame of the watch has no readable key: {reason}");
            return self.fail(Failure::Undecodable, text);
        }
        self.reject(place, whose, reason)
    }
}

fn bookmark(bytes: &[u8]) -> Result<Bookmark<&str>, BodyError> {
    let envelope = Envelope::read(bytes).map_err(BodyError::new)?;
    let header = Header::read(envelope.object).map_err(BodyError::new)?;
    Ok(Bookmark {
        version: header.version,
        ends_initial_events: header.ends_initial_events(),
        is_table: is_table(envelope.type_meta),
    })
}

fn error_event(bytes: &[u8]) -> Option<ErrorEvent<&str>> {
    let status = ApiStatus::read(bytes)?;
    Some(ErrorEvent {
        failure: status.classify(),
        code: status.code,
        text: status.message.or(status.reason),
    })
}

/// What is readable of an object that cannot be used.
fn whose(object: &[u8]) -> Whose<&str> {
    let header = Header::from_prefix(object);
    Whose {
        key: header.key().ok(),
        uid: header.uid,
        version: header.version,
    }
}

fn whose_enveloped(bytes: &[u8]) -> Whose<&str> {
    whose(Envelope::from_prefix(bytes).object)
}

/// Whether the object is a Table of `meta.k8s.io`: rows for printing, not an object.
#[inline]
fn is_table(type_meta: TypeMeta<'_>) -> bool {
    let is_meta = |version: &str| version.starts_with("meta.k8s.io/");
    type_meta.kind == Some("Table") && type_meta.api_version.is_some_and(is_meta)
}

/// Decodes a single object from protobuf, with its [envelope](Envelope), such as the answer to a `get`.
///
/// ```
/// use informer_core::decode::{MetadataOnly, protobuf};
///
/// let pod = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x09\x0a\x07\x0a\x01a\x32\x027\xc2";
/// assert!(protobuf::decode_object(&mut MetadataOnly, pod).is_err());
/// let pod = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x08\x0a\x06\x0a\x01a\x32\x017";
/// let pod = protobuf::decode_object(&mut MetadataOnly, pod)?;
/// assert_eq!(pod.json()?, r#"{"name":"a","resourceVersion":"7"}"#);
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
///
/// # Errors
/// The bytes are not an object with a name, or the object does not fit the form.
pub fn decode_object<F: Form>(form: &mut F, bytes: &[u8]) -> Result<Object<F::Body>, BodyError> {
    let Envelope { type_meta, object } = Envelope::read(bytes).map_err(BodyError::new)?;
    let aside = Aside::shared(form.body_annotations());
    let json = &mut Json::default();
    assemble(form, &mut Draft::new(), object, type_meta, json, &aside)
}

fn assemble<F: Form>(
    form: &mut F,
    draft: &mut Draft,
    bytes: &[u8],
    type_meta: TypeMeta<'_>,
    json: &mut Json,
    aside: &AsideOf<F>,
) -> Result<Object<F::Body>, BodyError> {
    if is_table(type_meta) {
        return Err(BodyError::new(TABLE));
    }
    let mut header = Header::default();
    header.read_from(bytes).map_err(BodyError::new)?;
    let header = &header;
    let key = header.key_in(&mut draft.key).map_err(BodyError::new)?;
    check_size(bytes)?;
    if let ProtobufUse::MetadataAsJson = F::PROTOBUF {
        let Json { text, written } = json;
        text.clear();
        text.shrink_to(KEPT);
        let managed_fields = match &header.managed_fields {
            Some(_) if form.sees_managed_fields() => header.metadata.clone(),
            _ => 0..0,
        };
        let managed_fields = bytes.get(managed_fields).unwrap_or_default();
        write_json(text, written, header, managed_fields);
        check_size(text)?;
        let header = &written.header(text);
        let object = JsonObject::new(text, header, type_meta);
        let body = form.read_json(object)?;
        let labels = written.labels(text);
        json::record::write(draft, object, labels, &form.keeps_json(object));
        draft.meta.size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        return Ok(draft.finish_with(key, body, aside.clone()));
    }
    let cut;
    let normal;
    let object = if header.is_scattered() && !form.sees_managed_fields() {
        cut = record::without_managed_fields(bytes, header);
        normal = Header::read(&cut).map_err(BodyError::new)?;
        ProtobufObject::new(&cut, &normal, type_meta)
    } else {
        ProtobufObject::new(bytes, header, type_meta)
    };
    let body = form.read_protobuf(object)?;
    record::write(draft, &object, &form.keeps_protobuf(object));
    draft.meta.size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    Ok(draft.finish_with(key, body, aside.clone()))
}

/// A record cannot be larger.
#[inline]
fn check_size(bytes: &[u8]) -> Result<(), BodyError> {
    if bytes.len() >= Extent::LARGEST {
        return Err(BodyError::new("larger than 2 GiB"));
    }
    Ok(())
}
