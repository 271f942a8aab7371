//! From the frames of a JSON body to facts.

use alloc::vec::Vec;

use super::envelope::{Envelope, EventType};
use super::form::JsonObject;
use super::header::{EarlierParts, Header, HeaderError};
use super::lines::Lines;
use super::list::{Element, ListError, ListScanner, Part};
use super::record;
use super::status::ApiStatus;
use super::text::{ArrayLength, ArrayLengths, Familiar, JsonStr};
use crate::decode::excerpt::Excerpt;
use crate::decode::facts::{AsideOf, Bookmark, ErrorEvent, FactOf, Facts, TABLE, Whose};
use crate::decode::form::{BodyError, Form};
use crate::decode::frame::Frame;
use crate::decode::{Body, Limits, TypeMeta};
use crate::decoded::{Aside, Draft, Extent, Object};
use crate::failure::{Failure, message};
use crate::flow::{Fact, Place};

/// How much longer than its object a line of a watch may be.
const ENVELOPE: usize = 1024;

/// Reads one body after another.
#[derive(Clone, Debug)]
pub(in crate::decode) struct JsonReading {
    body: Body,
    longest: usize,
    list: ListScanner<Vec<u8>>,
    lines: Lines<Vec<u8>>,
    noted: Noted,
}

/// What is noted while headers are read.
#[derive(Clone, Debug)]
struct Noted {
    /// The arrays of the last object.
    lengths: ArrayLengths,
    /// Parts of objects before it.
    earlier: EarlierParts,
}

impl JsonReading {
    pub(in crate::decode) fn new<F: Form>(form: &F, limits: Limits) -> Self {
        let longest = limits.object_bytes;
        Self {
            body: Body::List,
            longest,
            list: ListScanner::new(longest),
            lines: Lines::new(longest.saturating_add(ENVELOPE)),
            noted: Noted::new(form),
        }
    }

    /// Starts a new body.
    pub(in crate::decode) fn begin(&mut self, body: Body) {
        self.body = body;
        self.lines.reset();
        self.list = ListScanner::new(self.longest);
    }

    /// Takes bytes up to the end of one fact.
    pub(in crate::decode) fn next<'a, F: Form>(
        &'a mut self,
        input: &mut &[u8],
        facts: &'a mut Facts<F>,
    ) -> Option<FactOf<'a, F>> {
        if let Body::Watch = self.body {
            return Some(facts.line(self.lines.next(input)?, &mut self.noted));
        }
        if let Some((json, header)) = self.whole_element::<F>(input, facts.limits) {
            let lengths = self.noted.lengths.found();
            return Some(facts.item(json, Ok(header), self.list.type_meta(), lengths));
        }
        Some(match self.list.next(input)? {
            Ok(Part::Element(element)) => facts.element(element, &mut self.noted),
            Ok(Part::End) => Fact::PageEnd {
                version: self.list.version(),
                next: self.list.next_page(),
                remaining: self.list.remaining(),
            },
            Err(error) => facts.fail(Failure::Undecodable, error),
        })
    }

    /// Ends the body.
    pub(in crate::decode) fn end<'a, F: Form>(&mut self, facts: &'a mut Facts<F>) -> FactOf<'a, F> {
        self.lines.reset();
        match (self.body, self.list.end()) {
            // A cut line does not matter: the next watch starts before it.
            (Body::Watch, _) | (Body::List, Ok(())) => Fact::Closed,
            (Body::List, Err(error @ ListError::Incomplete { .. })) => {
                facts.fail(Failure::Broken, error)
            }
            (Body::List, Err(error)) => facts.fail(Failure::Undecodable, error),
        }
    }

    /// A valid element that is complete at the front of `input`. Reading it also finds its end,
    /// which saves a pass. The scanner handles all other elements.
    fn whole_element<'i, F: Form>(
        &mut self,
        input: &mut &'i [u8],
        limits: Limits,
    ) -> Option<(&'i [u8], Header<'i>)> {
        if !self.list.is_at_element(input) {
            return None;
        }
        let (header, length) = self.noted.first::<F>(input, limits.depth).ok()?;
        if length > limits.object_bytes {
            return None;
        }
        Some((self.list.pass_element(input, length), header))
    }
}

