//! The text, value by value.

use alloc::borrow::Cow;
use core::ops::Range;

use serde::de::{Deserializer, Error as _, Expected, Unexpected, Visitor};

use super::access::{Elements, Members, Variant};
use super::error::TypeError;
use crate::decode::json::text::{ArrayLength, JsonCursor, JsonKind, JsonStr};
use crate::invariant::cannot_happen;

/// serde_json asks for its raw values by this name.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// How many levels may be nested, as in serde_json: reading is recursive here.
const RECURSION: usize = 128;

/// A position in a text, and what is known about the text.
pub(super) struct Reader<'de, 'l> {
    text: &'de str,
    pub(super) cursor: JsonCursor<'de>,
    /// The lengths of the arrays that are still to come, in the order of the text.
    lengths: core::slice::Iter<'l, ArrayLength>,
    left_out: Range<usize>,
    /// How many levels may still be opened.
    depth: usize,
}

/// The contents of a string. Unlike a [`JsonStr`], it is known to be UTF-8.
#[derive(Clone, Copy)]
pub(super) struct Text<'de> {
    raw: &'de str,
    escaped: bool,
}

impl<'de> Text<'de> {
    #[inline]
    pub(super) fn to_cow(self) -> Cow<'de, str> {
        if self.escaped {
            JsonStr::from_raw(self.raw.as_bytes(), true).to_cow()
        } else {
            Cow::Borrowed(self.raw)
        }
    }
}

impl<'de, 'l> Reader<'de, 'l> {
    pub(super) fn new(text: &'de str, lengths: &'l [ArrayLength], left_out: Range<usize>) -> Self {
        Self {
            text,
            cursor: JsonCursor::new(text.as_bytes()),
            lengths: lengths.iter(),
            left_out,
            depth: RECURSION,
        }
    }

    pub(super) fn end(&mut self) -> Result<(), TypeError> {
        Ok(self.cursor.end()?)
    }

