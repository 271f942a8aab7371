//! Elements, members and variants.

use serde::de::{Deserialize as _, Deserializer as _};
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

use super::error::TypeError;
use super::key::Key;
use super::reader::{Reader, Text};
use crate::decode::json::text;

/// The elements of an array that was entered.
pub(super) struct Elements<'r, 'de, 'l> {
    reader: &'r mut Reader<'de, 'l>,
    inner: text::Elements,
    index: usize,
    left: Option<usize>,
    ended: bool,
}

impl<'r, 'de, 'l> Elements<'r, 'de, 'l> {
    pub(super) fn new(reader: &'r mut Reader<'de, 'l>, left: Option<usize>) -> Self {
        Self {
            reader,
            inner: text::Elements::default(),
            index: 0,
            left,
            ended: false,
        }
    }

    /// A type may take fewer elements than there are, which is an error.
    pub(super) fn end(mut self) -> Result<(), TypeError> {
        if self.ended || !self.inner.next(&mut self.reader.cursor)? {
            return Ok(());
        }
        Err(TypeError::custom("more elements than the type has"))
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de, '_> {
    type Error = TypeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, TypeError> {
        if self.ended || !self.inner.next(&mut self.reader.cursor)? {
            self.ended = true;
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        self.left = self.left.map(|left| left.saturating_sub(1));
        let value = seed.deserialize(&mut *self.reader);
        value.map(Some).map_err(|error| error.in_element(index))
    }

    fn size_hint(&self) -> Option<usize> {
        self.left
    }
}

/// The members of an object that was entered.
pub(super) struct Members<'r, 'de, 'l> {
    reader: &'r mut Reader<'de, 'l>,
    inner: text::Members,
    name: Option<Text<'de>>,
    ended: bool,
}

impl<'r, 'de, 'l> Members<'r, 'de, 'l> {
    pub(super) fn new(reader: &'r mut Reader<'de, 'l>) -> Self {
        Self {
            reader,
            inner: text::Members::default(),
            name: None,
            ended: false,
        }
    }

    /// A type may take fewer members than there are, which is an error.
    pub(super) fn end(mut self) -> Result<(), TypeError> {
        if self.ended || self.next()?.is_none() {
            return Ok(());
        }
        Err(TypeError::custom("more members than the type has"))
    }

    fn next(&mut self) -> Result<Option<Text<'de>>, TypeError> {
        let reader = &mut *self.reader;
        reader.pass_left_out();
        reader.cursor.skip_white();
        reader.pass_left_out();
        if !self.inner.more(&mut reader.cursor)? {
            self.ended = true;
            return Ok(None);
        }
        reader.pass_left_out();
        let name = reader.string()?;
        reader.cursor.punctuation(b':')?;
        self.name = Some(name);
        Ok(Some(name))
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de, '_> {
    type Error = TypeError;

    #[inline]
    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, TypeError> {
        if self.ended {
            return Ok(None);
        }
        match self.next()? {
            Some(name) => seed.deserialize(Key(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, TypeError> {
        let value = seed.deserialize(&mut *self.reader);
        value.map_err(|error| match self.name {
            Some(name) => error.in_member(name),
            None => error,
        })
    }
}

/// A variant of an enum: a name, or an object with the name as its only member.
pub(super) struct Variant<'r, 'de, 'l> {
    reader: &'r mut Reader<'de, 'l>,
    has_value: bool,
}

impl<'r, 'de, 'l> Variant<'r, 'de, 'l> {
    pub(super) const fn unit(reader: &'r mut Reader<'de, 'l>) -> Self {
        Self {
            reader,
            has_value: false,
        }
    }

    pub(super) const fn with_value(reader: &'r mut Reader<'de, 'l>) -> Self {
        Self {
            reader,
            has_value: true,
        }
    }

    #[cold]
    fn is_unit(expected: &str) -> TypeError {
        TypeError::invalid_type(Unexpected::UnitVariant, &expected)
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de, '_> {
    type Error = TypeError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), TypeError> {
        let name = seed.deserialize(&mut *self.reader)?;
        if self.has_value {
            self.reader.cursor.punctuation(b':')?;
        }
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de, '_> {
    type Error = TypeError;

    fn unit_variant(self) -> Result<(), TypeError> {
        if self.has_value {
            return <()>::deserialize(self.reader);
        }
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, TypeError> {
        if self.has_value {
            return seed.deserialize(self.reader);
        }
        Err(Self::is_unit("newtype variant"))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        if self.has_value {
            return self.reader.deserialize_tuple(length, visitor);
        }
        Err(Self::is_unit("tuple variant"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        if self.has_value {
            return self.reader.deserialize_struct("", fields, visitor);
        }
        Err(Self::is_unit("struct variant"))
    }
}
