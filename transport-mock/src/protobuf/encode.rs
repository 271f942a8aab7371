//! From JSON to protobuf, as the Go types of the API write it.

use std::fmt;

use serde_json::{Map, Value as Json};

use crate::api::ApiKind;
use crate::base64_text;
use crate::protobuf::schema::{self, Field, Message, Occurs, Value};
use crate::protobuf::wire;
use crate::status::ApiError;
use crate::timestamp::Timestamp;

/// A field of an object whose value does not have the type that the API gives it. A real server has no
/// such objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unfit {
    /// The names of the fields that lead there, the last one first.
    path: Vec<String>,
    expected: &'static str,
}

impl Unfit {
    const fn new(expected: &'static str) -> Self {
        Self {
            path: Vec::new(),
            expected,
        }
    }

    /// The answer to a request for this object.
    pub(crate) fn refusal(&self, kind: &ApiKind) -> ApiError {
        let kind = kind.resource();
        ApiError::internal_error(&format!(
            "an object of {kind} cannot be sent as protobuf: {self}"
        ))
    }

    fn within(mut self, name: impl Into<String>) -> Self {
        self.path.push(name.into());
        self
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        write!(f, "{} is not {}", path.join("."), self.expected)
    }
}

/// Encodes an object as the message with this name. Fields that the message does not have are left out.
pub(crate) fn message(name: &str, object: &Map<String, Json>) -> Result<Vec<u8>, Unfit> {
    let message = schema::message(name).ok_or(Unfit::new("an object of a known kind"))?;
    message.encoded(object)
}

impl Message {
    fn encoded(&self, object: &Map<String, Json>) -> Result<Vec<u8>, Unfit> {
        let mut out = Vec::new();
        for field in &self.fields {
            match field.name {
                Some(name) => field
                    .write(object.get(name).unwrap_or(&Json::Null), &mut out)
                    .map_err(|unfit| unfit.within(name))?,
                None => field.write_flattened(object, &mut out)?,
            }
        }
        Ok(out)
    }
}

impl Field {
    /// Writes a message whose fields are those of `object`.
    fn write_flattened(&self, object: &Map<String, Json>, out: &mut Vec<u8>) -> Result<(), Unfit> {
        if let Value::Message(name) = self.value {
            wire::bytes(out, self.number, &message(name, object)?);
        }
        Ok(())
    }

    fn write(&self, value: &Json, out: &mut Vec<u8>) -> Result<(), Unfit> {
        match (self.occurs, value) {
            (Occurs::Always, value) => self.value.write(self.number, value, out),
            (_, Json::Null) => Ok(()),
            (Occurs::Optional, value) => self.value.write(self.number, value, out),
            (Occurs::Repeated, Json::Array(elements)) => {
                for (at, element) in elements.iter().enumerate() {
                    self.value
                        .write(self.number, element, out)
                        .map_err(|unfit| unfit.within(at.to_string()))?;
                }
                Ok(())
            }
            (Occurs::Repeated, _) => Err(Unfit::new("a list")),
            (Occurs::ByKey, Json::Object(entries)) => {
                for (key, value) in entries {
                    let mut entry = Vec::new();
                    wire::bytes(&mut entry, 1, key.as_bytes());
                    self.value
                        .write(2, value, &mut entry)
                        .map_err(|unfit| unfit.within(key))?;
                    wire::bytes(out, self.number, &entry);
                }
                Ok(())
            }
            (Occurs::ByKey, _) => Err(Unfit::new("an object")),
        }
    }
}

