//! Field selectors.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::error::SelectorError;
use super::field_syntax;

/// Selects objects by their fields. Every requirement must hold.
///
/// [`matches`](Self::matches) takes a function that returns the fields of an object.
///
/// ```
/// use informer_indexers::selector::FieldSelector;
///
/// let selector: FieldSelector = r"spec.nodeName==node-1,metadata.name!=a\,b".parse()?;
/// assert_eq!(selector.to_string(), r"metadata.name!=a\,b,spec.nodeName=node-1");
/// assert_eq!(selector.requires_exact_match("spec.nodeName"), Some("node-1"));
///
/// let field_of = |node: &'static str| move |field: &str| match field {
///     "metadata.name" => Some("web"),
///     "spec.nodeName" => Some(node),
///     _ => None,
/// };
/// assert!(selector.matches(field_of("node-1")));
/// assert!(!selector.matches(field_of("node-2")));
///
/// let built = FieldSelector::everything()
///     .and_eq("spec.nodeName", "node-1")?
///     .and_ne("metadata.name", "a,b")?;
/// assert_eq!(built, selector);
/// # Ok::<(), informer_indexers::selector::SelectorError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
}

/// One condition on one field.
///
/// ```
/// use informer_indexers::selector::{FieldOperator, FieldSelector};
///
/// let selector: FieldSelector = "status.phase!=Running".parse()?;
/// let requirement = &selector.requirements()[0];
/// assert_eq!(requirement.field(), "status.phase");
/// assert_eq!(requirement.operator(), FieldOperator::NotEquals);
/// assert_eq!(requirement.value(), "Running");
/// assert!(requirement.accepts("Pending"));
/// # Ok::<(), informer_indexers::selector::SelectorError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldRequirement {
    field: Box<str>,
    operator: FieldOperator,
    value: Box<str>,
}

/// The operator of a [`FieldRequirement`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "Kubernetes has no others")]
pub enum FieldOperator {
    /// `=` or `==`: the field has the value.
    Equals,
    /// `!=`: the field does not have the value.
    NotEquals,
}

impl FieldSelector {
    /// Selects every object.
    #[must_use]
    pub const fn everything() -> Self {
        Self {
            requirements: Vec::new(),
        }
    }

    /// Adds the requirement that a field has this value.
    ///
    /// # Errors
    /// The field name contains characters that selectors cannot express.
    pub fn and_eq(self, field: &str, value: &str) -> Result<Self, SelectorError> {
        self.and(field, FieldOperator::Equals, value)
    }

    /// Adds the requirement that a field does not have this value.
    ///
    /// # Errors
    /// The field name contains characters that selectors cannot express.
    pub fn and_ne(self, field: &str, value: &str) -> Result<Self, SelectorError> {
        self.and(field, FieldOperator::NotEquals, value)
    }

    fn and(
        mut self,
        field: &str,
        operator: FieldOperator,
        value: &str,
    ) -> Result<Self, SelectorError> {
        if field.is_empty() || field.contains([',', '=', '!', '\\']) {
            return Err(SelectorError::InvalidField {
                field: field.into(),
            });
        }
        let requirement = FieldRequirement::new(field, operator, value);
        self.requirements.push(requirement);
        // The same order as after parsing the text of the selector.
        self.requirements.sort_by_cached_key(ToString::to_string);
        Ok(self)
    }

    /// The requirements, sorted by their text.
    #[must_use]
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Whether every object is selected, because there are no requirements.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The value that the selector requires for this field, if it requires one.
    #[must_use]
    pub fn requires_exact_match(&self, field: &str) -> Option<&str> {
        let mut requirements = self.requirements.iter();
        let exact = requirements.find(|requirement| {
            requirement.operator == FieldOperator::Equals && requirement.field() == field
        });
        exact.map(FieldRequirement::value)
    }

    /// Whether an object with these fields is selected. `None` counts as the empty string.
    #[must_use]
    pub fn matches<V: AsRef<str>>(&self, mut value_of: impl FnMut(&str) -> Option<V>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = value_of(requirement.field());
            requirement.accepts(value.as_ref().map_or("", V::as_ref))
        })
    }
}

impl FieldRequirement {
    pub(super) fn new(field: &str, operator: FieldOperator, value: impl Into<Box<str>>) -> Self {
        Self {
            field: field.into(),
            operator,
            value: value.into(),
        }
    }

    /// The name of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The operator.
    #[must_use]
    pub const fn operator(&self) -> FieldOperator {
        self.operator
    }

    /// The value to compare with.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether the condition holds for a field with this value.
    #[must_use]
    pub fn accepts(&self, value: &str) -> bool {
        (self.value() == value) == (self.operator == FieldOperator::Equals)
    }
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    /// Accepts and rejects the same texts as `fields.ParseSelector`.
    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let requirements = field_syntax::parse(text)?;
        Ok(Self { requirements })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.field, self.operator)?;
        for character in self.value.chars() {
            if matches!(character, '\\' | ',' | '=') {
                f.write_str("\\")?;
            }
            write!(f, "{character}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equals => "=",
            Self::NotEquals => "!=",
        })
    }
}
