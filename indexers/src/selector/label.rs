//! All conditions on labels.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use informer_core::{Labels, Resource};

use super::error::SelectorError;
use super::label_requirement::{LabelOperator, LabelRequirement};
use super::label_syntax;
use super::match_expression::MatchExpression;

/// Which objects are meant, by their labels: those that fulfil every requirement.
///
/// ```
/// use informer_core::Labels;
/// use informer_indexers::selector::{LabelOperator, LabelRequirement, LabelSelector};
///
/// let selector: LabelSelector = "tier notin (db), app = web, replicas > 2".parse()?;
/// assert_eq!(selector.to_string(), "app=web,replicas>2,tier notin (db)");
/// assert!(selector.matches_labels(&Labels::from_iter([("app", "web"), ("replicas", "3")])));
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
    /// No text says that. As in apimachinery it is displayed as the empty text, which is read as
    /// [`everything`](Self::everything): do not send it to a server.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { requirements: None }
    }

    /// Selects the objects that have all these labels (`matchLabels`); without any, every object.
    ///
    /// # Errors
    /// A label cannot have such a key or such a value.
    pub fn from_labels<K: AsRef<str>, V: AsRef<str>>(
        labels: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, SelectorError> {
        let equals = |(key, value): (K, V)| {
            LabelRequirement::new(key.as_ref(), LabelOperator::Equals, [value.as_ref()])
        };
        labels.into_iter().map(equals).collect()
    }

    /// Selects, of these objects, those for which all these hold too (`matchExpressions`).
    ///
    /// # Errors
    /// A label cannot have such a key or such a value, or an operator takes other values.
    pub fn and_expressions(
        mut self,
        expressions: impl IntoIterator<Item = MatchExpression>,
    ) -> Result<Self, SelectorError> {
        let expressions = expressions.into_iter().map(LabelRequirement::try_from);
        self.extend(expressions.collect::<Result<Vec<_>, _>>()?);
        Ok(self)
    }

    /// Selects, of these objects, those that fulfil one more requirement.
    #[must_use]
    pub fn and(mut self, requirement: LabelRequirement) -> Self {
        self.extend([requirement]);
        self
    }

    /// The requirements, in the order of their keys; `None` if nothing is selected.
    #[must_use]
    pub fn requirements(&self) -> Option<&[LabelRequirement]> {
        self.requirements.as_deref()
    }

    /// Whether there are no requirements, and so every object is selected.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether the object is selected.
    #[must_use]
    pub fn matches(&self, object: &impl Resource) -> bool {
        self.all(|requirement| {
            let mut accepted = requirement.accepts(None);
            object.labels(&mut |key, value| {
                if key == requirement.key() {
                    accepted = requirement.accepts(Some(value));
                }
            });
            accepted
        })
    }

    /// Whether an object with these labels is selected.
    #[must_use]
    pub fn matches_labels(&self, labels: &Labels) -> bool {
        self.all(|requirement| requirement.accepts(labels.get(requirement.key())))
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
            // Stable: requirements on the same label stay in the order in which they were given.
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

    /// Reads what `labels.Parse` reads, and refuses what it refuses.
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
