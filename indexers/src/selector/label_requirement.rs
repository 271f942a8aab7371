//! One condition on one label.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::error::SelectorError;
use super::names;

/// The operator of a [`LabelRequirement`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "Kubernetes has no others")]
pub enum LabelOperator {
    /// `in`: the label exists and has one of the values.
    In,
    /// `notin`: the label does not exist, or has none of the values.
    NotIn,
    /// `=`: the label exists and has the value.
    Equals,
    /// `==`: the same as `=`.
    DoubleEquals,
    /// `!=`: the label does not exist, or has another value.
    NotEquals,
    /// The label exists.
    Exists,
    /// `!`: the label does not exist.
    DoesNotExist,
    /// `>`: the label exists and is a 64-bit integer greater than the value.
    GreaterThan,
    /// `<`: the label exists and is a 64-bit integer less than the value.
    LessThan,
}

impl LabelOperator {
    const fn takes(self, count: usize) -> bool {
        match self {
            Self::In | Self::NotIn => count > 0,
            Self::Exists | Self::DoesNotExist => count == 0,
            _ => count == 1,
        }
    }

    pub(super) const fn expected_values(self) -> &'static str {
        match self {
            Self::In | Self::NotIn => "at least one",
            Self::Exists | Self::DoesNotExist => "none",
            _ => "exactly one",
        }
    }
}

impl fmt::Display for LabelOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::In => "in",
            Self::NotIn => "notin",
            Self::Equals => "=",
            Self::DoubleEquals => "==",
            Self::NotEquals => "!=",
            Self::Exists => "exists",
            Self::DoesNotExist => "!",
            Self::GreaterThan => ">",
            Self::LessThan => "<",
        })
    }
}

/// One condition on one label.
///
/// ```
/// use informer_indexers::selector::{LabelOperator, LabelRequirement};
///
/// let requirement = LabelRequirement::new("tier", LabelOperator::In, ["web", "db", "web"])?;
/// assert_eq!(requirement.to_string(), "tier in (db,web)");
/// assert!(requirement.accepts(Some("web")));
/// assert!(!requirement.accepts(None));
///
/// let error = LabelRequirement::new("tier", LabelOperator::Equals, ["a b"]).unwrap_err();
/// assert!(error.to_string().starts_with(r#"invalid value "a b" of label "tier": "#));
/// # Ok::<(), informer_indexers::selector::SelectorError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LabelRequirement {
    key: Box<str>,
    operator: LabelOperator,
    /// Sorted and unique.
    values: Box<[Box<str>]>,
}

impl LabelRequirement {
    /// Creates a condition on the label `key`.
    ///
    /// The values are a set: order and duplicates do not matter.
    ///
    /// # Errors
    /// The key or a value is not valid for a label, or the operator has the wrong number of values.
    pub fn new<V: Into<Box<str>>>(
        key: &str,
        operator: LabelOperator,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, SelectorError> {
        names::check_key(key).map_err(|rule| SelectorError::InvalidKey {
            key: key.into(),
            rule,
        })?;
        let mut values: Vec<Box<str>> = values.into_iter().map(Into::into).collect();
        if !operator.takes(values.len()) {
            return Err(SelectorError::ValueCount {
                key: key.into(),
                operator,
                count: values.len(),
            });
        }
        for value in &values {
            check_value(key, operator, value)?;
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self {
            key: key.into(),
            operator,
            values: values.into(),
        })
    }

    /// The key of the label.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The operator.
    #[must_use]
    pub const fn operator(&self) -> LabelOperator {
        self.operator
    }

    /// The values to compare with, sorted and unique.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.values.iter().map(|value| &**value)
    }

    /// Whether the condition holds for a label with this value; `None` means that the label is absent.
    #[must_use]
    pub fn accepts(&self, label: Option<&str>) -> bool {
        match self.operator {
            LabelOperator::In | LabelOperator::Equals | LabelOperator::DoubleEquals => {
                label.is_some_and(|value| self.has(value))
            }
            LabelOperator::NotIn | LabelOperator::NotEquals => {
                label.is_none_or(|value| !self.has(value))
            }
            LabelOperator::Exists => label.is_some(),
            LabelOperator::DoesNotExist => label.is_none(),
            LabelOperator::GreaterThan => self.is_ordered(label, |label, bound| label > bound),
            LabelOperator::LessThan => self.is_ordered(label, |label, bound| label < bound),
        }
    }

    fn has(&self, value: &str) -> bool {
        self.values().any(|own| own == value)
    }

    fn is_ordered(&self, label: Option<&str>, ordered: impl Fn(i64, i64) -> bool) -> bool {
        match (integer(label), integer(self.values().next())) {
            (Some(label), Some(bound)) => ordered(label, bound),
            _ => false,
        }
    }
}

fn integer(text: Option<&str>) -> Option<i64> {
    text?.parse().ok()
}

fn check_value(key: &str, operator: LabelOperator, value: &str) -> Result<(), SelectorError> {
    names::check_value(value).map_err(|rule| SelectorError::InvalidValue {
        key: key.into(),
        value: value.into(),
        rule,
    })?;
    let is_bound = matches!(
        operator,
        LabelOperator::GreaterThan | LabelOperator::LessThan
    );
    if is_bound && integer(Some(value)).is_none() {
        return Err(SelectorError::NotAnInteger {
            key: key.into(),
            value: value.into(),
        });
    }
    Ok(())
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, operator, .. } = self;
        match operator {
            LabelOperator::Exists => return f.write_str(key),
            LabelOperator::DoesNotExist => return write!(f, "!{key}"),
            LabelOperator::In | LabelOperator::NotIn => write!(f, "{key} {operator} (")?,
            _ => write!(f, "{key}{operator}")?,
        }
        for (at, value) in self.values().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{value}")?;
        }
        match operator {
            LabelOperator::In | LabelOperator::NotIn => f.write_str(")"),
            _ => Ok(()),
        }
    }
}