impl Value {
    /// Writes one value. `null` is the empty value of the type, as in Go.
    fn write(self, number: u32, value: &Json, out: &mut Vec<u8>) -> Result<(), Unfit> {
        match self {
            Self::Text => wire::bytes(out, number, text(value)?.as_bytes()),
            Self::Bool => match value {
                Json::Null => wire::integer(out, number, 0),
                Json::Bool(is) => wire::integer(out, number, i64::from(*is)),
                _ => return Err(Unfit::new("true or false")),
            },
            Self::Int32 => {
                let value = i32::try_from(integer(value)?).map_err(|_| Unfit::new(INT32))?;
                wire::integer(out, number, value.into());
            }
            Self::Int64 => wire::integer(out, number, integer(value)?),
            Self::Bytes => {
                let bytes = base64_text::standard_decoded(text(value)?);
                let bytes = bytes.ok_or(Unfit::new("a text in base64"))?;
                wire::bytes(out, number, &bytes);
            }
            Self::Time => wire::bytes(out, number, &time(value, Precision::Seconds)?),
            Self::MicroTime => wire::bytes(out, number, &time(value, Precision::Micros)?),
            Self::Quantity => wire::bytes(out, number, &quantity(value)?),
            Self::IntOrString => wire::bytes(out, number, &int_or_string(value)?),
            Self::FieldsV1 => {
                let mut raw = Vec::new();
                if !value.is_null() {
                    wire::bytes(&mut raw, 1, value.to_string().as_bytes());
                }
                wire::bytes(out, number, &raw);
            }
            Self::Message(name) => {
                let nested = match value {
                    Json::Null => message(name, &Map::new())?,
                    Json::Object(fields) => message(name, fields)?,
                    _ => return Err(Unfit::new("an object")),
                };
                wire::bytes(out, number, &nested);
            }
        }
        Ok(())
    }
}

const INT32: &str = "a whole number of 32 bits";

fn text(value: &Json) -> Result<&str, Unfit> {
    match value {
        Json::Null => Ok(""),
        Json::String(text) => Ok(text),
        _ => Err(Unfit::new("a text")),
    }
}

fn integer(value: &Json) -> Result<i64, Unfit> {
    match value {
        Json::Null => Ok(0),
        value => value.as_i64().ok_or(Unfit::new("a whole number")),
    }
}

/// A message with a single text. Empty quantities are zero.
fn quantity(value: &Json) -> Result<Vec<u8>, Unfit> {
    let mut out = Vec::new();
    match value {
        Json::Null => wire::bytes(&mut out, 1, b"0"),
        Json::String(text) => wire::bytes(&mut out, 1, text.as_bytes()),
        Json::Number(number) => wire::bytes(&mut out, 1, number.to_string().as_bytes()),
        _ => return Err(Unfit::new("a quantity")),
    }
    Ok(out)
}

fn int_or_string(value: &Json) -> Result<Vec<u8>, Unfit> {
    let (kind, number, text) = match value {
        Json::String(text) => (1, 0, text.as_str()),
        value => {
            let number = integer(value).map_err(|_| Unfit::new("a whole number or a text"))?;
            let number = i32::try_from(number).map_err(|_| Unfit::new(INT32))?;
            (0, number, "")
        }
    };
    let mut out = Vec::new();
    wire::integer(&mut out, 1, kind);
    wire::integer(&mut out, 2, number.into());
    wire::bytes(&mut out, 3, text.as_bytes());
    Ok(out)
}

/// What is kept of a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precision {
    Seconds,
    Micros,
}

/// Seconds and nanoseconds; nothing for no time.
fn time(value: &Json, precision: Precision) -> Result<Vec<u8>, Unfit> {
    let mut out = Vec::new();
    if value.is_null() {
        return Ok(out);
    }
    let (seconds, micros) = parsed_time(text(value)?).ok_or(Unfit::new("a time of RFC 3339"))?;
    let nanos = match precision {
        Precision::Seconds => 0,
        Precision::Micros => micros * 1000,
    };
    wire::integer(&mut out, 1, seconds);
    wire::integer(&mut out, 2, nanos);
    Ok(out)
}

