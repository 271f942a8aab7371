//! Why a selector is invalid.

use alloc::string::String;
use core::fmt;

use super::label_requirement::LabelOperator;

/// Why a selector could not be parsed or built.
///
/// ```
/// use informer_indexers::selector::{LabelSelector, SelectorError};
///
/// let error = "app in shop".parse::<LabelSelector>().unwrap_err();
/// assert!(matches!(error, SelectorError::Unexpected { at: 7, .. }));
/// assert_eq!(error.to_string(), r#"found "shop" at byte 7 of the selector, expected `(`"#);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SelectorError {
    /// A syntax error in the text of a selector.
    Unexpected {
        /// The text at this position; empty at the end.
        found: String,
        /// The byte position.
        at: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// The key is not a valid label key.
    InvalidKey {
        /// The key.
        key: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// The value is not a valid label value.
    InvalidValue {
        /// The key of the label.
        key: String,
        /// The value.
        value: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// `>` or `<` has a value that is not a 64-bit integer.
    NotAnInteger {
        /// The key of the label.
        key: String,
        /// The value.
        value: String,
    },
    /// The operator does not take this number of values.
    ValueCount {
        /// The key of the label.
        key: String,
        /// The operator.
        operator: LabelOperator,
        /// How many values were given.
        count: usize,
    },
    /// The operator of a match expression does not exist.
    UnknownOperator {
        /// The operator.
        operator: String,
    },
    /// The field name contains characters that selectors cannot express.
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
            Self::InvalidKey { key, rule } => write!(f, "invalid label key {key:?}: {rule}"),
            Self::InvalidValue { key, value, rule } => {
                write!(f, "invalid value {value:?} of label {key:?}: {rule}")
            }
            Self::NotAnInteger { key, value } => write!(
                f,
                "cannot compare label {key:?} with {value:?}, expected a 64-bit integer"
            ),
            Self::ValueCount {
                key,
                operator,
                count,
            } => write!(
                f,
                "operator `{operator}` on label {key:?} has {count} values, expected {}",
                operator.expected_values()
            ),
            Self::UnknownOperator { operator } => write!(
                f,
                "unknown operator {operator:?} in a match expression, \
                 expected `In`, `NotIn`, `Exists` or `DoesNotExist`"
            ),
            Self::InvalidField { field } => write!(
                f,
                "invalid field name {field:?} in a selector, \
                 expected a non-empty name without `,`, `=`, `!` and `\\`"
            ),
        }
    }
}

impl core::error::Error for SelectorError {}
