//! Typed objects, decoded by prost.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use prost::Message;

use super::form::{KeptProtobuf, ProtobufObject};
use crate::decode::body::{TextBody, TextForm};
use crate::decode::form::{BodyError, Form, ProtobufUse, ReadAnnotations};
use crate::decode::json::form::JsonObject;
use crate::decoded::Object;

/// Keeps a value of the type `M`, decoded by prost, without `managedFields`. The types of `k8s-pb` are such
/// types. It reads no JSON, so it does not fit custom resources.
///
/// ```
/// use informer_core::decode::protobuf::{Prost, decode_object};
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Pod {
///     #[prost(message, optional, tag = "2")]
///     spec: Option<Spec>,
/// }
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Spec {
///     #[prost(string, optional, tag = "10")]
///     node_name: Option<String>,
/// }
///
/// let pod = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x0b\x0a\x03\x0a\x01a\x12\x04\x52\x02n1";
/// let pod = decode_object(&mut Prost::<Pod>::new(), pod)?;
/// assert_eq!(pod.key().name(), "a");
/// assert_eq!(pod.spec.as_ref().unwrap().node_name(), "n1");
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
pub struct Prost<M> {
    annotations: Option<ReadAnnotations<M>>,
    makes: PhantomData<fn() -> M>,
}

impl<M> Prost<M> {
    /// The form for `M`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            annotations: None,
            makes: PhantomData,
        }
    }

    /// Says how annotations are read from a value, so that [`Object::annotation`] finds them.
    #[must_use]
    pub const fn with_annotations(self, read: ReadAnnotations<M>) -> Self {
        Self {
            annotations: Some(read),
            makes: PhantomData,
        }
    }
}

impl<M: Message + Default> Form for Prost<M> {
    type Body = M;

    const READS_JSON: bool = false;

    const PROTOBUF: ProtobufUse = ProtobufUse::Message;

    fn read_json(&mut self, _: JsonObject<'_>) -> Result<M, BodyError> {
        Err(BodyError::new("a prost type does not read JSON"))
    }

    fn read_protobuf(&mut self, object: ProtobufObject<'_>) -> Result<M, BodyError> {
        decode(&object.message())
    }

    fn body_annotations(&self) -> Option<ReadAnnotations<M>> {
        self.annotations
    }
}

/// [`Lean`](crate::decode::Lean) or [`Packed`](crate::decode::Packed), with the type of prost that the
/// message is decoded into on demand. It reads no JSON.
///
/// ```
/// use informer_core::decode::Lean;
/// use informer_core::decode::protobuf::{AsProst, decode_object};
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Secret {
///     #[prost(string, optional, tag = "3")]
///     r#type: Option<String>,
/// }
///
/// let secret = b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x0d\x0a\x03\x0a\x01a\x1a\x06Opaque";
/// let secret = decode_object(&mut AsProst::<Lean, Secret>::new(), secret)?;
/// assert_eq!(secret.decode()?.r#type(), "Opaque");
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
pub struct AsProst<F, M> {
    makes: PhantomData<fn() -> (F, M)>,
}

impl<F, M> AsProst<F, M> {
    /// The form `F` for `M`.
    #[must_use]
    pub const fn new() -> Self {
        Self { makes: PhantomData }
    }
}

impl<F: TextForm, M> Form for AsProst<F, M> {
    type Body = TextBody<F, Prost<M>>;

    const READS_JSON: bool = false;

    const PROTOBUF: ProtobufUse = match F::PROTOBUF {
        ProtobufUse::Message => ProtobufUse::Message,
        // Metadata is kept as JSON.
        _ => ProtobufUse::Refused,
    };

    fn read_json(&mut self, _: JsonObject<'_>) -> Result<Self::Body, BodyError> {
        Err(BodyError::new("a prost type does not read JSON"))
    }

    fn read_protobuf(&mut self, _: ProtobufObject<'_>) -> Result<Self::Body, BodyError> {
        Ok(TextBody::new())
    }

    fn keeps_protobuf(&self, object: ProtobufObject<'_>) -> KeptProtobuf {
        object.whole()
    }

    fn has_annotations(&self) -> bool {
        true
    }
}

impl<F: TextForm, K> Object<TextBody<F, K>> {
    /// Decodes the kept message into a value of any type of prost.
    ///
    /// # Errors
    ///
    /// The message does not fit the type, or the object is kept in JSON.
    pub fn decode_message<M: Message + Default>(&self) -> Result<M, BodyError> {
        decode(&self.protobuf()?)
    }
}

impl<F: TextForm, M: Message + Default> Object<TextBody<F, Prost<M>>> {
    /// Decodes the kept message.
    ///
    /// # Errors
    ///
    /// The message does not fit the type.
    pub fn decode(&self) -> Result<M, BodyError> {
        self.decode_message()
    }
}

fn decode<M: Message + Default>(message: &[u8]) -> Result<M, BodyError> {
    M::decode(message).map_err(BodyError::new)
}

macro_rules! plain_values {
    ($($form:ident<$($of:ident),*>),*) => {$(
        impl<$($of),*> Default for $form<$($of),*> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<$($of),*> Clone for $form<$($of),*> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($of),*> Copy for $form<$($of),*> {}

        impl<$($of),*> fmt::Debug for $form<$($of),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(type_name::<Self>())
            }
        }
    )*};
}

plain_values!(Prost<M>, AsProst<F, M>);
