//! The elements of a list, one by one, while the bytes arrive.
//!
//! ```
//! use informer_core::decode::list::{ListScanner, Part};
//!
//! let mut list = ListScanner::new(1024);
//! let mut elements = Vec::new();
//! for mut piece in [
//!     &br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":1},{"#[..],
//!     br#""b":2}]}"#,
//! ] {
//!     while let Some(part) = list.next(&mut piece) {
//!         if let Part::Element(element) = part? {
//!             elements.push(element.frame.bytes.to_vec());
//!         }
//!     }
//! }
//! list.end()?;
//! assert_eq!(elements, [&br#"{"a":1}"#[..], br#"{"b":2}"#]);
//! assert_eq!(list.version(), "7");
//! # Ok::<(), informer_core::decode::list::ListError>(())
//! ```

// Why a body is not a list.
mod error;

// What a list says about itself.
mod metadata;

#[cfg(test)]
mod tests;

use alloc::string::String;

use super::form::TypeMeta;
use super::json_text::{Cursor, Extent, TextError};
use super::lines::{Assembly, Frame};

use metadata::{Metadata, read_text};

pub use error::ListError;

/// The most bytes of a list's `metadata`, and of anything else of a list that must be kept.
const MAX_HEAD: usize = 64 << 10;

/// After so many bytes at least, nobody waits for the end of an element, or for the next one: an order
/// above what a server stores in one object.
const ENDLESS: usize = 32 << 20;

/// How much of a body that is no object is shown to people.
const FOREIGN: usize = 60;

/// What a [`ListScanner`] finds.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Part<'a> {
    /// An element of `items`.
    Element(Element<'a>),
    /// The list is complete.
    End,
}

/// An element of a list.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Element<'a> {
    /// Its text. Quotes and brackets match, nothing else about it has been checked.
    pub frame: Frame<'a>,
    /// What the list, so far, tells about the type of its elements.
    pub type_meta: TypeMeta<'a>,
}

/// Finds the elements of the top-level `items` of a List, and what the List says about itself.
///
/// It is fed the body in pieces of any size and looks at every byte at most once. It holds at most one
/// element, and that only if the element crosses a border of pieces; of an element beyond the bound
/// the beginning is kept. It gives up on an element without an end in sight, and so it does on whatever
/// else stands between two elements. Members may come in any order; of repeated ones the last counts.
#[derive(Clone, Debug)]
pub struct ListScanner {
    state: State,
    taken: u64,
    extent: Extent,
    element: Assembly,
    /// A name, or a value that is read: everything but elements.
    text: Assembly,
    /// How many bytes have passed since the last element.
    between: usize,
    /// How long an element, or what stands between two of them, may be.
    endless: usize,
    has_items: bool,
    kind: Option<String>,
    api_version: Option<String>,
    metadata: Metadata,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Begin,
    /// The body does not begin as an object does.
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

#[derive(Clone, Copy, PartialEq, Debug)]
enum Member {
    Kind,
    ApiVersion,
    Metadata,
    Items,
    Other,
}

impl Member {
    const fn describe(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::ApiVersion => "apiVersion",
            Self::Metadata => "`metadata`",
            Self::Items => "`items`",
            Self::Other => "a number",
        }
    }
}

enum Found<'i> {
    Element(Frame<'i>),
    Assembled,
    End,
}

