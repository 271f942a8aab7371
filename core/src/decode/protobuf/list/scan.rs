//! The state machine of a list, field by field.

use super::{ListError, ListScanner};
use crate::decode::TypeMeta;
use crate::decode::excerpt::Beginning;
use crate::decode::frame::{Buffer, Frame};
use crate::decode::protobuf::envelope::{EnvelopeError, MAGIC, RAW, TYPE_META, read_type, text};
use crate::decode::protobuf::wire::{Message, Shape, Tag, Varint, WireError};

/// Field numbers of every list.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

/// What the next bytes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// The first bytes of a body. This many were read.
    Magic(usize),
    /// A tag.
    Tag(Varint),
    /// The length of this field.
    Length(u32, Varint),
    /// A number of no interest.
    Number(Varint),
    /// This many bytes of no interest.
    Skip(u64),
    /// The type of the list. This many bytes are left.
    Type(u64),
    /// The `metadata` of the list. This many bytes are left.
    Metadata(u64),
    /// An element of this length.
    Element(usize),
    /// A body that is not protobuf of Kubernetes. Its start is kept for a message.
    Foreign,
    Complete,
    Failed,
}

/// What a step found.
pub(super) enum Found<'i> {
    /// An element in one piece.
    Element(Frame<'i>),
    /// An element that was put together.
    Assembled,
    End,
}

impl State {
    pub(super) const BEGIN: Self = Self::Magic(0);

    const TAG: Self = Self::Tag(Varint::new());
}

impl<B: Buffer> ListScanner<B> {
    /// Goes on to the next part; `None` if `input` was too short.
    #[inline(never)]
    pub(super) fn step<'i>(
        &mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<Found<'i>>, ListError> {
        loop {
            if let State::Tag(varint) = self.state
                && self.left == Some(0)
            {
                if varint.has_begun() || self.groups > 0 {
                    return Err(self.unreadable("a field", WireError::Truncated));
                }
                self.state = State::Complete;
                return Ok(Some(Found::End));
            }
            if input.is_empty() && !self.needs_nothing() {
                return Ok(None);
            }
            match self.state {
                State::Complete | State::Failed => *input = &[],
                State::Magic(read) => self.magic(input, read)?,
                State::Foreign => self.quote(input)?,
                State::Skip(left) => {
                    let skipped = self.take(input, left)?;
                    self.state = match left - length_of(skipped) {
                        0 => State::TAG,
                        left => State::Skip(left),
                    };
                }
                State::Type(left) | State::Metadata(left) => self.gather(input, left)?,
                State::Tag(varint) | State::Length(_, varint) | State::Number(varint) => {
                    self.number(input, varint)?;
                }
                State::Element(length) => {
                    let found = self.element(input, length);
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
    }

    /// Whether the next step needs no bytes.
    const fn needs_nothing(&self) -> bool {
        matches!(
            self.state,
            State::Skip(0) | State::Type(0) | State::Metadata(0) | State::Element(0)
        )
    }

    fn magic(&mut self, input: &mut &[u8], read: usize) -> Result<(), ListError> {
        if input.first() != MAGIC.get(read) {
            self.parts.push(MAGIC.get(..read).unwrap_or_default());
            self.state = State::Foreign;
            return Ok(());
        }
        self.take(input, 1)?;
        self.state = if read + 1 < MAGIC.len() {
            State::Magic(read + 1)
        } else {
            State::TAG
        };
        Ok(())
    }

    /// Takes as much of a foreign body as a message quotes.
    fn quote(&mut self, input: &mut &[u8]) -> Result<(), ListError> {
        let missing = Beginning::LENGTH.saturating_sub(self.parts.length());
        let part = self.take(input, length_of_most(missing))?;
        self.parts.push(part);
        if part.len() < missing {
            return Ok(());
        }
        Err(self.foreign())
    }

    pub(super) fn foreign(&self) -> ListError {
        ListError::NoMagic {
            found: Beginning::new(self.parts.frame().bytes),
        }
    }

    /// Takes the bytes of a number.
    fn number(&mut self, input: &mut &[u8], mut varint: Varint) -> Result<(), ListError> {
        while let [byte, ..] = self.take(input, 1)? {
            let number = varint.push(*byte);
            let Some(number) = number.map_err(|error| self.unreadable("a number", error))? else {
                if self.left == Some(0) {
                    return Err(self.unreadable("a number", WireError::Truncated));
                }
                continue;
            };
            self.state = match self.state {
                State::Tag(_) => self.begin_field(number)?,
                State::Length(field, _) => self.begin_value(field, number)?,
                _ => State::TAG,
            };
            return Ok(());
        }
        self.state = match self.state {
            State::Tag(_) => State::Tag(varint),
            State::Length(field, _) => State::Length(field, varint),
            _ => State::Number(varint),
        };
        Ok(())
    }

    fn begin_field(&mut self, tag: u64) -> Result<State, ListError> {
        let tag = Tag::from_number(tag).map_err(|error| self.unreadable("a field", error))?;
        Ok(match tag.shape {
            Shape::Number => State::Number(Varint::new()),
            Shape::Fixed(length) => self.begin_skip(length)?,
            Shape::Bytes => State::Length(tag.number, Varint::new()),
            Shape::GroupStart => {
                self.groups += 1;
                State::TAG
            }
            Shape::GroupEnd => {
                let left = self.groups.checked_sub(1);
                let left = left.ok_or(WireError::InvalidTag);
                self.groups = left.map_err(|error| self.unreadable("a field", error))?;
                State::TAG
            }
        })
    }

    fn begin_skip(&self, length: u64) -> Result<State, ListError> {
        if self.left.is_some_and(|left| length > left) {
            return Err(self.unreadable("a field", WireError::Truncated));
        }
        Ok(State::Skip(length))
    }

    fn begin_value(&mut self, field: u32, length: u64) -> Result<State, ListError> {
        let skip = self.begin_skip(length)?;
        if self.groups > 0 {
            return Ok(skip);
        }
        match (self.left, field) {
            (None, TYPE_META) => Ok(State::Type(length)),
            (None, RAW) => {
                self.check_kind()?;
                self.left = Some(length);
                Ok(State::TAG)
            }
            (Some(_), METADATA) => Ok(State::Metadata(length)),
            (Some(_), ITEMS) => match usize::try_from(length) {
                Ok(length) if length <= self.endless => {
                    self.between = 0;
                    Ok(State::Element(length))
                }
                _ => Err(ListError::TooLong {
                    what: "an element",
                    longest: self.endless,
                }),
            },
            _ => Ok(skip),
        }
    }

    /// In protobuf, only the kind tells a list from other objects.
    fn check_kind(&self) -> Result<(), ListError> {
        match self.kind() {
            Some("Status") => Err(ListError::Status),
            Some(kind) if kind.ends_with("List") => Ok(()),
            kind => Err(ListError::NotAList {
                kind: kind.map(|kind| Beginning::new(kind.as_bytes())),
            }),
        }
    }

    /// Takes a part of the type or the `metadata`.
    fn gather(&mut self, input: &mut &[u8], left: u64) -> Result<(), ListError> {
        let part = self.take(input, left)?;
        let left = left - length_of(part);
        let (what, buffer) = match self.state {
            State::Type(_) => ("the type", &mut self.type_meta),
            _ => ("`metadata`", &mut self.metadata),
        };
        if length_of(buffer.as_ref()) + length_of(part) + left > length_of_most(self.most) {
            let longest = self.most;
            return Err(ListError::TooLong { what, longest });
        }
        buffer.append(part, self.most);
        self.state = match (self.state, left) {
            (State::Type(_), 1..) => State::Type(left),
            (_, 1..) => State::Metadata(left),
            (State::Type(_), 0) => {
                let mut type_meta = TypeMeta::default();
                let checked = read_type(self.type_meta.as_ref(), &mut type_meta);
                checked.map_err(|error| self.unreadable(what, error))?;
                State::TAG
            }
            (_, 0) => {
                let checked = check_metadata(self.metadata.as_ref());
                checked.map_err(|error| self.unreadable(what, error))?;
                State::TAG
            }
        };
        Ok(())
    }

    /// Takes an element that lies whole in `input`, with its tag and length, as most do. Everything else is
    /// left to the other states.
    #[inline(always)]
    pub(super) fn whole_element<'i>(&mut self, input: &mut &'i [u8]) -> Option<Frame<'i>> {
        match self.state {
            State::Tag(varint) if !varint.has_begun() => {}
            _ => return None,
        }
        let left = self.left.filter(|_| self.groups == 0)?;
        let mut message = Message::new(input);
        let element = message.short_bytes(ITEMS)?;
        let length = length_of_most(message.position());
        let head = length - length_of(element);
        let endless = length_of_most(self.endless);
        if length > left || length_of(element) > endless || self.between + head > endless {
            return None;
        }
        self.left = Some(left - length);
        self.taken = self.taken.saturating_add(length);
        self.between = 0;
        *input = message.rest();
        Some(self.parts.frame_of(element))
    }

