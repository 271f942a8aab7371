//! `matchExpressions` of API objects.

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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "users build them, and the Kubernetes API is fixed"
)]
pub struct MatchExpression {
    /// The key of the label.
    pub key: String,
    /// The operator.
    pub operator: MatchOperator,
    /// The values; empty for `Exists` and `DoesNotExist`.
    pub values: Vec<String>,
}

/// The operator of a [`MatchExpression`].
///
/// ```
/// use informer_indexers::selector::MatchOperator;
///
/// assert_eq!("NotIn".parse(), Ok(MatchOperator::NotIn));
/// assert!("notin".parse::<MatchOperator>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the Kubernetes API is fixed")]
pub enum MatchOperator {
    /// The label exists and has one of the values.
    In,
    /// The label does not exist, or has none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

impl FromStr for MatchOperator {
    type Err = SelectorError;

    /// Parses the spelling of the Kubernetes API, which is case-sensitive.
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
