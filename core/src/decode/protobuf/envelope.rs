//! What surrounds an object: its type, and in a watch the type of the event.

use core::fmt;

#[cfg(feature = "alloc")]
use super::known::KnownType;
use super::wire::{Field, Message, Value, WireError};
use crate::decode::TypeMeta;

/// Every object outside of a list, and every list, starts with these bytes.
pub const MAGIC: &[u8; 4] = b"k8s\0";

/// Field numbers of `runtime.Unknown`.
pub(super) const TYPE_META: u32 = 1;
pub(super) const RAW: u32 = 2;
#[cfg(feature = "alloc")]
const CONTENT_ENCODING: u32 = 3;
#[cfg(feature = "alloc")]
const CONTENT_TYPE: u32 = 4;

/// An object with its type: the message `runtime.Unknown`.
///
/// ```
/// use informer_core::decode::protobuf::envelope::Envelope;
///
/// let envelope = Envelope::read(b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x02\x0a\x00\x1a\x00\x22\x00")?;
/// assert_eq!(envelope.type_meta.kind, Some("Pod"));
/// assert_eq!(envelope.object, b"\x0a\x00");
/// # Ok::<(), informer_core::decode::protobuf::envelope::EnvelopeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The type of the object.
    pub type_meta: TypeMeta<'a>,
    /// The message of the object, not checked; empty if there is none.
    pub object: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads an object with its type.
    ///
    /// # Errors
    ///
    /// The bytes do not start with [`MAGIC`], or are not a message.
    pub fn read(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        let message = bytes.strip_prefix(MAGIC).ok_or(EnvelopeError::NoMagic)?;
        let mut envelope = Self::default();
        envelope.fill(&mut Message::new(message))?;
        Ok(envelope)
    }

    /// Reads an object in the same way. If it is of the known type, its type is not read again.
    #[cfg(feature = "alloc")]
    pub(super) fn read_knowing(
        bytes: &'a [u8],
        known: &'a mut KnownType,
    ) -> Result<Self, EnvelopeError> {
        let message = bytes.strip_prefix(MAGIC).ok_or(EnvelopeError::NoMagic)?;
        let mut message = Message::new(message);
        let mut envelope = Self::default();
        // Servers write the type first.
        if let Some(type_message) = message.short_bytes(TYPE_META) {
            envelope.type_meta = known.read(type_message)?;
        }
        if let Some(object) = message.short_bytes(RAW) {
            envelope.object = object;
            message.short_bytes(CONTENT_ENCODING);
            message.short_bytes(CONTENT_TYPE);
        }
        envelope.fill(&mut message)?;
        Ok(envelope)
    }

    /// Reads what it can of bytes that are cut or broken: the type, and the start of the object.
    #[must_use]
    pub fn from_prefix(bytes: &'a [u8]) -> Self {
        let mut envelope = Self::default();
        let message = bytes.strip_prefix(MAGIC).unwrap_or_default();
        // The error only says where reading stopped.
        let _ = envelope.fill(&mut Message::new(message));
        envelope
    }

    fn fill(&mut self, message: &mut Message<'a>) -> Result<(), EnvelopeError> {
        loop {
            match message.next() {
                Ok(None) => return Ok(()),
                Ok(Some(Field { number, value })) => match (number, value) {
                    (TYPE_META, Value::Bytes(bytes)) => read_type(bytes, &mut self.type_meta)?,
                    (RAW, Value::Bytes(bytes)) => self.object = bytes,
                    _ => {}
                },
                Err(error) => {
                    if let Some((RAW, rest)) = message.broken_field() {
                        self.object = rest;
                    }
                    return Err(error.into());
                }
            }
        }
    }
}

/// Reads the type of an object.
pub(super) fn read_type<'a>(
    bytes: &'a [u8],
    type_meta: &mut TypeMeta<'a>,
) -> Result<(), EnvelopeError> {
    const API_VERSION: u32 = 1;
    const KIND: u32 = 2;
    let mut message = Message::new(bytes);
    while let Some(field) = message.next()? {
        let to = match field.number {
            API_VERSION => &mut type_meta.api_version,
            KIND => &mut type_meta.kind,
            _ => continue,
        };
        *to = text(field.value).ok_or(EnvelopeError::NotText)?;
    }
    Ok(())
}

