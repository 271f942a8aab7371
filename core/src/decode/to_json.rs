//! Whole objects as JSON, for people who look at them.

use alloc::borrow::Cow;
use alloc::format;

use super::body::{TextBody, TextForm};
use super::form::BodyError;
use crate::decoded::Object;

/// Gives the JSON of an object, as far as it is kept.
///
/// Objects that keep their text implement this, and so do typed objects whose type implements
/// `serde::Serialize`.
///
/// ```
/// use informer_core::decode::{MetadataOnly, ToJson, decode_object};
///
/// let json = br#"{"metadata":{"name":"a"},"spec":{}}"#;
/// let object = decode_object(&mut MetadataOnly, json)?;
/// assert_eq!(object.to_json()?, r#"{"metadata":{"name":"a"}}"#);
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON",
    note = "lean, packed, metadata and dynamic objects have JSON",
    note = "for typed objects, derive `serde::Serialize` for the type"
)]
pub trait ToJson {
    /// The text of a JSON object.
    ///
    /// # Errors
    ///
    /// The value of a typed object cannot be serialized, or the object is kept in protobuf.
    fn to_json(&self) -> Result<Cow<'_, str>, BodyError>;
}

impl<F: TextForm, K> ToJson for Object<TextBody<F, K>> {
    fn to_json(&self) -> Result<Cow<'_, str>, BodyError> {
        let text = self.json()?;
        Ok(match F::ROOT {
            None => text,
            Some(root) => Cow::Owned(format!(r#"{{"{root}":{text}}}"#)),
        })
    }
}

/// Through serde: what the type serializes.
impl<K: serde::Serialize> ToJson for Object<K> {
    fn to_json(&self) -> Result<Cow<'_, str>, BodyError> {
        let text = serde_json::to_string(self.body());
        Ok(Cow::Owned(text.map_err(BodyError::new)?))
    }
}
