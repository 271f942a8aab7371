//! Framing of a list: its elements, one by one, while the bytes arrive.
//!
//! ```
//! use informer_core::decode::json::list::{ListScanner, Part};
//!
//! let mut list = ListScanner::<Vec<u8>>::new(1024);
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
//! # Ok::<(), informer_core::decode::json::list::ListError>(())
//! ```

// Why a body is not a list.
mod error;

// What a list says about itself.
mod head;

// From byte to byte.
mod scan;

#[cfg(all(test, feature = "alloc"))]
mod tests;

use super::text::Extent;
use crate::decode::TypeMeta;
use crate::decode::frame::{Assembly, Buffer, Frame};

use head::Head;
use scan::{Found, State};

pub use error::ListError;

/// The most bytes of a list's `metadata`, and of anything else of a list that must be kept.
const MAX_HEAD: usize = 64 << 10;

/// After at least this many bytes, an element without an end, or a gap before the next one, is given up: an order
/// above what a server stores in one object.
const ENDLESS: usize = 32 << 20;

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
pub struct ListScanner<B> {
    state: State,
    taken: u64,
    extent: Extent,
    /// The most bytes of an element.
    longest: usize,
    /// An element, a name, or a value that is read, if it came in several pieces.
    parts: Assembly<B>,
    /// How many bytes have passed since the last element.
    between: usize,
    /// How long an element, or what stands between two of them, may be.
    endless: usize,
    has_items: bool,
    head: Head<B>,
}

impl<B: Buffer> ListScanner<B> {
    /// A scanner at the beginning of a body, for elements of at most `longest` bytes.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        let patience = longest.saturating_mul(2);
        Self {
            state: State::Begin,
            taken: 0,
            extent: Extent::new(),
            longest,
            parts: Assembly::new(longest),
            between: 0,
            endless: if patience > ENDLESS {
                patience
            } else {
                ENDLESS
            },
            has_items: false,
            head: Head::new(3 * MAX_HEAD),
        }
    }

    /// `kind` of the list, as far as it was read.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.head.text(self.head.kind)
    }

    /// `apiVersion` of the list, as far as it was read.
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

    /// `metadata.remainingItemCount`.
    #[must_use]
    pub const fn remaining(&self) -> Option<u64> {
        self.head.remaining
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
            Found::Assembled => self.parts.frame(),
        };
        Some(Ok(Part::Element(Element {
            frame,
            type_meta: self.type_meta(),
        })))
    }

    /// Goes to the beginning of the next element. Says whether `input` begins with one: then a caller that
    /// can tell where it ends says so to [`pass_element`](Self::pass_element), and
    /// [`next`](Self::next) need not look for its end.
    #[cfg(feature = "alloc")]
    pub(super) fn is_at_element(&mut self, input: &mut &[u8]) -> bool {
        while let State::FirstElement | State::Element | State::AfterElement = self.state {
            // What is wrong is still wrong when `next` comes to it.
            let Ok(true) = self.pass_token(input) else {
                return false;
            };
        }
        matches!(self.state, State::InElement) && self.parts.is_empty()
    }

    /// Takes the element that `input` begins with, which has so many bytes.
    #[cfg(feature = "alloc")]
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
}
