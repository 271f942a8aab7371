//! Compression of short texts that resemble each other.
//!
//! Objects of one kind repeat the same names and many of the same values. A [`Dictionary`] holds
//! examples of them, and each object is written as literals and copies: from the dictionary, from a
//! *head* that is stored beside it as it is, or from its own earlier text. Copies usually follow one
//! example, so the place of a copy is mostly implied by the one before it.
//!
//! A written text is a list of sequences. Each starts with a byte: the number of literals (upper
//! three bits), where the copy comes from (two bits, [`Source`]), and the length of the copy (lower
//! three bits). A number that does not fit is continued as a varint. Then come the literals and the
//! place of the copy. The text may end after the literals of any sequence.

// Texts that many objects resemble.
mod dictionary;

// From a text to its written form.
mod encode;

// From the written form to the text.
mod decode;

// Numbers of seven bits a byte.
mod varint;

pub(crate) use decode::{decode, decode_start};
pub(crate) use dictionary::Dictionary;
pub(crate) use encode::Encoder;
pub(crate) use varint::{put_varint, take_varint};

/// The shortest copy.
const SHORTEST: usize = 4;

/// The largest number in the three bits of a token; it says that a varint follows.
const MORE: usize = 7;

/// What stands around the strings of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Around {
    /// Quotes, as in JSON.
    Quotes,
    /// Their length before them, in one byte, as in protobuf.
    Length,
}

/// Where a copy comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// The dictionary, where the last copy from it would have gone on.
    Next,
    /// The dictionary, a few bytes before or after that place: a signed byte follows.
    Near,
    /// Any place in the dictionary: two bytes follow.
    Far,
    /// The head or the text so far: the distance follows in two bytes.
    Recent,
}

impl Source {
    const ALL: [Self; 4] = [Self::Next, Self::Near, Self::Far, Self::Recent];
}

#[cfg(test)]
mod tests;
