//! Framing of a list: its elements, while the bytes arrive.

// Why a body is not a list.
mod error;

// The state machine, field by field.
mod scan;

#[cfg(all(test, feature = "alloc"))]
mod tests;

use super::envelope::read_type;
use super::wire::{Message, Value};
use crate::decode::TypeMeta;
use crate::decode::frame::{Assembly, Buffer, Frame, capped};

use scan::{Found, State};

pub use error::ListError;

/// The most bytes of the `metadata` of a list, and of its type.
const MAX_HEAD: usize = 64 << 10;

/// An element, or a gap between two elements, may have at least this many bytes before the scanner
/// gives up. This is about ten times what a server stores in one object.
const ENDLESS: usize = 32 << 20;

/// What a [`ListScanner`] finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Part<'a> {
    /// An element of `items`.
    Element(Element<'a>),
    /// The list is complete.
    End,
}

/// An element of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Element<'a> {
    /// The message of the object, not checked.
    pub frame: Frame<'a>,
    /// The type that the list states.
    pub type_meta: TypeMeta<'a>,
}

/// An element, and the message of the type of its list; `None` at the end.
type Untyped<'a> = Option<(Frame<'a>, &'a [u8])>;

/// Finds the elements of `items` of a List, and the metadata of the List.
///
/// You feed it the body in pieces of any size. It looks only at what stands between the elements, and
/// copies an element only if it crosses pieces. If an element exceeds the limit, only its start is
/// kept. Memory is taken for bytes that arrived, not for those that a length announces.
///
/// ```
/// use informer_core::decode::protobuf::list::{ListScanner, Part};
///
/// let mut list = ListScanner::<Vec<u8>>::new(1024);
/// let mut elements = Vec::new();
/// for mut piece in [
///     &b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\x0d\x0a\x03\x12\x017\x12\x02ab\x12"[..],
///     b"\x02cd\x1a\x00\x22\x00",
/// ] {
///     while let Some(part) = list.next(&mut piece) {
///         if let Part::Element(element) = part? {
///             elements.push(element.frame.bytes.to_vec());
///         }
///     }
/// }
/// list.end()?;
/// assert_eq!(elements, [b"ab", b"cd"]);
/// assert_eq!((list.version(), list.type_meta().kind), ("7", Some("Pod")));
/// # Ok::<(), informer_core::decode::protobuf::list::ListError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ListScanner<B> {
    state: State,
    /// Whether the list itself is being read, and how many bytes of it are left.
    left: Option<u64>,
    /// How many groups are open.
    groups: u64,
    taken: u64,
    /// An element that arrives in pieces.
    parts: Assembly<B>,
    handed_out: bool,
    /// Bytes since the last element.
    between: u64,
    /// The longest element or gap between two elements.
    endless: usize,
    /// The message with the type. If it is repeated, one follows the other, which merges them.
    type_meta: B,
    /// The `metadata` of the list, in the same way.
    metadata: B,
    most: usize,
}

impl<B: Buffer> ListScanner<B> {
    /// Starts at the beginning of a body. Elements have at most `longest` bytes.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        let twice = longest.saturating_mul(2);
        Self {
            state: State::BEGIN,
            left: None,
            groups: 0,
            taken: 0,
            parts: Assembly::new(longest),
            handed_out: false,
            between: 0,
            endless: if twice > ENDLESS { twice } else { ENDLESS },
            type_meta: B::EMPTY,
            metadata: B::EMPTY,
            most: capped::<B>(MAX_HEAD),
        }
    }

    /// The `kind` of the list, if it was read already.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.own_type().kind
    }

    /// `metadata.resourceVersion`; empty if there is none.
    #[must_use]
    pub fn version(&self) -> &str {
        self.text(2).unwrap_or_default()
    }

    /// `metadata.continue`: the token of the next page.
    #[must_use]
    pub fn next_page(&self) -> Option<&str> {
        self.text(3).filter(|token| !token.is_empty())
    }

    /// `metadata.remainingItemCount`
    #[must_use]
    pub fn remaining(&self) -> Option<u64> {
        let mut remaining = None;
        self.each_field(|number, value| {
            if let (4, Value::Number(count)) = (number, value) {
                remaining = i64::try_from(count).ok().map(i64::cast_unsigned);
            }
        });
        remaining
    }

    /// The type that the list states for its elements.
    #[must_use]
    pub fn type_meta(&self) -> TypeMeta<'_> {
        type_of_elements(self.own_type())
    }

    /// Takes bytes from the front of `input` up to the end of one part, and returns the part.
    /// `None` means that it took all of `input`. Everything after the end or an error is skipped.
    ///
    /// # Errors
    ///
    /// The body is not a list. A list with broken elements is still a list.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Option<Result<Part<'a>, ListError>> {
        Some(self.next_untyped(input)?.map(|found| match found {
            None => Part::End,
            Some((frame, type_message)) => Part::Element(Element {
                frame,
                type_meta: type_of_elements(type_in(type_message)),
            }),
        }))
    }

    /// The same, except that the type is not read.
    #[inline(always)]
    pub(super) fn next_untyped<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Option<Result<Untyped<'a>, ListError>> {
        if core::mem::take(&mut self.handed_out) {
            self.parts.clear();
        }
        if let Some(frame) = self.whole_element(input) {
            return Some(Ok(Some((frame, self.type_meta.as_ref()))));
        }
        let frame = match self.step(input).transpose()? {
            Ok(Found::End) => return Some(Ok(None)),
            Ok(Found::Element(frame)) => frame,
            Ok(Found::Assembled) => self.parts.frame(),
            Err(error) => {
                self.state = State::Failed;
                *input = &[];
                return Some(Err(error));
            }
        };
        Some(Ok(Some((frame, self.type_meta.as_ref()))))
    }

    /// Ends the body.
    ///
    /// # Errors
    ///
    /// The list is not complete. An error that was already returned is not returned again.
    pub fn end(&self) -> Result<(), ListError> {
        match self.state {
            State::Complete | State::Failed => Ok(()),
            State::Foreign => Err(self.foreign()),
            _ => Err(ListError::Incomplete { bytes: self.taken }),
        }
    }

    fn own_type(&self) -> TypeMeta<'_> {
        type_in(self.type_meta.as_ref())
    }

    /// A text in `metadata`, which was checked when it was complete.
    fn text(&self, wanted: u32) -> Option<&str> {
        let mut found = None;
        self.each_field(|number, value| {
            if let Value::Bytes(bytes) = value
                && number == wanted
            {
                found = core::str::from_utf8(bytes).ok();
            }
        });
        found
    }

    fn each_field<'a>(&'a self, mut visit: impl FnMut(u32, Value<'a>)) {
        let mut message = Message::new(self.metadata.as_ref());
        while let Ok(Some(field)) = message.next() {
            visit(field.number, field.value);
        }
    }
}

/// The type of a list, which was checked when it was complete.
fn type_in(message: &[u8]) -> TypeMeta<'_> {
    let mut type_meta = TypeMeta::default();
    let _ = read_type(message, &mut type_meta);
    type_meta
}

/// The type of the elements of a list of this type.
#[inline]
pub(super) fn type_of_elements(TypeMeta { api_version, kind }: TypeMeta<'_>) -> TypeMeta<'_> {
    let kind = kind.and_then(|kind| kind.strip_suffix("List"));
    TypeMeta {
        api_version,
        kind: kind.filter(|kind| !kind.is_empty()),
    }
}