impl ListScanner {
    /// A scanner at the beginning of a body, for elements of at most `longest` bytes.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        let patience = longest.saturating_mul(2);
        Self {
            state: State::Begin,
            taken: 0,
            extent: Extent::new(),
            element: Assembly::new(longest),
            text: Assembly::new(MAX_HEAD),
            between: 0,
            endless: if patience > ENDLESS {
                patience
            } else {
                ENDLESS
            },
            has_items: false,
            kind: None,
            api_version: None,
            metadata: Metadata::new(),
        }
    }

    /// `kind` of the list, as far as it was read.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// `apiVersion` of the list, as far as it was read.
    #[must_use]
    pub fn api_version(&self) -> Option<&str> {
        self.api_version.as_deref()
    }

    /// `metadata.resourceVersion`; empty if there is none.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.metadata.version
    }

    /// `metadata.continue`: the token of the next page.
    #[must_use]
    pub fn next_page(&self) -> Option<&str> {
        self.metadata.next.as_deref()
    }

    /// `metadata.remainingItemCount`.
    #[must_use]
    pub const fn remaining(&self) -> Option<u64> {
        self.metadata.remaining
    }

    /// What the list, so far, tells about the type of its elements: they do not do so themselves.
    #[must_use]
    pub fn type_meta(&self) -> TypeMeta<'_> {
        let kind = self.kind().and_then(|kind| kind.strip_suffix("List"));
        TypeMeta {
            api_version: self.api_version(),
            kind: kind.filter(|kind| !kind.is_empty()),
        }
    }

    /// Takes bytes off the front of `input` up to the end of one part, and gives the part. `None`
    /// means that all of `input` was taken. What follows the end, or an error, is passed over.
    ///
    /// # Errors
    ///
    /// If the body is not a list. A list with broken elements is still a list.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Option<Result<Part<'a>, ListError>> {
        let found = match self.step(input).transpose()? {
            Ok(found) => found,
            Err(error) => {
                self.state = State::Failed;
                *input = &[];
                return Some(Err(error));
            }
        };
        let frame = match found {
            Found::End => return Some(Ok(Part::End)),
            Found::Element(frame) => frame,
            Found::Assembled => self.element.frame(),
        };
        Some(Ok(Part::Element(Element {
            frame,
            type_meta: self.type_meta(),
        })))
    }

    /// Goes to the beginning of the next element. Says whether `input` begins with one: then whoever
    /// can tell where it ends says so to [`pass_element`](Self::pass_element), and
    /// [`next`](Self::next) need not look for its end.
    pub(super) fn is_at_element(&mut self, input: &mut &[u8]) -> bool {
        while let State::FirstElement | State::Element | State::AfterElement = self.state {
            // What is wrong is still wrong when `next` comes to it.
            let Ok(true) = self.pass_token(input) else {
                return false;
            };
        }
        matches!(self.state, State::InElement) && self.element.is_empty()
    }

    /// Takes the element that `input` begins with, which has so many bytes.
    pub(super) fn pass_element<'i>(&mut self, input: &mut &'i [u8], length: usize) -> &'i [u8] {
        self.end_element();
        self.take(input, length)
    }

    /// The body is over.
    ///
    /// # Errors
    ///
    /// If the list was not complete. An error that was reported is not reported again.
    pub fn end(&self) -> Result<(), ListError> {
        match self.state {
            State::Complete | State::Failed => Ok(()),
            State::Foreign => Err(self.foreign()),
            _ => Err(ListError::Incomplete { bytes: self.taken }),
        }
    }

    fn step<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Found<'i>>, ListError> {
        loop {
            match self.state {
                State::Foreign => {
                    let missing = FOREIGN.saturating_sub(self.text.frame().bytes.len());
                    let part = self.take(input, missing.min(input.len()));
                    self.text.push(part);
                    if self.text.frame().bytes.len() >= FOREIGN {
                        return Err(self.foreign());
                    }
                    return Ok(None);
                }
                State::InName => {
                    let complete = self.take_text(input, true)?;
                    let text = self.kept("the name of a member")?;
                    if !complete {
                        return Ok(None);
                    }
                    self.state = State::Colon(self.name(text)?);
                }
                State::InValue { member, keep } => {
                    let complete = self.take_text(input, keep)?;
                    self.kept(member.describe())?;
                    if !complete {
                        return Ok(None);
                    }
                    if keep {
                        self.read_value(member)?;
                    }
                    self.state = State::AfterValue;
                }
                State::InElement => {
                    let end = self.extent.scan(input);
                    let part = self.take(input, end.unwrap_or(input.len()));
                    let whole = self.element.is_empty() && end.is_some();
                    if whole && part.len() <= self.endless {
                        self.end_element();
                        return Ok(Some(Found::Element(self.element.frame_of(part))));
                    }
                    self.element.push(part);
                    if self.element.length() > self.endless {
                        return Err(self.too_long("an element"));
                    }
                    if end.is_none() {
                        return Ok(None);
                    }
                    self.end_element();
                    return Ok(Some(Found::Assembled));
                }
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

    /// Passes white space and what stands between values; `false` if there is nothing more to pass.
    fn pass_token(&mut self, input: &mut &[u8]) -> Result<bool, ListError> {
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

    /// So many bytes belong to no element.
    fn pass(&mut self, count: usize) -> Result<(), ListError> {
        self.between = self.between.saturating_add(count);
        if self.between > self.endless {
            return Err(self.too_long("what stands between two elements"));
        }
        Ok(())
    }

    const fn end_element(&mut self) {
        self.state = State::AfterElement;
        self.between = 0;
    }

    const fn too_long(&self, what: &'static str) -> ListError {
        let longest = self.endless;
        ListError::TooLong { what, longest }
    }

    /// What `byte` means between values; says whether it is done with.
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
                self.text.clear();
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
                // Text and brackets that nobody asked for are passed over without keeping them.
                let keep = member != Member::Other || !matches!(byte, b'"' | b'{' | b'[');
                self.state = State::InValue { member, keep };
                return Ok(false);
            }
            (State::FirstElement | State::Element, _) => {
                self.element.clear();
                self.extent = Extent::new();
                self.state = State::InElement;
                return Ok(false);
            }
            // These take more than a byte at once and do not come here.
            (state, _) => state,
        };
        Ok(true)
    }

    fn complete(&mut self) -> Result<State, ListError> {
        if self.kind() == Some("Status") {
            return Err(ListError::Status);
        }
        if !self.has_items {
            let kind = self.kind.take();
            return Err(ListError::NoItems { kind });
        }
        Ok(State::Complete)
    }

    fn foreign(&self) -> ListError {
        ListError::foreign(self.text.frame().bytes)
    }

    fn take<'i>(&mut self, input: &mut &'i [u8], count: usize) -> &'i [u8] {
        let (taken, rest) = input.split_at_checked(count).unwrap_or((input, &[]));
        *input = rest;
        self.taken = self.taken.saturating_add(taken.len() as u64);
        taken
    }

    fn begin_text(&mut self) {
        self.text.clear();
        self.extent = Extent::new();
    }

    /// Takes more of a name or value; says whether it is complete.
    fn take_text(&mut self, input: &mut &[u8], keep: bool) -> Result<bool, ListError> {
        let end = self.extent.scan(input);
        let part = self.take(input, end.unwrap_or(input.len()));
        if keep {
            self.text.push(part);
        }
        self.pass(part.len())?;
        Ok(end.is_some())
    }

    fn name(&self, name: &[u8]) -> Result<Member, ListError> {
        let name = Cursor::new(name)
            .string()
            .map_err(|error| self.unreadable("a name", error))?;
        Ok(match &*name.to_cow() {
            "kind" => Member::Kind,
            "apiVersion" => Member::ApiVersion,
            "metadata" => Member::Metadata,
            "items" => Member::Items,
            _ => Member::Other,
        })
    }

    fn read_value(&mut self, member: Member) -> Result<(), ListError> {
        match member {
            Member::Kind => self.kind = self.read_text("kind")?,
            Member::ApiVersion => self.api_version = self.read_text("apiVersion")?,
            Member::Metadata => {
                let text = self.kept(member.describe())?;
                let metadata = Metadata::read(text);
                self.metadata = metadata.map_err(|error| self.unreadable("metadata", error))?;
            }
            Member::Items => {
                let text = self.kept(member.describe())?;
                if text != b"null" {
                    return Err(ListError::items_not_array(text));
                }
                self.has_items = true;
            }
            Member::Other => {
                let text = self.kept(member.describe())?;
                let checked = super::json_text::validate(text, metadata::DEPTH);
                checked.map_err(|error| self.unreadable("a value", error))?;
            }
        }
        let is_meta = |version: &str| version.starts_with("meta.k8s.io/");
        if self.kind() == Some("Table") && self.api_version().is_some_and(is_meta) {
            return Err(ListError::Table);
        }
        Ok(())
    }

    fn read_text(&self, name: &'static str) -> Result<Option<String>, ListError> {
        let mut cursor = Cursor::new(self.kept(name)?);
        let text = read_text(&mut cursor).and_then(|text| cursor.end().map(|()| text));
        text.map_err(|error| self.unreadable(name, error))
    }

    /// The text of a name or value, unless it was too long.
    fn kept(&self, what: &'static str) -> Result<&[u8], ListError> {
        match self.text.frame() {
            Frame {
                bytes,
                oversized: false,
                ..
            } => Ok(bytes),
            _ => Err(ListError::TooLong {
                what,
                longest: MAX_HEAD,
            }),
        }
    }

    /// `error` in the text at hand, with its place in the whole body.
    fn unreadable(&self, what: &'static str, error: TextError) -> ListError {
        let at = match error {
            TextError::Syntax { at } | TextError::TooDeep { at } => at,
        };
        let start = self
            .taken
            .saturating_sub(self.text.frame().bytes.len() as u64);
        ListError::Unreadable {
            what,
            at: start.saturating_add(at as u64),
        }
    }
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
