//! Objects as a client gets them: whole or in part, as JSON or protobuf.

use std::sync::Arc;

use informer_core::Encoding;
use serde_json::{Map, Value};

use crate::api::ApiKind;
use crate::encode::Encoded;
use crate::form::{META, ObjectForm, Page, Row};
use crate::protobuf;
use crate::status::ApiError;
use crate::store::object::StoredObject;
use crate::timestamp::Timestamp;

/// How an answer is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Representation {
    pub(crate) form: ObjectForm,
    pub(crate) encoding: Encoding,
}

/// An object at a version that may be newer than its own: that of its deletion.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) object: &'a StoredObject,
    pub(crate) version: u64,
    /// Whether a table names its columns.
    pub(crate) has_columns: bool,
}

impl<'a> Shown<'a> {
    /// The object as it is.
    pub(crate) fn whole(object: &'a StoredObject) -> Self {
        Self {
            object,
            version: object.version(),
            has_columns: true,
        }
    }
}

impl Representation {
    /// The body of a list.
    pub(crate) fn list(
        self,
        kind: &ApiKind,
        objects: &[&Arc<StoredObject>],
        page: &Page,
        now: Timestamp,
    ) -> Result<Vec<u8>, ApiError> {
        if self.encoding == Encoding::Protobuf {
            let items = objects.iter().map(|object| self.message(kind, object));
            let items: Vec<_> = items.collect::<Result<_, _>>()?;
            let list = protobuf::list(page, &items);
            return Ok(match self.form {
                ObjectForm::Object => {
                    protobuf::enveloped(&kind.api_version(), kind.list_kind(), &list)
                }
                _ => protobuf::enveloped(META, "PartialObjectMetadataList", &list),
            });
        }
        let size: usize = objects.iter().map(|object| object.json().len() + 1).sum();
        let mut out = Vec::with_capacity(size + 256);
        self.form.begin_list(kind, page, &mut out);
        for (n, object) in objects.iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            let encoded = object.encoded(kind);
            self.form.item(&encoded, object.row(now), &mut out);
        }
        self.form.end_list(kind, page, &mut out);
        Ok(out)
    }

    /// The body of an answer with one object.
    pub(crate) fn body(
        self,
        kind: &ApiKind,
        shown: Shown<'_>,
        now: Timestamp,
    ) -> Result<Vec<u8>, ApiError> {
        let mut out = self.object(kind, shown, now)?.to_vec();
        if self.encoding == Encoding::Json {
            out.push(b'\n');
        }
        Ok(out)
    }

    /// An object with its kind, as in a watch.
    pub(crate) fn object(
        self,
        kind: &ApiKind,
        shown: Shown<'_>,
        now: Timestamp,
    ) -> Result<Arc<[u8]>, ApiError> {
        let Shown {
            object,
            version,
            has_columns,
        } = shown;
        let is_newer = version != object.version();
        if self.encoding == Encoding::Protobuf {
            let message = match is_newer {
                true => {
                    let encoded = object.encoded(kind).at_version(version);
                    self.encoded_message(kind, &encoded)?
                }
                false => self.message(kind, object)?,
            };
            return Ok(self.enveloped(kind, &message));
        }
        let (encoded, row) = (object.encoded(kind), object.row(now));
        Ok(match is_newer {
            true => self
                .form
                .object(&encoded.at_version(version), row, has_columns),
            false => self.form.object(&encoded, row, has_columns),
        })
    }

    /// A bookmark.
    pub(crate) fn bookmark(
        self,
        kind: &ApiKind,
        bookmark: &Encoded,
        row: Row<'_>,
        has_columns: bool,
    ) -> Result<Arc<[u8]>, ApiError> {
        if self.encoding == Encoding::Protobuf {
            let message = self.encoded_message(kind, bookmark)?;
            return Ok(self.enveloped(kind, &message));
        }
        Ok(self.form.object(bookmark, row, has_columns))
    }

    fn enveloped(self, kind: &ApiKind, message: &[u8]) -> Arc<[u8]> {
        match self.form {
            ObjectForm::Object => protobuf::enveloped(&kind.api_version(), kind.kind(), message),
            _ => protobuf::enveloped(META, "PartialObjectMetadata", message),
        }
        .into()
    }

    /// The message of an object, without its envelope.
    fn message(self, kind: &ApiKind, object: &StoredObject) -> Result<Arc<[u8]>, ApiError> {
        match self.form {
            ObjectForm::Object => object.protobuf(kind),
            _ => protobuf::metadata(object.value()).map(Arc::from),
        }
        .map_err(|unfit| unfit.refusal(kind))
    }

    /// The message of an object that is not stored.
    fn encoded_message(self, kind: &ApiKind, object: &Encoded) -> Result<Arc<[u8]>, ApiError> {
        let value: Map<String, Value> = serde_json::from_slice(&object.whole).unwrap_or_default();
        match self.form {
            ObjectForm::Object => protobuf::object(kind, &value),
            _ => protobuf::metadata(&value),
        }
        .map(Arc::from)
        .map_err(|unfit| unfit.refusal(kind))
    }
}
