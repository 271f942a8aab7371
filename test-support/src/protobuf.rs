//! Objects, lists and events in the protobuf encoding of Kubernetes, made from JSON.
//!
//! `metadata` has the field numbers of Kubernetes. What the decoders do not look at, such as `spec`, has
//! made-up numbers: it has the right shape and size, and no schema reads it.

use serde_json::{Map, Value};

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Adds a number.
    #[must_use]
    pub fn number(mut self, field: u32, number: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(number.cast_unsigned());
        self
    }

    /// Adds a text, bytes or a nested message.
    #[must_use]
    pub fn bytes(mut self, field: u32, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Adds one after the other.
    #[must_use]
    pub fn each<T>(self, items: impl IntoIterator<Item = T>, add: fn(Self, T) -> Self) -> Self {
        items.into_iter().fold(self, add)
    }

    /// The bytes of the message.
    #[must_use]
    pub fn end(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.bytes.push(low);
            }
            self.bytes.push(low | 0x80);
        }
    }

    fn text(self, field: u32, object: &Value, name: &str) -> Self {
        // The server writes empty texts, too.
        self.bytes(field, object[name].as_str().unwrap_or_default())
    }
}

/// The message of an object, from its JSON.
#[must_use]
pub fn object(json: &Value) -> Vec<u8> {
    let mut message = Message::default().bytes(1, metadata(&json["metadata"]));
    for (name, value) in json.as_object().into_iter().flatten() {
        message = match name.as_str() {
            "metadata" | "kind" | "apiVersion" => message,
            name => add_any(message, number_of(name), value),
        };
    }
    message.end()
}

/// An object or a list with its type.
#[must_use]
pub fn enveloped(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let type_meta = Message::default().bytes(1, api_version).bytes(2, kind);
    let unknown = Message::default()
        .bytes(1, type_meta.end())
        .bytes(2, message);
    [b"k8s\0", &unknown.bytes(3, "").bytes(4, "").end()[..]].concat()
}

/// A list of objects, with its type. `metadata` is that of a list in JSON.
#[must_use]
pub fn list(
    kind: &str,
    metadata: &Value,
    items: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Vec<u8> {
    let mut head = Message::default().bytes(1, "");
    head = head.text(2, metadata, "resourceVersion");
    head = head.text(3, metadata, "continue");
    if let Some(count) = metadata["remainingItemCount"].as_i64() {
        head = head.number(4, count);
    }
    let list = Message::default().bytes(1, head.end());
    let list = items
        .into_iter()
        .fold(list, |list, item| list.bytes(2, item));
    enveloped("v1", kind, &list.end())
}

/// A frame of a watch, with an object that has its type.
#[must_use]
pub fn event(kind: &str, enveloped: &[u8]) -> Vec<u8> {
    let raw = Message::default().bytes(1, enveloped).end();
    let event = Message::default().bytes(1, kind).bytes(2, raw).end();
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &event].concat()
}

/// The message `ObjectMeta`.
fn metadata(json: &Value) -> Vec<u8> {
    let message = Message::default();
    let message = message.text(1, json, "name").text(2, json, "generateName");
    let message = message.text(3, json, "namespace").text(4, json, "selfLink");
    let message = message
        .text(5, json, "uid")
        .text(6, json, "resourceVersion");
    let mut message = message.number(7, json["generation"].as_i64().unwrap_or_default());
    message = message.bytes(8, time(&json["creationTimestamp"]));
    if json["deletionTimestamp"].is_string() {
        message = message.bytes(9, time(&json["deletionTimestamp"]));
    }
    if let Some(seconds) = json["deletionGracePeriodSeconds"].as_i64() {
        message = message.number(10, seconds);
    }
    for (field, name) in [(11, "labels"), (12, "annotations")] {
        for (key, value) in members(&json[name]) {
            let entry = Message::default().bytes(1, key);
            let entry = entry.bytes(2, value.as_str().unwrap_or_default());
            message = message.bytes(field, entry.end());
        }
    }
    message
        .each(elements(&json["ownerReferences"]), |message, owner| {
            message.bytes(13, owner_reference(owner))
        })
        .each(elements(&json["finalizers"]), |message, name| {
            message.bytes(14, name.as_str().unwrap_or_default())
        })
        .each(elements(&json["managedFields"]), |message, entry| {
            message.bytes(17, managed_fields(entry))
        })
        .end()
}

fn owner_reference(json: &Value) -> Vec<u8> {
    let message = Message::default().text(1, json, "kind");
    let message = message.text(3, json, "name").text(4, json, "uid");
    let mut message = message.text(5, json, "apiVersion");
    for (field, name) in [(6, "controller"), (7, "blockOwnerDeletion")] {
        if let Some(flag) = json[name].as_bool() {
            message = message.number(field, flag.into());
        }
    }
    message.end()
}

fn managed_fields(json: &Value) -> Vec<u8> {
    let message = Message::default().text(1, json, "manager");
    let message = message
        .text(2, json, "operation")
        .text(3, json, "apiVersion");
    let message = message.bytes(4, time(&json["time"]));
    let fields = Message::default().bytes(1, json["fieldsV1"].to_string());
    let message = message.text(6, json, "fieldsType").bytes(7, fields.end());
    message.text(8, json, "subresource").end()
}

/// The message `Time` of a text such as `2006-01-02T15:04:05Z`; empty without one.
fn time(json: &Value) -> Vec<u8> {
    let Some(text) = json.as_str() else {
        return Vec::new();
    };
    let numbers: Vec<i64> = text
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let [year, month, day, hour, minute, second] = numbers[..] else {
        return Vec::new();
    };
    // The year begins in March here, so that the leap day is its last day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Message::default().number(1, seconds).number(2, 0).end()
}

/// Adds any value of JSON: lists as repeated fields, objects as nested messages.
fn add_any(message: Message, field: u32, value: &Value) -> Message {
    match value {
        Value::Null => message,
        Value::Bool(flag) => message.number(field, (*flag).into()),
        Value::Number(number) => message.number(field, number.as_i64().unwrap_or_default()),
        Value::String(text) => message.bytes(field, text),
        Value::Array(values) => {
            let add = |message, value| add_any(message, field, value);
            values.iter().fold(message, add)
        }
        Value::Object(members) => {
            let add =
                |message, (name, value): (&String, _)| add_any(message, number_of(name), value);
            let nested = members.iter().fold(Message::default(), add);
            message.bytes(field, nested.end())
        }
    }
}

/// A number for a name. It is not 1, where every object has its metadata.
fn number_of(name: &str) -> u32 {
    let sum = name.bytes().fold(7_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    2 + sum % 40
}

fn members(json: &Value) -> impl Iterator<Item = (&String, &Value)> {
    json.as_object().into_iter().flat_map(Map::iter)
}

fn elements(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}