impl Noted {
    fn new<F: Form>(form: &F) -> Self {
        // The arrays of a part that looks like an earlier one are not counted.
        let reads_spec = F::COUNTS_ARRAYS;
        let reads_managed_fields = F::COUNTS_ARRAYS && form.sees_managed_fields();
        let unless = |is_read: bool| (!is_read).then(Familiar::default);
        Self {
            lengths: ArrayLengths::new(),
            earlier: EarlierParts {
                managed_fields: unless(reads_managed_fields),
                spec: unless(reads_spec),
                status: unless(reads_spec),
            },
        }
    }

    /// The header of an object, and the lengths of its arrays if the form uses them.
    fn header<'a, F: Form>(
        &mut self,
        json: &'a [u8],
        depth: usize,
    ) -> Result<Header<'a>, HeaderError> {
        let Self { lengths, earlier } = self;
        lengths.clear();
        if F::COUNTS_ARRAYS {
            Header::read_noting(json, depth, lengths, earlier)
        } else {
            Header::read_noting(json, depth, &mut (), earlier)
        }
    }

    /// The same of the object at the start of a text, and its length.
    fn first<'a, F: Form>(
        &mut self,
        text: &'a [u8],
        depth: usize,
    ) -> Result<(Header<'a>, usize), HeaderError> {
        let Self { lengths, earlier } = self;
        lengths.clear();
        if F::COUNTS_ARRAYS {
            Header::first(text, depth, lengths, earlier)
        } else {
            Header::first(text, depth, &mut (), earlier)
        }
    }
}

impl<F: Form> Facts<F> {
    fn element(
        &mut self,
        Element { frame, type_meta }: Element<'_>,
        noted: &mut Noted,
    ) -> FactOf<'_, F> {
        let json = frame.bytes;
        if frame.oversized {
            return self.reject_large(Place::Item, whose(json));
        }
        let header = noted.header::<F>(json, self.limits.depth);
        self.item(json, header, type_meta, noted.lengths.found())
    }

    fn item(
        &mut self,
        json: &[u8],
        header: Result<Header<'_>, HeaderError>,
        type_meta: TypeMeta<'_>,
        lengths: &[ArrayLength],
    ) -> FactOf<'_, F> {
        let read = self.assemble(json, header, type_meta, lengths);
        self.object(read, Place::Item, Fact::Item, || whose(json))
    }

    fn assemble(
        &mut self,
        json: &[u8],
        header: Result<Header<'_>, HeaderError>,
        type_meta: TypeMeta<'_>,
        lengths: &[ArrayLength],
    ) -> Result<Object<F::Body>, BodyError> {
        assemble(
            &mut self.form,
            &mut self.draft,
            json,
            header,
            type_meta,
            lengths,
            &self.aside,
        )
    }

    fn line(&mut self, frame: Frame<'_>, noted: &mut Noted) -> FactOf<'_, F> {
        let line = frame.bytes;
        if frame.endless {
            let found = Excerpt(line);
            let text = format_args!("a line of the watch does not end; it starts with: {found}");
            return self.fail(Failure::Undecodable, text);
        }
        if frame.oversized {
            return self.broken_line(line, &self.too_large());
        }
        if let Some(envelope) = Envelope::guess(line)
            && let Ok(header) = noted.header::<F>(envelope.object, self.limits.depth)
        {
            return self.event(envelope, Ok(header), noted.lengths.found());
        }
        match Envelope::read(line) {
            Ok(envelope) => {
                let header = noted.header::<F>(envelope.object, self.limits.depth);
                self.event(envelope, header, noted.lengths.found())
            }
            Err(error) => self.broken_line(line, &message(error)),
        }
    }

    fn event<'a>(
        &'a mut self,
        envelope: Envelope<'_>,
        header: Result<Header<'_>, HeaderError>,
        lengths: &[ArrayLength],
    ) -> FactOf<'a, F> {
        let json = envelope.object;
        let (place, state): (_, fn(_) -> FactOf<'a, F>) = match envelope.event {
            EventType::Added => (Place::Upsert, Fact::Added),
            EventType::Modified => (Place::Upsert, Fact::Modified),
            EventType::Deleted => (Place::Delete, Fact::Deleted),
            EventType::Bookmark => return self.bookmark(header.map(bookmark), || whose(json)),
            EventType::Error => return self.error_event(error_event(json), json),
            EventType::Unknown(name) => return self.reject_unknown(name, whose(json)),
        };
        if json.len() > self.limits.object_bytes {
            return self.reject_large(place, whose(json));
        }
        let read = self.assemble(json, header, TypeMeta::default(), lengths);
        self.object(read, place, state, || whose(json))
    }

    /// A line that is not a valid event. It is only rejected if its key is readable.
    fn broken_line(&mut self, line: &[u8], reason: &str) -> FactOf<'_, F> {
        let Some(Envelope { event, object }) = Envelope::from_prefix(line) else {
            let found = Excerpt(line);
            let text =
                format_args!("cannot read a line of the watch: {reason}; it starts with: {found}");
            return self.fail(Failure::Undecodable, text);
        };
        let whose = whose(object);
        let place = match event {
            EventType::Added | EventType::Modified => Place::Upsert,
            EventType::Deleted => Place::Delete,
            EventType::Unknown(name) => return self.reject_unknown(name, whose),
            EventType::Bookmark | EventType::Error => {
                let text = format_args!("cannot read a BOOKMARK or ERROR event: {reason}");
                return self.fail(Failure::Undecodable, text);
            }
        };
        if whose.key.is_none() {
            let text = format_args!("a line of the watch has no readable key: {reason}");
            return self.fail(Failure::Undecodable, text);
        }
        self.reject(place, whose, reason)
    }
}

