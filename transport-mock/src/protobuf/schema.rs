//! Which fields the messages of the Kubernetes API have.
//!
//! The tables are text, one for each API group: a line for each message, followed by a line for each of its
//! fields, in the order in which they are sent. A field has its name in JSON, its number and its Go type. The name `..` stands
//! for a message whose fields are, in JSON, those of the message around it. `transport-mock/schema` writes
//! the tables.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A message: a Go struct.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) fields: Vec<Field>,
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name in JSON; `None` if the fields of this message are, in JSON, part of the one around it.
    pub(crate) name: Option<&'static str>,
    pub(crate) number: u32,
    pub(crate) occurs: Occurs,
    pub(crate) value: Value,
}

/// How often a field is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Occurs {
    /// Once, even if it is empty.
    Always,
    /// Once if it is there: a pointer.
    Optional,
    /// Once for each element: a slice.
    Repeated,
    /// Once for each entry, sorted by key: a map.
    ByKey,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Text,
    Bool,
    Int32,
    Int64,
    /// Base64 in JSON.
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// JSON, sent as its text.
    FieldsV1,
    /// A message, by its group and name.
    Message(&'static str),
}

const TABLES: [&str; 7] = [
    include_str!("schema/apps.txt"),
    include_str!("schema/autoscaling.txt"),
    include_str!("schema/batch.txt"),
    include_str!("schema/coordination.txt"),
    include_str!("schema/core.txt"),
    include_str!("schema/events.txt"),
    include_str!("schema/meta.txt"),
];

static MESSAGES: LazyLock<HashMap<&str, Message>> = LazyLock::new(|| {
    let mut messages = HashMap::new();
    let mut message = &mut Message::default();
    for line in TABLES.into_iter().flat_map(str::lines) {
        match line.strip_prefix("  ") {
            Some(field) => message.fields.extend(Field::parsed(field)),
            None => message = messages.entry(line).or_default(),
        }
    }
    messages
});

/// A message by its group and name: `core.Pod`.
pub(crate) fn message(name: &str) -> Option<&'static Message> {
    MESSAGES.get(name)
}

impl Field {
    /// `None` for a line that is not a field: a test makes sure that there is none.
    fn parsed(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        let (name, number, go_type) = (words.next()?, words.next()?, words.next()?);
        let (occurs, value) = match go_type {
            "[]byte" => (Occurs::Optional, go_type),
            _ => [
                ("*", Occurs::Optional),
                ("[]", Occurs::Repeated),
                ("map[string]", Occurs::ByKey),
            ]
            .into_iter()
            .find_map(|(prefix, occurs)| Some((occurs, go_type.strip_prefix(prefix)?)))
            .unwrap_or((Occurs::Always, go_type)),
        };
        Some(Self {
            name: (name != "..").then_some(name),
            number: number.parse().ok()?,
            occurs,
            value: Value::parsed(value),
        })
    }
}

impl Value {
    fn parsed(go_type: &'static str) -> Self {
        match go_type {
            "string" => Self::Text,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "[]byte" => Self::Bytes,
            "Time" => Self::Time,
            "MicroTime" => Self::MicroTime,
            "Quantity" => Self::Quantity,
            "IntOrString" => Self::IntOrString,
            "FieldsV1" => Self::FieldsV1,
            message => Self::Message(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        for line in TABLES.into_iter().flat_map(str::lines) {
            let Some(field) = line.strip_prefix("  ") else {
                assert!(
                    message(line).is_some_and(|it| !it.fields.is_empty()),
                    "{line}"
                );
                continue;
            };
            let field = Field::parsed(field).expect(line);
            if let Value::Message(name) = field.value {
                assert!(message(name).is_some(), "{line}");
            }
        }
    }

    #[test]
    fn fields_are_in_the_order_of_their_numbers() {
        for (name, message) in MESSAGES.iter() {
            let numbers: Vec<u32> = message.fields.iter().map(|field| field.number).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{name}: {numbers:?}");
        }
    }
}