/// The text of a field; `None` in it if the text is empty, `None` if it is not a text.
pub(super) fn text(value: Value<'_>) -> Option<Option<&str>> {
    let Value::Bytes(bytes) = value else {
        return None;
    };
    let text = core::str::from_utf8(bytes).ok()?;
    Some(Some(text).filter(|text| !text.is_empty()))
}

/// One event of a watch: the message `WatchEvent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The type of the event, such as `ADDED`.
    pub kind: &'a str,
    /// The object with its type: an [`Envelope`], not checked; empty if there is none.
    pub object: &'a [u8],
}

impl<'a> Event<'a> {
    /// Reads a frame of a watch.
    ///
    /// # Errors
    ///
    /// The frame is not a message with a type.
    pub fn read(frame: &'a [u8]) -> Result<Self, EnvelopeError> {
        let mut event = Self::NONE;
        event.fill(&mut Message::new(frame))?;
        if event.kind.is_empty() {
            return Err(EnvelopeError::NoType);
        }
        Ok(event)
    }

    /// Reads what it can of a frame that is cut or broken: its type, and the start of its object.
    #[must_use]
    pub fn from_prefix(frame: &'a [u8]) -> Option<Self> {
        let mut event = Self::NONE;
        // The error only says where reading stopped.
        let _ = event.fill(&mut Message::new(frame));
        (!event.kind.is_empty()).then_some(event)
    }

    const NONE: Self = Self {
        kind: "",
        object: &[],
    };

    fn fill(&mut self, message: &mut Message<'a>) -> Result<(), EnvelopeError> {
        const KIND: u32 = 1;
        const OBJECT: u32 = 2;
        // Servers write both, in this order.
        if let Some(kind) = message.short_bytes(KIND) {
            self.kind = event_kind(Value::Bytes(kind))?;
            if let Some(object) = message.short_bytes(OBJECT) {
                self.fill_object(object)?;
            }
        }
        loop {
            match message.next() {
                Ok(None) => return Ok(()),
                Ok(Some(Field { number, value })) => match (number, value) {
                    (KIND, value) => self.kind = event_kind(value)?,
                    (OBJECT, Value::Bytes(bytes)) => self.fill_object(bytes)?,
                    _ => {}
                },
                Err(error) => {
                    if let Some((OBJECT, rest)) = message.broken_field() {
                        // What is there of the object may have a key.
                        let _ = self.fill_object(rest);
                    }
                    return Err(error.into());
                }
            }
        }
    }

    /// Reads a `RawExtension`.
    fn fill_object(&mut self, bytes: &'a [u8]) -> Result<(), WireError> {
        const RAW: u32 = 1;
        let mut message = Message::new(bytes);
        if let Some(object) = message.short_bytes(RAW) {
            self.object = object;
        }
        loop {
            match message.next() {
                Ok(None) => return Ok(()),
                Ok(Some(Field { number, value })) => {
                    if let (RAW, Value::Bytes(bytes)) = (number, value) {
                        self.object = bytes;
                    }
                }
                Err(error) => {
                    if let Some((RAW, rest)) = message.broken_field() {
                        self.object = rest;
                    }
                    return Err(error);
                }
            }
        }
    }
}

fn event_kind(value: Value<'_>) -> Result<&str, EnvelopeError> {
    Ok(match value {
        // Nearly every event: nobody has to look whether these are texts.
        Value::Bytes(b"ADDED") => "ADDED",
        Value::Bytes(b"MODIFIED") => "MODIFIED",
        value => text(value)
            .ok_or(EnvelopeError::NotText)?
            .unwrap_or_default(),
    })
}

/// Why bytes are not an object with a type, or not an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The bytes do not start with [`MAGIC`].
    NoMagic,
    /// The bytes are not a message.
    Wire(WireError),
    /// A type is not a text.
    NotText,
    /// An event has no type.
    NoType,
}

impl From<WireError> for EnvelopeError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMagic => {
                f.write_str("not protobuf of Kubernetes: it does not start with `k8s`")
            }
            Self::Wire(error) => error.fmt(f),
            Self::NotText => f.write_str("a type is not a text"),
            Self::NoType => f.write_str("the event has no type"),
        }
    }
}

