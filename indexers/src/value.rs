//! Typed index values, encoded in bytes that sort like the values.
//!
//! An index stores bytes. [`Encode`] turns a value into bytes with the same order, and [`IndexValue`]
//! turns the bytes back into a value. Strings, booleans, integers, `f64` and pairs implement both.
//! [`TypedIndex`](crate::TypedIndex) uses them.
//!
//! ```
//! use informer_indexers::value::{Encode, IndexValue};
//!
//! let mut bytes = Vec::new();
//! 300_u16.encode(&mut bytes);
//! assert_eq!(bytes, [1, 44]);
//! assert_eq!(u16::decode(&bytes), Some(300));
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// A value that can be looked up in an index: its bytes sort like the value.
///
/// A string is encoded as its own bytes, so you can also query an index of strings with plain strings.
/// If a type implements [`Borrow`](core::borrow::Borrow) for another one, both must have the same bytes,
/// as `String` and `str` do.
///
/// ```
/// use informer_indexers::value::Encode;
///
/// /// Sorts by length, then alphabetically.
/// struct ByLength(String);
///
/// impl Encode for ByLength {
///     fn encode(&self, to: &mut Vec<u8>) {
///         (self.0.len() as u64, self.0.as_str()).encode(to);
///     }
/// }
///
/// fn bytes(value: &impl Encode) -> Vec<u8> {
///     let mut bytes = Vec::new();
///     value.encode(&mut bytes);
///     bytes
/// }
///
/// assert!(bytes(&ByLength("z".to_owned())) < bytes(&ByLength("aa".to_owned())));
/// ```
pub trait Encode {
    /// Appends the encoded bytes to `to`.
    fn encode(&self, to: &mut Vec<u8>);
}

/// A value that an index can store and return.
///
/// ```
/// use informer_indexers::value::{Encode, IndexValue};
///
/// fn bytes(value: &impl Encode) -> Vec<u8> {
///     let mut bytes = Vec::new();
///     value.encode(&mut bytes);
///     bytes
/// }
///
/// assert!(bytes(&-7_i64) < bytes(&3_i64));
/// assert!(bytes(&("a", 300_u32)) < bytes(&("ab", 2_u32)));
/// assert_eq!(<(String, u32)>::decode(&bytes(&("a", 300_u32))), Some(("a".to_owned(), 300)));
/// ```
pub trait IndexValue: Encode + Sized {
    /// Decodes a value; `None` if the bytes encode no value of this type.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

impl<E: Encode + ?Sized> Encode for &E {
    fn encode(&self, to: &mut Vec<u8>) {
        (**self).encode(to);
    }
}

impl Encode for str {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.as_bytes());
    }
}

impl Encode for String {
    fn encode(&self, to: &mut Vec<u8>) {
        self.as_str().encode(to);
    }
}

impl IndexValue for String {
    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.into()).ok()
    }
}

impl Encode for Cow<'_, str> {
    fn encode(&self, to: &mut Vec<u8>) {
        (**self).encode(to);
    }
}

/// Bytes that are encoded already.
impl Encode for [u8] {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

impl<const N: usize> Encode for [u8; N] {
    fn encode(&self, to: &mut Vec<u8>) {
        self.as_slice().encode(to);
    }
}

impl Encode for bool {
    fn encode(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }
}

impl IndexValue for bool {
    fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

macro_rules! unsigned {
    ($($number:ty),*) => {$(
        impl Encode for $number {
            fn encode(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_be_bytes());
            }
        }

        impl IndexValue for $number {
            fn decode(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_be_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

unsigned!(u8, u16, u32, u64, u128);

// With the sign bit flipped, negative numbers sort first.
macro_rules! signed {
    ($($number:ty),*) => {$(
        impl Encode for $number {
            fn encode(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&(*self ^ Self::MIN).to_be_bytes());
            }
        }

        impl IndexValue for $number {
            fn decode(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_be_bytes(bytes.try_into().ok()?) ^ Self::MIN)
            }
        }
    )*};
}

signed!(i8, i16, i32, i64, i128);

/// Sorts like [`f64::total_cmp`].
impl Encode for f64 {
    fn encode(&self, to: &mut Vec<u8>) {
        let bits = self.to_bits();
        let sign = 1 << 63;
        let sortable = if bits & sign == 0 { bits ^ sign } else { !bits };
        sortable.encode(to);
    }
}

impl IndexValue for f64 {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let sortable = u64::decode(bytes)?;
        let sign = 1 << 63;
        let bits = if sortable & sign == 0 {
            !sortable
        } else {
            sortable ^ sign
        };
        Some(Self::from_bits(bits))
    }
}

/// Sorts by the first value, then by the second. Two zero bytes end the first value, and a zero byte
/// within it is written as 0, 255. So a prefix sorts before the longer value.
impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, to: &mut Vec<u8>) {
        let mut first = Vec::new();
        self.0.encode(&mut first);
        for byte in first {
            to.push(byte);
            if byte == 0 {
                to.push(0xff);
            }
        }
        to.extend_from_slice(&[0, 0]);
        self.1.encode(to);
    }
}

impl<A: IndexValue, B: IndexValue> IndexValue for (A, B) {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut first = Vec::new();
        let mut rest = bytes;
        loop {
            rest = match rest {
                [0, 0, second @ ..] => return Some((A::decode(&first)?, B::decode(second)?)),
                [0, 0xff, rest @ ..] => {
                    first.push(0);
                    rest
                }
                [0, ..] | [] => return None,
                [byte, rest @ ..] => {
                    first.push(*byte);
                    rest
                }
            };
        }
    }
}
