//! The state machine of a list, byte by byte.

use super::head::{self, NotKept};
use super::{ListError, ListScanner, MAX_HEAD};
use crate::decode::excerpt::Beginning;
use crate::decode::frame::{Assembly, Buffer, Frame};
use crate::decode::json::text::{Extent, JsonCursor, TextError, validate};
use crate::invariant::cannot_happen;

/// The position in a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Begin,
    /// The body does not start like an object.
    Foreign,
    FirstName,
    Name,
    InName,
    Colon(Member),
    Value(Member),
    InValue {
        member: Member,
        keep: bool,
    },
    AfterValue,
    FirstElement,
    Element,
    InElement,
    AfterElement,
    Complete,
    Failed,
}

/// A member of the list.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Member {
    Kind,
    ApiVersion,
    Metadata,
    Items,
    Other,
}

impl Member {
    /// Its name in error messages.
    const fn name(self) -> &'static str {
        match self {
            Self::Kind => "`kind`",
            Self::ApiVersion => "`apiVersion`",
            Self::Metadata => "`metadata`",
            Self::Items => "`items`",
            Self::Other => "a value",
        }
    }
}

/// The result of a step.
pub(super) enum Found<'i> {
    Element(Frame<'i>),
    Assembled,
    End,
}

impl<B: Buffer> ListScanner<B> {
    /// Takes bytes up to the end of one part.
    pub(super) fn step<'i>(
        &mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<Found<'i>>, ListError> {
        loop {
            match self.state {
                State::Foreign => return self.in_foreign(input),
                State::InName => {
                    let complete = self.take_text(input, true)?;
                    let text = kept(&self.parts, "the name of a member")?;
                    if !complete {
                        return Ok(None);
                    }
                    self.state = State::Colon(self.name(text)?);
                }
                State::InValue { member, keep } => {
                    let complete = self.take_text(input, keep)?;
                    kept(&self.parts, member.name())?;
                    if !complete {
                        return Ok(None);
                    }
                    if keep {
                        self.read_value(member)?;
                    }
                    self.state = State::AfterValue;
                }
                State::InElement => return self.in_element(input),
                State::Complete | State::Failed => {
                    self.take(input, input.len());
                    return Ok(None);
                }
                _ => {
                    if !self.pass_token(input)? {
                        return Ok(None);
                    }
                    if let State::Complete = self.state {
                        return Ok(Some(Found::End));
                    }
                }
            }
        }
    }

    /// Takes the start of a body that is not an object, for the error message.
    fn in_foreign<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Found<'i>>, ListError> {
        let missing = Beginning::LENGTH.saturating_sub(self.parts.length());
        let part = self.take(input, missing.min(input.len()));
        self.parts.push(part);
        if self.parts.length() < Beginning::LENGTH {
            return Ok(None);
        }
        Err(self.foreign())
    }

    fn in_element<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Found<'i>>, ListError> {
        let end = self.extent.scan(input);
        let part = self.take(input, end.unwrap_or(input.len()));
        let whole = self.parts.is_empty() && end.is_some();
        if whole && part.len() <= self.endless {
            self.end_element();
            return Ok(Some(Found::Element(self.parts.frame_of(part))));
        }
        self.parts.push(part);
        if self.parts.length() > self.endless {
            return Err(self.too_long("an element"));
        }
        if end.is_none() {
            return Ok(None);
        }
        self.end_element();
        Ok(Some(Found::Assembled))
    }

    /// Skips white space and one token between values; `false` if the input is used up.
    pub(super) fn pass_token(&mut self, input: &mut &[u8]) -> Result<bool, ListError> {
        let white = input.iter().take_while(|byte| is_white(**byte)).count();
        self.take(input, white);
        self.pass(white)?;
        let Some(byte) = input.first() else {
            return Ok(false);
        };
        if self.token(*byte)? {
            self.take(input, 1);
            self.pass(1)?;
        }
        Ok(true)
    }

    /// Counts bytes outside of elements.
    fn pass(&mut self, count: usize) -> Result<(), ListError> {
        self.between = self.between.saturating_add(count);
        if self.between > self.endless {
            return Err(self.too_long("the gap between two elements"));
        }
        Ok(())
    }

    pub(super) const fn end_element(&mut self) {
        self.state = State::AfterElement;
        self.between = 0;
    }

    const fn too_long(&self, what: &'static str) -> ListError {
        let longest = self.endless;
        ListError::TooLong { what, longest }
    }

    /// Handles `byte` between values. Returns whether it is consumed.
    fn token(&mut self, byte: u8) -> Result<bool, ListError> {
        let unexpected = |expected| {
            let at = self.taken;
            Err(ListError::Unexpected {
                at,
                expected,
                found: byte,
            })
        };
        self.state = match (self.state, byte) {
            (State::Begin, b'{') => State::FirstName,
            (State::Begin, _) => {
                self.parts.begin(MAX_HEAD);
                self.state = State::Foreign;
                return Ok(false);
            }
            (State::FirstName | State::AfterValue, b'}') => self.complete()?,
            (State::FirstName | State::Name, b'"') => {
                self.begin_text();
                self.state = State::InName;
                return Ok(false);
            }
            (State::FirstName | State::Name, _) => return unexpected("the name of a member"),
            (State::Colon(member), b':') => State::Value(member),
            (State::Colon(_), _) => return unexpected("`:`"),
            (State::AfterValue, b',') => State::Name,
            (State::AfterValue, _) => return unexpected("`,` or `}`"),
            (State::AfterElement, b',') => State::Element,
            (State::AfterElement | State::FirstElement, b']') => State::AfterValue,
            (State::AfterElement, _) => return unexpected("`,` or `]`"),
            (_, b',' | b':' | b']' | b'}') => return unexpected("a value"),
            (State::Value(Member::Items), _) if self.has_items => {
                return Err(ListError::ItemsTwice);
            }
            (State::Value(Member::Items), b'[') => {
                self.has_items = true;
                State::FirstElement
            }
            (State::Value(member), _) => {
                self.begin_text();
                // Skip strings, objects and arrays of unknown members without keeping them.
                let keep = member != Member::Other || !matches!(byte, b'"' | b'{' | b'[');
                self.state = State::InValue { member, keep };
                return Ok(false);
            }
            (State::FirstElement | State::Element, _) => {
                self.parts.begin(self.longest);
                self.extent = Extent::new();
                self.state = State::InElement;
                return Ok(false);
            }
            (
                state @ (State::Foreign
                | State::InName
                | State::InValue { .. }
                | State::InElement
                | State::Complete
                | State::Failed),
                _,
            ) => cannot_happen("a state that takes more than a byte at once", state),
        };
        Ok(true)
    }

    fn complete(&self) -> Result<State, ListError> {
        if self.kind() == Some("Status") {
            return Err(ListError::Status);
        }
        if !self.has_items {
            let kind = self.kind().map(|kind| Beginning::new(kind.as_bytes()));
            return Err(ListError::NoItems { kind });
        }
        Ok(State::Complete)
    }

    pub(super) fn foreign(&self) -> ListError {
        let found = Beginning::new(self.parts.frame().bytes);
        ListError::NotAnObject { found }
    }

    pub(super) fn take<'i>(&mut self, input: &mut &'i [u8], count: usize) -> &'i [u8] {
        let split = input.split_at_checked(count);
        let (taken, rest) =
            split.unwrap_or_else(|| cannot_happen("more bytes than there are", (*input, &[])));
        *input = rest;
        self.taken = self.taken.saturating_add(taken.len() as u64);
        taken
    }

    fn begin_text(&mut self) {
        self.parts.begin(MAX_HEAD);
        self.extent = Extent::new();
    }

    /// Takes more of a name or value. Returns whether it is complete.
    fn take_text(&mut self, input: &mut &[u8], keep: bool) -> Result<bool, ListError> {
        let end = self.extent.scan(input);
        let part = self.take(input, end.unwrap_or(input.len()));
        if keep {
            self.parts.push(part);
        }
        self.pass(part.len())?;
        Ok(end.is_some())
    }

    fn name(&self, name: &[u8]) -> Result<Member, ListError> {
        let name = JsonCursor::new(name)
            .string()
            .map_err(|error| self.unreadable("a name", error))?;
        let known = [
            ("kind", Member::Kind),
            ("apiVersion", Member::ApiVersion),
            ("metadata", Member::Metadata),
            ("items", Member::Items),
        ];
        let member = known.into_iter().find(|(known, _)| name.eq_str(known));
        Ok(member.map_or(Member::Other, |(_, member)| member))
    }

    fn read_value(&mut self, member: Member) -> Result<(), ListError> {
        let text = kept(&self.parts, member.name())?;
        let read = match member {
            Member::Kind => self.head.keep(text).map(|kind| self.head.kind = kind),
            Member::ApiVersion => self
                .head
                .keep(text)
                .map(|text| self.head.api_version = text),
            Member::Metadata => self.head.read_metadata(text),
            Member::Items if text == b"null" => {
                self.has_items = true;
                Ok(())
            }
            Member::Items => {
                let found = Beginning::new(text);
                return Err(ListError::ItemsNotArray { found });
            }
            Member::Other => validate(text, head::DEPTH).map_err(NotKept::Text),
        };
        match read {
            Ok(()) => {}
            Err(NotKept::Text(error)) => return Err(self.unreadable(member.name(), error)),
            Err(NotKept::TooLong(longest)) => {
                let what = member.name();
                return Err(ListError::TooLong { what, longest });
            }
        }
        let is_meta = |version: &str| version.starts_with("meta.k8s.io/");
        if self.kind() == Some("Table") && self.api_version().is_some_and(is_meta) {
            return Err(ListError::Table);
        }
        Ok(())
    }

    /// Converts the position of `error` to a position in the whole body.
    fn unreadable(&self, what: &'static str, error: TextError) -> ListError {
        let at = match error {
            TextError::Syntax { at } | TextError::TooDeep { at } => at,
        };
        let start = self.taken.saturating_sub(self.parts.length() as u64);
        ListError::Unreadable {
            what,
            at: start.saturating_add(at as u64),
        }
    }
}

/// The text of a name or value, unless it is too long.
fn kept<'a, B: Buffer>(parts: &'a Assembly<B>, what: &'static str) -> Result<&'a [u8], ListError> {
    let Frame {
        bytes, oversized, ..
    } = parts.frame();
    if oversized {
        let longest = parts.longest();
        return Err(ListError::TooLong { what, longest });
    }
    Ok(bytes)
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