    /// A string as it stands in the text.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'de>, TypeError> {
        let (place, escaped) = self.cursor.skip_string()?;
        let raw = self.text.get(place);
        let raw = raw.unwrap_or_else(|| cannot_happen("a string beyond its text", ""));
        Ok(Text { raw, escaped })
    }

    /// Goes past what is left out, if it begins here.
    #[inline]
    pub(super) fn pass_left_out(&mut self) {
        if self.cursor.position() == self.left_out.start {
            self.cursor.go_to(self.left_out.end);
        }
    }

    /// How many elements the array has whose bracket comes next, if that is known.
    #[inline]
    fn length(&mut self) -> Option<usize> {
        let at = self.cursor.position();
        while let Some(array) = self.lengths.as_slice().first() {
            if array.at as usize > at {
                return None;
            }
            self.lengths.next();
            if array.at as usize == at {
                return Some(array.length as usize);
            }
        }
        None
    }

    fn visit_str<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, TypeError> {
        match self.string()?.to_cow() {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, TypeError> {
        let text = self.cursor.number()?;
        let is_integer = !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        if is_integer && text != "-0" {
            if let Ok(number) = text.parse() {
                return visitor.visit_u64(number);
            }
            if let Ok(number) = text.parse() {
                return visitor.visit_i64(number);
            }
        }
        // Rare in Kubernetes. serde_json rounds in its own way, depending on its features.
        visitor.visit_f64(serde_json::from_str(text).map_err(TypeError::custom)?)
    }

    fn visit_seq<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, TypeError> {
        let left = self.length();
        self.cursor.enter_array(self.depth)?;
        self.depth -= 1;
        let mut elements = Elements::new(self, left);
        let value = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        self.depth += 1;
        Ok(value)
    }

    /// The value stays where the visitor writes it: `?` would copy it twice, and a struct of Kubernetes may
    /// have kilobytes.
    fn visit_map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, TypeError> {
        self.cursor.enter_object(self.depth)?;
        self.depth -= 1;
        let mut members = Members::new(self);
        let mut value = visitor.visit_map(&mut members);
        if value.is_ok()
            && let Err(error) = members.end()
        {
            value = Err(error);
        }
        self.depth += 1;
        value
    }

    /// The error of a value that is of another kind than the type expects. Not generic: a program with the types of
    /// Kubernetes would have a copy for each of hundreds of visitors.
    #[cold]
    fn unexpected(&mut self, expected: &dyn Expected) -> TypeError {
        let text;
        let found = match self.cursor.kind() {
            Err(error) => return error.into(),
            Ok(JsonKind::Object) => Unexpected::Map,
            Ok(JsonKind::Array) => Unexpected::Seq,
            Ok(JsonKind::Null) => Unexpected::Other("null"),
            Ok(JsonKind::Bool) => match self.cursor.bool() {
                Ok(value) => Unexpected::Bool(value),
                Err(error) => return error.into(),
            },
            Ok(JsonKind::String) => match self.string() {
                Ok(found) => {
                    text = found.to_cow();
                    Unexpected::Str(&text)
                }
                Err(error) => return error,
            },
            Ok(JsonKind::Number) => match self.cursor.number() {
                Ok(number) => match (number.parse(), number.parse(), number.parse()) {
                    (Ok(number), ..) => Unexpected::Unsigned(number),
                    (_, Ok(number), _) => Unexpected::Signed(number),
                    (.., Ok(number)) => Unexpected::Float(number),
                    _ => Unexpected::Other("number"),
                },
                Err(error) => return error.into(),
            },
        };
        TypeError::invalid_type(found, expected)
    }
}

/// One method for types that accept one kind of value.
macro_rules! expect {
    ($($method:ident($($argument:ident: $type:ty),*) => $kind:ident $visit:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, TypeError> {
            match self.cursor.kind()? {
                JsonKind::$kind => self.$visit(visitor),
                _ => Err(self.unexpected(&visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de, '_> {
    type Error = TypeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::String => self.visit_str(visitor),
            JsonKind::Object => self.visit_map(visitor),
            JsonKind::Array => self.visit_seq(visitor),
            JsonKind::Number => self.visit_number(visitor),
            JsonKind::Bool => visitor.visit_bool(self.cursor.bool()?),
            JsonKind::Null => {
                self.cursor.null()?;
                visitor.visit_unit()
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        if self.cursor.kind()? == JsonKind::Null {
            self.cursor.null()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    expect! {
        deserialize_str() => String visit_str;
        deserialize_string() => String visit_str;
        deserialize_char() => String visit_str;
        deserialize_identifier() => String visit_str;
        deserialize_seq() => Array visit_seq;
        deserialize_tuple(_length: usize) => Array visit_seq;
        deserialize_tuple_struct(_name: &'static str, _length: usize) => Array visit_seq;
        deserialize_map() => Object visit_map;
        deserialize_u8() => Number visit_number;
        deserialize_u16() => Number visit_number;
        deserialize_u32() => Number visit_number;
        deserialize_u64() => Number visit_number;
        deserialize_i8() => Number visit_number;
        deserialize_i16() => Number visit_number;
        deserialize_i32() => Number visit_number;
        deserialize_i64() => Number visit_number;
        deserialize_f32() => Number visit_number;
        deserialize_f64() => Number visit_number;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::Bool => visitor.visit_bool(self.cursor.bool()?),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::Number => {
                visitor.visit_i128(self.cursor.number()?.parse().map_err(TypeError::custom)?)
            }
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::Number => {
                visitor.visit_u128(self.cursor.number()?.parse().map_err(TypeError::custom)?)
            }
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::String => match self.string()?.to_cow() {
                Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
            JsonKind::Array => self.visit_seq(visitor),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::Null => {
                self.cursor.null()?;
                visitor.visit_unit()
            }
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        if name == RAW_VALUE {
            let (from, length) = (
                self.cursor.position(),
                self.cursor.skip_value(self.depth)?.len(),
            );
            let to = self.cursor.position();
            let raw = self.text.get(from.max(to - length)..to).unwrap_or_default();
            let mut raw = serde_json::Deserializer::from_str(raw);
            return raw
                .deserialize_newtype_struct(name, visitor)
                .map_err(TypeError::custom);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::Object => self.visit_map(visitor),
            JsonKind::Array => self.visit_seq(visitor),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.cursor.kind()? {
            JsonKind::String => visitor.visit_enum(Variant::unit(self)),
            JsonKind::Object => {
                self.cursor.enter_object(self.depth)?;
                self.depth -= 1;
                let value = visitor.visit_enum(Variant::with_value(self))?;
                self.depth += 1;
                self.cursor.punctuation(b'}')?;
                Ok(value)
            }
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.cursor.skip_value(self.depth)?;
        visitor.visit_unit()
    }
}