    fn element<'i>(&mut self, input: &mut &'i [u8], length: usize) -> Option<Found<'i>> {
        let missing = length.saturating_sub(self.parts.length());
        let part = input
            .split_off(..missing.min(input.len()))
            .unwrap_or_default();
        self.count(part);
        let is_whole = part.len() == length;
        if !is_whole {
            self.parts.push(part);
        }
        if part.len() < missing {
            return None;
        }
        self.state = State::TAG;
        if is_whole {
            return Some(Found::Element(self.parts.frame_of(part)));
        }
        self.handed_out = true;
        Some(Found::Assembled)
    }

    /// Takes up to `most` bytes that are not part of an element.
    fn take<'i>(&mut self, input: &mut &'i [u8], most: u64) -> Result<&'i [u8], ListError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let part = input.split_off(..most.min(input.len())).unwrap_or_default();
        self.count(part);
        self.between = self.between.saturating_add(length_of(part));
        if self.between > length_of_most(self.endless) {
            return Err(ListError::TooLong {
                what: "what stands between two elements",
                longest: self.endless,
            });
        }
        Ok(part)
    }

    fn count(&mut self, part: &[u8]) {
        let length = length_of(part);
        self.taken = self.taken.saturating_add(length);
        // A part never goes beyond the list: its length was compared before.
        self.left = self.left.map(|left| left.saturating_sub(length));
    }

    fn unreadable(&self, what: &'static str, error: impl Into<EnvelopeError>) -> ListError {
        ListError::Unreadable {
            what,
            at: self.taken,
            error: error.into(),
        }
    }
}

/// Version and token must be texts.
fn check_metadata(metadata: &[u8]) -> Result<(), EnvelopeError> {
    let mut message = Message::new(metadata);
    while let Some(field) = message.next()? {
        if matches!(field.number, 2 | 3) {
            text(field.value).ok_or(EnvelopeError::NotText)?;
        }
    }
    Ok(())
}

const fn length_of(bytes: &[u8]) -> u64 {
    length_of_most(bytes.len())
}

const fn length_of_most(length: usize) -> u64 {
    // No platform has a larger `usize`.
    length as u64
}
