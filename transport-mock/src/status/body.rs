//! The bytes of a Status, in the field order of its Go type.

use informer_core::Encoding;

use crate::api::ApiKind;
use crate::encode::json;
use crate::protobuf;
use crate::status::{ApiError, StatusCause};

/// The field `details` of an [`ApiError`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Details {
    pub(super) name: String,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) uid: String,
    pub(super) causes: Vec<StatusCause>,
    pub(super) retry_after_seconds: u32,
}

impl ApiError {
    /// Writes the bare Status object as JSON.
    pub(super) fn write_object(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"kind":"Status","apiVersion":"v1","metadata":{"#);
        Fields::new(out).text("continue", &self.0.resume);
        out.extend_from_slice(br#"},"status":"Failure""#);
        let mut fields = Fields {
            out,
            is_first: false,
        };
        fields.text("message", &self.0.message);
        fields.text("reason", self.0.reason.as_str());
        if let Some(details) = &self.0.details {
            fields.name("details").push(b'{');
            details.write(fields.out);
            fields.out.push(b'}');
        }
        fields.number("code", self.code().into());
        out.push(b'}');
    }
}

/// The Status of success that answers most deletions.
pub(crate) fn deleted(kind: &ApiKind, name: &str, uid: &str, encoding: Encoding) -> Vec<u8> {
    let mut out =
        br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"#
            .to_vec();
    Details {
        name: name.to_owned(),
        group: kind.group().to_owned(),
        kind: kind.plural().to_owned(),
        uid: uid.to_owned(),
        ..Details::default()
    }
    .write(&mut out);
    out.extend_from_slice(b"}}\n");
    match encoding {
        Encoding::Protobuf => protobuf::status(&out),
        _ => out,
    }
}

impl Details {
    fn write(&self, out: &mut Vec<u8>) {
        let mut fields = Fields::new(out);
        fields.text("name", &self.name);
        fields.text("group", &self.group);
        fields.text("kind", &self.kind);
        fields.text("uid", &self.uid);
        if !self.causes.is_empty() {
            fields.name("causes").push(b'[');
            for (n, cause) in self.causes.iter().enumerate() {
                if n > 0 {
                    fields.out.push(b',');
                }
                fields.out.push(b'{');
                let mut cause_fields = Fields::new(fields.out);
                cause_fields.text("reason", &cause.reason);
                cause_fields.text("message", &cause.message);
                cause_fields.text("field", &cause.field);
                fields.out.push(b'}');
            }
            fields.out.push(b']');
        }
        fields.number("retryAfterSeconds", self.retry_after_seconds);
    }
}

/// Writes the fields of an object and omits empty ones, like Go's `omitempty`.
struct Fields<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> Fields<'a> {
    const fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            is_first: true,
        }
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
        json(self.out, name);
        self.out.push(b':');
        self.out
    }

    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            json(self.name(name), value);
        }
    }

    fn number(&mut self, name: &str, value: u32) {
        if value != 0 {
            json(self.name(name), &value);
        }
    }
}
