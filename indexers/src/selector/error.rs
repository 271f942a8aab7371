//! What is wrong with a selector.

use alloc::string::String;
use core::fmt;

use super::label_requirement::LabelOperator;

/// Why a selector could not be read or built.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SelectorError {
    /// The text of a selector has something else in this place.
    Unexpected {
        /// What is there; empty at the end of the text.
        found: String,
        /// The place, in bytes from the start of the text.
        at: usize,
        /// What may be there.
        expected: &'static str,
    },
    /// No label can have this key.
    InvalidKey {
        /// The key.
        key: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// No label can have this value.
    InvalidValue {
        /// The key of the label.
        key: String,
        /// The value.
        value: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A label is compared by size with something that is no 64-bit integer.
    NotAnInteger {
        /// The key of the label.
        key: String,
        /// What it is compared with.
        value: String,
    },
    /// The operator takes another number of values.
    ValueCount {
        /// The key of the label.
        key: String,
        /// The operator.
        operator: LabelOperator,
        /// How many values were given.
        count: usize,
    },
    /// A match expression has no such operator.
    UnknownOperator {
        /// What was given.
        operator: String,
    },
    /// The name of a field would be read back as something else.
    InvalidField {
        /// The name of the field.
        field: String,
    },
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected {
                found,
                at,
                expected,
            } if found.is_empty() => {
                write!(f, "the selector ends at byte {at}, expected {expected}")
            }
            Self::Unexpected {
                found,
                at,
                expected,
            } => write!(
                f,
                "found {found:?} at byte {at} of the selector, expected {expected}"
            ),
            Self::InvalidKey { key, rule } => write!(f, "no label has the key {key:?}: {rule}"),
            Self::InvalidValue { key, value, rule } => {
                write!(f, "no label {key:?} has the value {value:?}: {rule}")
            }
            Self::NotAnInteger { key, value } => write!(
                f,
                "the label {key:?} is compared by size with {value:?}, expected a 64-bit integer"
            ),
            Self::ValueCount {
                key,
                operator,
                count,
            } => write!(
                f,
                "the operator `{operator}` on the label {key:?} has {count} values, expected {}",
                operator.expected_values()
            ),
            Self::UnknownOperator { operator } => write!(
                f,
                "{operator:?} is no operator of a match expression, \
                 expected `In`, `NotIn`, `Exists` or `DoesNotExist`"
            ),
            Self::InvalidField { field } => write!(
                f,
                "{field:?} cannot be the name of a field in a selector, \
                 expected a text without `,`, `=`, `!` and `\\` that is not empty"
            ),
        }
    }
}

impl core::error::Error for SelectorError {}
