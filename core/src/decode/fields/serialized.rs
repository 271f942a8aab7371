//! Fields of a value that serde can serialize. The value is walked, not written: what is not on the path
//! is not even looked at.

use alloc::string::ToString;
use core::fmt;

use serde::ser::{self, Serialize, Serializer};

use super::{Scalar, Step};

/// Calls `visit` with every scalar at the end of the path. A value that does not serialize has no fields
/// from there on.
pub(super) fn each_in(
    value: &(impl Serialize + ?Sized),
    steps: &[Step],
    visit: &mut dyn FnMut(Scalar<'_>),
) {
    let _ = value.serialize(Walk { steps, visit });
}

/// With its feature `arbitrary_precision`, which any crate of a program may switch on, serde_json
/// serializes a number as a struct with this one field.
const NUMBER: &str = "$serde_json::private::Number";

/// A value, and the path from there.
struct Walk<'a> {
    steps: &'a [Step],
    visit: &'a mut dyn FnMut(Scalar<'_>),
}

impl<'a> Walk<'a> {
    fn scalar(self, scalar: Scalar<'_>) -> Result<(), Stop> {
        if self.steps.is_empty() {
            (self.visit)(scalar);
        }
        Ok(())
    }

    fn number(self, number: impl ToString) -> Result<(), Stop> {
        self.scalar(Scalar::Number(number.to_string().into()))
    }

    /// Walks on if the next step is the member `name`.
    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Stop> {
        match self.steps {
            [] if name == NUMBER => value.serialize(Walk {
                steps: &[],
                visit: &mut |scalar| {
                    if let Scalar::Text(number) = scalar {
                        (self.visit)(Scalar::Number(number));
                    }
                },
            }),
            [Step::Member(wanted), steps @ ..] if **wanted == *name => value.serialize(Walk {
                steps,
                visit: &mut *self.visit,
            }),
            _ => Ok(()),
        }
    }

    /// Walks on if the next step is each element.
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Stop> {
        match self.steps {
            [Step::Each, steps @ ..] => value.serialize(Walk {
                steps,
                visit: &mut *self.visit,
            }),
            _ => Ok(()),
        }
    }

    /// Enters the variant of an enum, which is the only member of an object.
    fn variant(self, name: &str) -> Self {
        let steps = match self.steps {
            [Step::Member(wanted), steps @ ..] if **wanted == *name => steps,
            // Nothing inside is at the end of this path.
            _ => &[],
        };
        Self { steps, ..self }
    }
}

macro_rules! numbers {
    ($($method:ident: $type:ty;)*) => {$(
        fn $method(self, value: $type) -> Result<(), Stop> {
            self.number(value)
        }
    )*};
}

impl<'a> Serializer for Walk<'a> {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_i128: i128;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
        serialize_u128: u128;
    }

    fn serialize_bool(self, value: bool) -> Result<(), Stop> {
        self.scalar(Scalar::Bool(value))
    }

    fn serialize_f32(self, value: f32) -> Result<(), Stop> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Stop> {
        // As JSON has it: what is not a number is null.
        match serde_json::Number::from_f64(value) {
            Some(number) => self.number(number),
            None => self.scalar(Scalar::Null),
        }
    }

    fn serialize_char(self, value: char) -> Result<(), Stop> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Stop> {
        self.scalar(Scalar::Text(value.into()))
    }

    fn serialize_bytes(mut self, value: &[u8]) -> Result<(), Stop> {
        value.iter().try_for_each(|byte| self.element(byte))
    }

    fn serialize_none(self) -> Result<(), Stop> {
        self.scalar(Scalar::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Stop> {
        self.scalar(Scalar::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Stop> {
        self.scalar(Scalar::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Stop> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        self.member(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Stop> {
        Ok(self.variant(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Stop> {
        Ok(Members {
            walk: self,
            is_wanted: false,
        })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Stop> {
        Ok(self.variant(variant))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Stop> {
        self.serialize_str(&value.to_string())
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident;)*) => {$(
        impl ser::$trait for Walk<'_> {
            type Ok = ();
            type Error = Stop;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                self.element(value)
            }

            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

macro_rules! members {
    ($($trait:ident),*) => {$(
        impl ser::$trait for Walk<'_> {
            type Ok = ();
            type Error = Stop;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Stop> {
                self.member(name, value)
            }

            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        }
    )*};
}

members!(SerializeStruct, SerializeStructVariant);

/// The members of a map, whose keys are values, too.
struct Members<'a> {
    walk: Walk<'a>,
    /// Whether the last key is the one on the path.
    is_wanted: bool,
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Stop;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        self.is_wanted = match self.walk.steps {
            [Step::Member(wanted), ..] => is_key(key, wanted)?,
            _ => false,
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        match self.walk.steps {
            [_, steps @ ..] if self.is_wanted => value.serialize(Walk {
                steps,
                visit: &mut *self.walk.visit,
            }),
            _ => Ok(()),
        }
    }

    fn end(self) -> Result<(), Stop> {
        Ok(())
    }
}

/// Whether a key of a map is this text.
fn is_key(key: &(impl Serialize + ?Sized), wanted: &str) -> Result<bool, Stop> {
    let mut is_wanted = false;
    key.serialize(Walk {
        steps: &[],
        visit: &mut |scalar| is_wanted = scalar.as_text() == Some(wanted),
    })?;
    Ok(is_wanted)
}

/// The value refused to be serialized.
#[derive(Debug)]
struct Stop;

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value cannot be serialized")
    }
}

impl core::error::Error for Stop {}

impl ser::Error for Stop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}
