//! Typed values by serde, from text whose header has been read.
//!
//! serde_json walks over the text on its own and lets a `Vec` grow as it finds elements. The walk that
//! reads the header has passed every array already, so here each `Vec` is allocated once, at its size
//! ([`ArrayLengths`](super::text::ArrayLengths)). Strings without escapes are borrowed from the text,
//! and `managedFields` are passed over without being built.

// Elements, members and variants.
mod access;

// Why a text does not fit a type, and where.
mod error;

// The names of members, which are texts and may stand for numbers.
mod key;

// The text, value by value.
mod reader;

use core::ops::Range;

use serde::Deserialize;

pub(in crate::decode) use error::TypeError;
use reader::Reader;

use super::text::ArrayLength;

/// Makes a value of `text`, which is one JSON value. What lies in `left_out`, a member with one comma,
/// is passed over.
///
/// # Errors
///
/// If the text does not fit the type.
pub(in crate::decode) fn from_text<'a, K: Deserialize<'a>>(
    text: &'a str,
    lengths: &[ArrayLength],
    left_out: Range<usize>,
) -> Result<K, TypeError> {
    let mut reader = Reader::new(text, lengths, left_out);
    let value = K::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

#[cfg(test)]
mod tests;