impl core::error::Error for EnvelopeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Wire(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_however_it_is_written() {
        let long = [
            &b"\x0a\x05ADDED\x12\x84\x80\x01\x0a\x80\x80\x01"[..],
            &[7; 1 << 14],
        ]
        .concat();
        let wire = |error| Err(EnvelopeError::Wire(error));
        for (frame, read) in [
            (
                &b"\x0a\x05ADDED\x12\x03\x0a\x01x"[..],
                Ok(("ADDED", &b"x"[..])),
            ),
            // The last one counts.
            (
                b"\x0a\x05ADDED\x12\x02\x0a\x00\x0a\x08MODIFIED",
                Ok(("MODIFIED", b"")),
            ),
            (
                b"\x0a\x05ADDED\x12\x05\x0a\x00\x0a\x01x",
                Ok(("ADDED", b"x")),
            ),
            // In another order, with an unknown field, and with a length that is longer than necessary.
            (b"\x12\x03\x0a\x01x\x0a\x05ADDED", Ok(("ADDED", b"x"))),
            (
                b"\x0a\x05ADDED\x18\x01\x12\x03\x0a\x01x",
                Ok(("ADDED", b"x")),
            ),
            (
                b"\x0a\x05ADDED\x12\x83\x80\x00\x0a\x01x",
                Ok(("ADDED", b"x")),
            ),
            (&long, Ok(("ADDED", &[7; 1 << 14]))),
            // What follows a whole object is read, too.
            (
                b"\x0a\x05ADDED\x12\x03\x0a\x00\x0a",
                wire(WireError::Truncated),
            ),
            (
                b"\x0a\x05ADDED\x12\x02\x0a\x00\xff",
                wire(WireError::Truncated),
            ),
            (b"\x12\x02\x0a\x00", Err(EnvelopeError::NoType)),
        ] {
            let read = read.map(|(kind, object)| Event { kind, object });
            assert_eq!(Event::read(frame), read, "{frame:?}");
        }
    }

    #[test]
    fn an_object_is_the_same_whatever_type_is_known() {
        let mut known = KnownType::default();
        for bytes in [
            &b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x02\x0a\x00\x1a\x00\x22\x00"[..],
            b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Job\x12\x02\x0a\x00",
            // A length that is longer than necessary, and a type behind the object.
            b"k8s\0\x0a\x89\x80\x00\x0a\x02v1\x12\x03Pod\x12\x02\x0a\x00",
            b"k8s\0\x12\x02\x0a\x00\x0a\x09\x0a\x02v1\x12\x03Pod",
            // Without a type; with two of them, which are merged; with one that takes the other back.
            b"k8s\0\x12\x02\x0a\x00",
            b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Job\x0a\x05\x12\x03Pod\x12\x02\x0a\x00",
            b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Job\x12\x02\x0a\x00\x0a\x02\x12\x00",
            // What cannot be read.
            b"k8s\0\x0a\x03\x0a\x01\xff\x12\x02\x0a\x00",
            b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x03\x0a\x00",
            b"k8s\0\x0a\x09\x0a\x02v1",
            b"\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x02\x0a\x00",
        ] {
            for _ in 0..2 {
                let read = Envelope::read_knowing(bytes, &mut known);
                assert_eq!(read, Envelope::read(bytes), "{bytes:?}");
            }
        }
    }

    #[test]
    fn what_there_is_of_a_cut_object_is_found() {
        let whole = b"\x0a\x05ADDED\x12\x0b\x0a\x09k8s\0\x12\x03abc";
        for cut in 0..whole.len() {
            let frame = whole.get(..cut).unwrap_or_default();
            let event = Event::from_prefix(frame);
            assert_eq!(event.is_some(), cut >= 7, "{cut}");
            let object = event.map(|event| event.object).unwrap_or_default();
            assert_eq!(object, whole.get(11..cut).unwrap_or_default(), "{cut}");
            let object = Envelope::from_prefix(object).object;
            assert_eq!(object, whole.get(17..cut).unwrap_or_default(), "{cut}");
        }
    }
}
