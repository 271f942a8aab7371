//! Label selectors.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use informer_core::Resource;

use super::error::SelectorError;
use super::label_requirement::{LabelOperator, LabelRequirement};
use super::label_syntax;
use super::match_expression::MatchExpression;

/// Selects objects by their labels. Every requirement must hold.
///
/// ```
/// use informer_core::Labels;
/// use informer_indexers::selector::{LabelOperator, LabelRequirement, LabelSelector};
///
/// let selector: LabelSelector = "tier notin (db), app = web, replicas > 2".parse()?;
/// assert_eq!(selector.to_string(), "app=web,replicas>2,tier notin (db)");
/// assert!(selector.matches_labels([("app", "web"), ("replicas", "3")]));
///
/// let web = LabelSelector::from_labels([("app", "web")])?;
/// let stable = LabelRequirement::new("canary", LabelOperator::DoesNotExist, [""; 0])?;
/// assert_eq!(web.and(stable), "app=web,!canary".parse()?);
/// # Ok::<(), informer_indexers::selector::SelectorError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LabelSelector {
    /// Sorted by key; `None` selects nothing.
    requirements: Option<Vec<LabelRequirement>>,
}

impl LabelSelector {
    /// Selects every object, labelled or not.
    #[must_use]
    pub const fn everything() -> Self {
        Self {
            requirements: Some(Vec::new()),
        }
    }

    /// Selects no object.
    ///
    /// Do not send it to a server: it has no text form. As in apimachinery it displays as the empty
    /// string, which parses as [`everything`](Self::everything).
    #[must_use]
    pub const fn nothing() -> Self {
        Self { requirements: None }
    }

    /// Selects objects that have all these labels (`matchLabels`). Without labels, selects everything.
    ///
    /// # Errors
    /// A key or value is not valid for a label.
    pub fn from_labels<K: AsRef<str>, V: AsRef<str>>(
        labels: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, SelectorError> {
        let equals = |(key, value): (K, V)| {
            LabelRequirement::new(key.as_ref(), LabelOperator::Equals, [value.as_ref()])
        };
        labels.into_iter().map(equals).collect()
    }

    /// Adds requirements from `matchExpressions`.
    ///
    /// # Errors
    /// A key or value is not valid for a label, or an operator has the wrong number of values.
    pub fn and_expressions(
        mut self,
        expressions: impl IntoIterator<Item = MatchExpression>,
    ) -> Result<Self, SelectorError> {
        let expressions = expressions.into_iter().map(LabelRequirement::try_from);
        self.extend(expressions.collect::<Result<Vec<_>, _>>()?);
        Ok(self)
    }

    /// Adds a requirement.
    #[must_use]
    pub fn and(mut self, requirement: LabelRequirement) -> Self {
        self.extend([requirement]);
        self
    }

    /// The requirements, sorted by key; `None` for [`nothing`](Self::nothing).
    #[must_use]
    pub fn requirements(&self) -> Option<&[LabelRequirement]> {
        self.requirements.as_deref()
    }

    /// Whether every object is selected, because there are no requirements.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether the object is selected.
    #[must_use]
    pub fn matches(&self, object: &impl Resource) -> bool {
        self.all(|requirement| {
            let mut accepted = requirement.accepts(None);
            object.label(requirement.key(), &mut |value| {
                accepted = requirement.accepts(Some(value));
            });
            accepted
        })
    }

    /// Whether an object with these labels is selected.
    #[must_use]
    pub fn matches_labels<A: AsRef<str>, B: AsRef<str>>(
        &self,
        labels: impl IntoIterator<Item = (A, B)> + Clone,
    ) -> bool {
        self.all(|requirement| {
            let labels = labels.clone().into_iter();
            let label = labels.filter(|(key, _)| key.as_ref() == requirement.key());
            requirement.accepts(label.last().as_ref().map(|(_, value)| value.as_ref()))
        })
    }

    fn all(&self, holds: impl FnMut(&LabelRequirement) -> bool) -> bool {
        let requirements = self.requirements.as_ref();
        requirements.is_some_and(|requirements| requirements.iter().all(holds))
    }
}

impl Default for LabelSelector {
    fn default() -> Self {
        Self::everything()
    }
}

impl Extend<LabelRequirement> for LabelSelector {
    fn extend<I: IntoIterator<Item = LabelRequirement>>(&mut self, added: I) {
        if let Some(requirements) = &mut self.requirements {
            requirements.extend(added);
            // A stable sort: requirements on the same label keep their order.
            requirements.sort_by(|a, b| a.key().cmp(b.key()));
        }
    }
}

impl FromIterator<LabelRequirement> for LabelSelector {
    fn from_iter<I: IntoIterator<Item = LabelRequirement>>(requirements: I) -> Self {
        let mut selector = Self::everything();
        selector.extend(requirements);
        selector
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    /// Accepts and rejects the same texts as `labels.Parse`.
    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Ok(label_syntax::parse(text)?.into_iter().collect())
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements.iter().flatten().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}
