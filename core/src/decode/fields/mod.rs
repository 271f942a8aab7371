//! Fields by path, for index functions and field selectors on objects of any kind.

// The path to a field.
mod path;

// The paths of usual fields, with their numbers in protobuf.
pub mod numbers;

// Fields of a value that serde can serialize.
#[cfg(feature = "json")]
mod serialized;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

pub(super) use path::Step;
pub use path::{FieldPath, Leaf, ParseFieldPathError};

use super::body::{TextBody, TextForm};
use super::json::fields::each_in_text;
use super::protobuf::fields::{each_in_message, metadata_as_json};
use crate::decoded::Object;
use crate::encoding::Encoding;

/// A field that is neither a list nor an object.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these kinds")]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written in the JSON text.
    Number(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    /// The value as text, as field selectors and indexes of texts use it. `null` counts as missing.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Null => None,
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Number(text) | Self::Text(text) => Some(text),
        }
    }
}

/// Gives access to fields by path.
///
/// Objects that keep their text implement this, and so do typed objects whose type implements
/// `serde::Serialize`. In objects that are kept in protobuf, only paths that
/// [say so](FieldPath::reads_protobuf) find a field.
///
/// ```
/// use informer_core::decode::{FieldPath, Fields, Lean, decode_object};
///
/// let json = br#"{"metadata":{"name":"a"},"spec":{"containers":[{"image":"x"},{"image":"y"}]}}"#;
/// let object = decode_object(&mut Lean, json).unwrap();
/// let path: FieldPath = "spec.containers[*].image".parse()?;
/// let mut images = Vec::new();
/// object.each_field(&path, &mut |image| images.extend(image.as_text().map(str::to_owned)));
/// assert_eq!(images, ["x", "y"]);
/// # Ok::<(), informer_core::decode::ParseFieldPathError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` cannot be read by path",
    note = "lean, packed, metadata and dynamic objects have fields by path",
    note = "for typed objects, derive `serde::Serialize` for the type, or give the index a closure: `.index(\"node\", |pod: &Object<Pod>| …)`"
)]
pub trait Fields {
    /// Calls `visit` with every scalar at the end of the path. It is not called if there is no such
    /// field.
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>));

    /// Whether the object can tell what is at the path. If it is kept in protobuf, it cannot unless the
    /// path [says so](FieldPath::reads_protobuf).
    fn knows_field(&self, path: &FieldPath) -> bool {
        let _ = path;
        true
    }
}

impl<F: TextForm, K> Fields for Object<TextBody<F, K>> {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        let steps = match (F::ROOT, &*path.steps) {
            (None, steps) => steps,
            (Some(root), [Step::Member(first), steps @ ..]) if **first == *root => steps,
            (Some(_), _) => return,
        };
        let Ok(message) = self.protobuf() else {
            return each_in_text(&self.json().unwrap_or_default(), steps, visit);
        };
        match &path.numbers {
            _ if path.is_in_metadata() => each_in_text(&metadata_as_json(&message), steps, visit),
            Some((numbers, leaf)) => each_in_message(&message, numbers, *leaf, visit),
            None => {}
        }
    }

    fn knows_field(&self, path: &FieldPath) -> bool {
        self.encoding() == Encoding::Json || path.reads_protobuf()
    }
}

/// Through serde: the fields that the type serializes.
#[cfg(feature = "json")]
impl<K: serde::Serialize> Fields for Object<K> {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        serialized::each_in(self.body(), &path.steps, visit);
    }
}

macro_rules! fields_through_pointer {
    ($($pointer:ty),*) => {$(
        impl<F: Fields + ?Sized> Fields for $pointer {
            fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
                (**self).each_field(path, visit);
            }

            fn knows_field(&self, path: &FieldPath) -> bool {
                (**self).knows_field(path)
            }
        }
    )*};
}

fields_through_pointer!(&F, Box<F>, Rc<F>, Arc<F>);

#[cfg(feature = "json")]
impl Fields for serde_json::Value {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        serialized::each_in(self, &path.steps, visit);
    }
}