/// The seconds since 1970 and the microseconds of a time in any zone.
fn parsed_time(text: &str) -> Option<(i64, i64)> {
    let (whole, rest) = text.split_at_checked("2026-11-17T10:00:00".len())?;
    let at_zone = rest.find(['Z', '+', '-'])?;
    let (fraction, zone) = rest.split_at(at_zone);
    let micros = match fraction.strip_prefix('.') {
        Some(digits) => format!("{digits:0<6.6}").parse().ok()?,
        None => 0,
    };
    let ahead = match zone {
        "Z" => 0,
        _ => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let seconds = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
            if zone.starts_with('-') {
                -seconds
            } else {
                seconds
            }
        }
    };
    let utc = Timestamp::parse(&format!("{whole}Z"))?;
    Some((i64::try_from(utc.as_unix()).ok()? - ahead, micros))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn unfit(name: &str, object: Json) -> String {
        let object = object.as_object().cloned().unwrap();
        message(name, &object).unwrap_err().to_string()
    }

    /// `schema/samples.go` writes the samples with the types of the real server.
    #[test]
    fn objects_are_encoded_as_the_real_server_does() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/protobuf/samples");
        let mut samples = 0;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|it| it != "json") {
                continue;
            }
            let name = path.file_stem().unwrap().to_str().unwrap();
            let object: Map<String, Json> =
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let full = fs::read(path.with_extension("pb")).unwrap();
            assert_eq!(message(name, &object), Ok(full), "{name}");
            let blank = fs::read(path.with_extension("blank.pb")).unwrap();
            assert_eq!(message(name, &Map::new()), Ok(blank), "{name}");
            samples += 1;
        }
        assert_eq!(samples, 15);
    }

    #[test]
    fn an_error_names_the_field() {
        for (spec, expected) in [
            (json!(7), "spec is not an object"),
            (json!({"containers": {}}), "spec.containers is not a list"),
            (
                json!({"containers": [{}, 7]}),
                "spec.containers.1 is not an object",
            ),
            (json!({"nodeName": 7}), "spec.nodeName is not a text"),
            (
                json!({"nodeSelector": {"a": 7}}),
                "spec.nodeSelector.a is not a text",
            ),
            (
                json!({"nodeSelector": []}),
                "spec.nodeSelector is not an object",
            ),
            (
                json!({"hostPID": "yes"}),
                "spec.hostPID is not true or false",
            ),
            (
                json!({"priority": 1.5}),
                "spec.priority is not a whole number",
            ),
            (
                json!({"priority": 1_u64 << 40}),
                "spec.priority is not a whole number of 32 bits",
            ),
            // The fields of a source are those of the volume.
            (
                json!({"volumes": [{"hostPath": {"path": 7}}]}),
                "spec.volumes.0.hostPath.path is not a text",
            ),
            (
                json!({"overhead": {"cpu": true}}),
                "spec.overhead.cpu is not a quantity",
            ),
        ] {
            assert_eq!(unfit("core.Pod", json!({"spec": spec})), expected);
        }
        assert_eq!(
            unfit("core.Secret", json!({"data": {"a": "?"}})),
            "data.a is not a text in base64"
        );
        assert_eq!(
            unfit(
                "core.Pod",
                json!({"metadata": {"creationTimestamp": "today"}})
            ),
            "metadata.creationTimestamp is not a time of RFC 3339"
        );
    }

    #[test]
    fn what_go_does_not_know_is_left_out() {
        let object = json!({"metadata": {"poem": 1}, "data": {"b": "2"}, "poem": []});
        let known = json!({"metadata": {}, "data": {"b": "2"}});
        let encoded = |object: &Json| message("core.ConfigMap", object.as_object().unwrap());
        assert_eq!(encoded(&object), encoded(&known));
    }

    #[test]
    fn times() {
        for (text, parsed) in [
            ("1970-01-01T00:00:01Z", Some((1, 0))),
            ("1970-01-01T02:00:00.5+01:30", Some((1800, 500_000))),
            ("1970-01-01T00:00:00.1234567-00:01", Some((60, 123_456))),
            ("1970-01-01", None),
            ("1970-01-01T00:00:00", None),
            ("1970-01-01T00:00:00.xZ", None),
            ("1970-01-01T00:00:00+1", None),
        ] {
            assert_eq!(parsed_time(text), parsed, "{text}");
        }
        let text = json!("1970-01-01T00:00:01.5Z");
        assert_eq!(time(&text, Precision::Seconds).unwrap(), [8, 1, 16, 0]);
        let micros = time(&text, Precision::Micros).unwrap();
        assert_eq!(micros, [8, 1, 16, 0x80, 0xca, 0xb5, 0xee, 1]);
    }
}
