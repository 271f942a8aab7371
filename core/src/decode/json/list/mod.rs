//! Framing of a list: its elements, while the bytes arrive.

// Why a body is not a list.
mod error;

// The type and `metadata` of a list.
mod head;

// The state machine, byte by byte.
mod scan;

#[cfg(all(test, feature = "alloc"))]
mod tests;

use super::text::Extent;
use crate::decode::TypeMeta;
use crate::decode::frame::{Assembly, Buffer, Frame};

use head::Head;
use scan::{Found, State};

pub use error::ListError;

/// The most bytes of the `metadata` of a list, and of any other text that must be kept.
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
    /// The text. Its quotes and brackets match; nothing else has been checked.
    pub frame: Frame<'a>,
    /// The type that the list has stated so far.
    pub type_meta: TypeMeta<'a>,
}

/// Finds the elements of the top-level `items` of a List, and the metadata of the List.
///
/// You feed it the body in pieces of any size. It looks at each byte at most once, and copies an
/// element only if it crosses pieces. If an element exceeds the limit, only its start is kept. The
/// scanner gives up on an element, or on a gap between two elements, that has no end in sight. Members
/// may come in any order; if one is repeated, the last one counts.
///
/// ```
/// use informer_core::decode::json::list::{ListScanner, Part};
///
/// let mut list = ListScanner::<Vec<u8>>::new(1024);
/// let mut elements = Vec::new();
/// for mut piece in [
///     &br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":1},{"#[..],
///     br#""b":2}]}"#,
/// ] {
///     while let Some(part) = list.next(&mut piece) {
///         if let Part::Element(element) = part? {
///             elements.push(element.frame.bytes.to_vec());
///         }
///     }
/// }
/// list.end()?;
/// assert_eq!(elements, [&br#"{"a":1}"#[..], br#"{"b":2}"#]);
/// assert_eq!(list.version(), "7");
/// # Ok::<(), informer_core::decode::json::list::ListError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ListScanner<B> {
    state: State,
    taken: u64,
    extent: Extent,
    /// The most bytes of an element.
    longest: usize,
    /// An element, a name or a value that arrives in pieces.
    parts: Assembly<B>,
    /// Bytes since the last element.
    between: usize,
    /// The longest element or gap between two elements.
    endless: usize,
    has_items: bool,
    head: Head<B>,
}

impl<B: Buffer> ListScanner<B> {
    /// Starts at the beginning of a body. Elements have at most `longest` bytes.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        let twice = longest.saturating_mul(2);
        Self {
            state: State::Begin,
            taken: 0,
            extent: Extent::new(),
            longest,
            parts: Assembly::new(longest),
            between: 0,
            endless: if twice > ENDLESS { twice } else { ENDLESS },
            has_items: false,
            head: Head::new(3 * MAX_HEAD),
        }
    }

    /// The `kind` of the list, if it was read already.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.head.text(self.head.kind)
    }

    /// The `apiVersion` of the list, if it was read already.
    #[must_use]
    pub fn api_version(&self) -> Option<&str> {
        self.head.text(self.head.api_version)
    }

    /// `metadata.resourceVersion`; empty if there is none.
    #[must_use]
    pub fn version(&self) -> &str {
        self.head.text(self.head.version).unwrap_or_default()
    }

    /// `metadata.continue`: the token of the next page.
    #[must_use]
    pub fn next_page(&self) -> Option<&str> {
        self.head.text(self.head.next)
    }

    /// `metadata.remainingItemCount`
    #[must_use]
    pub const fn remaining(&self) -> Option<u64> {
        self.head.remaining
    }

    /// The type that the list has stated so far. Elements do not state their own.
    #[must_use]
    pub fn type_meta(&self) -> TypeMeta<'_> {
        let kind = self.kind().and_then(|kind| kind.strip_suffix("List"));
        TypeMeta {
            api_version: self.api_version(),
            kind: kind.filter(|kind| !kind.is_empty()),
        }
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
            Found::Assembled => self.parts.frame(),
        };
        Some(Ok(Part::Element(Element {
            frame,
            type_meta: self.type_meta(),
        })))
    }

    /// Moves to the next element and returns whether `input` starts with one. A caller that finds
    /// the end itself passes it to [`pass_element`](Self::pass_element), and [`next`](Self::next)
    /// need not look for it.
    #[cfg(feature = "alloc")]
    pub(super) fn is_at_element(&mut self, input: &mut &[u8]) -> bool {
        while let State::FirstElement | State::Element | State::AfterElement = self.state {
            // `next` meets the same error and reports it.
            let Ok(true) = self.pass_token(input) else {
                return false;
            };
        }
        matches!(self.state, State::InElement) && self.parts.is_empty()
    }

    /// Takes the element of `length` bytes at the start of `input`.
    #[cfg(feature = "alloc")]
    pub(super) fn pass_element<'i>(&mut self, input: &mut &'i [u8], length: usize) -> &'i [u8] {
        self.end_element();
        self.take(input, length)
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
}
