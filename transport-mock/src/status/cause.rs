//! A single problem with a request, in the real server's words.

use serde_json::Value;

/// A single problem, one of the causes of an [`ApiError`](crate::status::ApiError).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct StatusCause {
    /// The type of problem: `FieldValueInvalid`, `ResourceVersionTooLarge`.
    pub reason: String,
    /// A description for people.
    pub message: String,
    /// The field at fault; empty if the problem is not about a field.
    pub field: String,
}

impl StatusCause {
    pub(crate) fn invalid(field: &str, value: &str, why: &str) -> Self {
        Self::of(
            "FieldValueInvalid",
            field,
            format!("Invalid value: {value:?}: {why}"),
        )
    }

    /// The same for any value.
    pub(crate) fn invalid_value(field: &str, value: Option<&Value>, why: &str) -> Self {
        let value = value.unwrap_or(&Value::Null);
        Self::of(
            "FieldValueInvalid",
            field,
            format!("Invalid value: {value}: {why}"),
        )
    }

    /// The same for a number.
    pub(crate) fn invalid_number(field: &str, value: i64, why: &str) -> Self {
        Self::of(
            "FieldValueInvalid",
            field,
            format!("Invalid value: {value}: {why}"),
        )
    }

    pub(crate) fn forbidden(field: &str, why: &str) -> Self {
        Self::of("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    pub(crate) fn required(field: &str, why: &str) -> Self {
        let message = match why {
            "" => "Required value".to_owned(),
            _ => format!("Required value: {why}"),
        };
        Self::of("FieldValueRequired", field, message)
    }

    pub(crate) fn not_supported(field: &str, value: &str, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|text| format!("{text:?}")).collect();
        Self::of(
            "FieldValueNotSupported",
            field,
            format!(
                "Unsupported value: {value:?}: supported values: {}",
                supported.join(", ")
            ),
        )
    }

    /// The same for a list of values.
    pub(crate) fn not_supported_list(field: &str, values: &[String], supported: &[&str]) -> Self {
        let mut cause = Self::not_supported(field, "", supported);
        let values: Vec<String> = values.iter().map(|text| format!("{text:?}")).collect();
        cause.message = cause
            .message
            .replacen("\"\"", &format!("[{}]", values.join(",")), 1);
        cause
    }

    pub(crate) fn too_long(field: &str, most: usize) -> Self {
        Self::of(
            "FieldValueTooLong",
            field,
            format!("Too long: may not be more than {most} bytes"),
        )
    }

    /// For a version that the server has not reached.
    pub(crate) fn version_too_large() -> Self {
        Self::of(
            "ResourceVersionTooLarge",
            "",
            "Too large resource version".to_owned(),
        )
    }

    /// For an update without a version.
    pub(crate) fn unspecified_version() -> Self {
        Self::of(
            "FieldValueInvalid",
            "metadata.resourceVersion",
            "Invalid value: 0: must be specified for an update".to_owned(),
        )
    }

    /// For a field that somebody else owns.
    pub(crate) fn field_conflict(owner: &str, field: &str) -> Self {
        Self::of(
            "FieldManagerConflict",
            field,
            format!("conflict with {owner}"),
        )
    }

    /// A cause with a message only.
    pub(crate) fn text(message: &str) -> Self {
        Self::of("", "", message.to_owned())
    }

    fn of(reason: &str, field: &str, message: String) -> Self {
        Self {
            reason: reason.to_owned(),
            message,
            field: field.to_owned(),
        }
    }
}
