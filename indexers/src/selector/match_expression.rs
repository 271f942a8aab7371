//! Conditions on labels as API objects hold them, in `matchExpressions`.

use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use super::error::SelectorError;
use super::label_requirement::{LabelOperator, LabelRequirement};

/// One element of `matchExpressions`.
///
/// ```
/// use informer_indexers::selector::{LabelSelector, MatchExpression};
///
/// let expression = MatchExpression {
///     key: "tier".into(),
///     operator: "NotIn".parse()?,
///     values: vec!["db".into(), "cache".into()],
/// };
/// let selector = LabelSelector::from_labels([("app", "web")])?.and_expressions([expression])?;
/// assert_eq!(selector.to_string(), "app=web,tier notin (cache,db)");
/// # Ok::<(), informer_indexers::selector::SelectorError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "users make them; the API is fixed"
)]
pub struct MatchExpression {
    /// The key of the label.
    pub key: String,
    /// How the label is compared.
    pub operator: MatchOperator,
    /// What it is compared with; none for `Exists` and `DoesNotExist`.
    pub values: Vec<String>,
}

/// The operator of a [`MatchExpression`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the API is fixed")]
pub enum MatchOperator {
    /// The label is there and has one of the values.
    In,
    /// The label is not there, or has none of the values.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is not there.
    DoesNotExist,
}

impl FromStr for MatchOperator {
    type Err = SelectorError;

    /// Reads the operator as the API writes it; upper and lower case differ.
    fn from_str(operator: &str) -> Result<Self, SelectorError> {
        Ok(match operator {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            _ => {
                return Err(SelectorError::UnknownOperator {
                    operator: operator.into(),
                });
            }
        })
    }
}

impl From<MatchOperator> for LabelOperator {
    fn from(operator: MatchOperator) -> Self {
        match operator {
            MatchOperator::In => Self::In,
            MatchOperator::NotIn => Self::NotIn,
            MatchOperator::Exists => Self::Exists,
            MatchOperator::DoesNotExist => Self::DoesNotExist,
        }
    }
}

impl TryFrom<MatchExpression> for LabelRequirement {
    type Error = SelectorError;

    fn try_from(expression: MatchExpression) -> Result<Self, SelectorError> {
        let MatchExpression {
            key,
            operator,
            values,
        } = expression;
        Self::new(&key, operator.into(), values)
    }
}
