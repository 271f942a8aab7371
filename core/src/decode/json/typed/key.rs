//! The names of members, which are texts and may stand for numbers.

use alloc::borrow::Cow;
use core::str::FromStr;

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer as _, Unexpected, Visitor};

use super::error::TypeError;
use super::reader::Text;
use crate::decode::json::text::validate;

/// The name of a member. A map may have keys that are numbers or bools: their texts are names in JSON.
pub(super) struct Key<'de>(pub(super) Text<'de>);

impl Key<'_> {
    fn parse<T: FromStr>(&self, expected: &'static str) -> Result<T, TypeError> {
        let text = self.0.to_cow();
        // Rust reads texts as numbers that JSON does not: `+1`, `01`, `inf`.
        let is_json = validate(text.as_bytes(), 1).is_ok() && !text.contains(char::is_whitespace);
        let parsed = text.parse().ok().filter(|_| is_json);
        parsed.ok_or_else(|| TypeError::invalid_type(Unexpected::Str(&text), &expected))
    }
}

macro_rules! parse {
    ($($method:ident $visit:ident $expected:literal,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
            visitor.$visit(self.parse($expected)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = TypeError;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.0.to_cow() {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    parse! {
        deserialize_bool visit_bool "a bool",
        deserialize_u8 visit_u8 "a number",
        deserialize_u16 visit_u16 "a number",
        deserialize_u32 visit_u32 "a number",
        deserialize_u64 visit_u64 "a number",
        deserialize_u128 visit_u128 "a number",
        deserialize_i8 visit_i8 "a number",
        deserialize_i16 visit_i16 "a number",
        deserialize_i32 visit_i32 "a number",
        deserialize_i64 visit_i64 "a number",
        deserialize_i128 visit_i128 "a number",
        deserialize_f32 visit_f32 "a number",
        deserialize_f64 visit_f64 "a number",
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.0.to_cow() {
            Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.0.to_cow() {
            Cow::Borrowed(text) => {
                BorrowedStrDeserializer::new(text).deserialize_enum(name, variants, visitor)
            }
            Cow::Owned(text) => {
                let text: StringDeserializer<TypeError> = text.into_deserializer();
                text.deserialize_enum(name, variants, visitor)
            }
        }
    }

    serde::forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