fn bookmark(header: Header<'_>) -> Bookmark<JsonStr<'_>> {
    Bookmark {
        version: header.version.filter(|version| !version.is_empty()),
        ends_initial_events: header.ends_initial_events(),
        is_table: header.is_table(),
    }
}

fn error_event(json: &[u8]) -> Option<ErrorEvent<JsonStr<'_>>> {
    let status = ApiStatus::read(json)?;
    let mut texts = [status.message, status.reason].into_iter().flatten();
    Some(ErrorEvent {
        failure: status.classify(),
        code: status.code,
        text: texts.find(|text| !text.is_empty()),
    })
}

/// What is readable of an object that cannot be used.
fn whose(json: &[u8]) -> Whose<JsonStr<'_>> {
    let header = Header::from_prefix(json);
    Whose {
        key: header.key().ok(),
        uid: header.uid,
        version: header.version,
    }
}

/// Decodes a single object from JSON, such as a line of a file or the answer to a `get`.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
///
/// let json = br#"{"metadata":{"namespace":"web","name":"a","labels":{"app":"shop"}},"spec":{}}"#;
/// let pod = decode_object(&mut Lean, json)?;
/// assert_eq!((pod.key().as_str(), pod.labels().get("app")), ("web/a", Some("shop")));
/// assert!(decode_object(&mut Lean, b"{}").is_err());
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
///
/// # Errors
/// The text is not an object with a name, or the object does not fit the form.
pub fn decode_object<F: Form>(form: &mut F, json: &[u8]) -> Result<Object<F::Body>, BodyError> {
    let mut lengths = ArrayLengths::new();
    let header = Header::read_noting(json, Limits::new().depth, &mut lengths, &mut ());
    let aside = Aside::shared(form.body_annotations());
    assemble(
        form,
        &mut Draft::new(),
        json,
        header,
        TypeMeta::default(),
        lengths.found(),
        &aside,
    )
}

fn assemble<F: Form>(
    form: &mut F,
    draft: &mut Draft,
    json: &[u8],
    header: Result<Header<'_>, HeaderError>,
    type_meta: TypeMeta<'_>,
    lengths: &[ArrayLength],
    aside: &AsideOf<F>,
) -> Result<Object<F::Body>, BodyError> {
    let header = &header.map_err(BodyError::new)?;
    if header.is_table() {
        return Err(BodyError::new(TABLE));
    }
    let key = header.key_in(&mut draft.key).map_err(BodyError::new)?;
    if json.len() >= Extent::LARGEST {
        return Err(BodyError::new("larger than 2 GiB"));
    }
    let object = JsonObject {
        lengths,
        ..JsonObject::new(json, header, type_meta)
    };
    let body = form.read_json(object)?;
    record::write(draft, object, header.labels(), &form.keeps_json(object));
    Ok(draft.finish_with(key, body, aside.clone()))
}
