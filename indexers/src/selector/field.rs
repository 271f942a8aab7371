//! Conditions on fields.
//!
//! ```text
//! selector = [ term ] { "," [ term ] }
//! term     = field ( "=" | "==" | "!=" ) value
//! ```
//!
//! In a value a backslash stands before each `\`, `,` and `=`, and before nothing else. The name of a
//! field is taken as it is, spaces and backslashes included, up to the first operator.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::error::SelectorError;

/// Which objects are meant, by their fields: those that fulfil every requirement.
///
/// What the fields of an object are, the caller says.
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
/// let built = FieldSelector::everything().eq("spec.nodeName", "node-1")?.ne("metadata.name", "a,b")?;
/// assert_eq!(built, selector);
/// # Ok::<(), informer_indexers::selector::SelectorError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
}

/// One condition on one field.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldRequirement {
    field: Box<str>,
    operator: FieldOperator,
    value: Box<str>,
}

/// How a field is compared with the value of a requirement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "Kubernetes has no others")]
pub enum FieldOperator {
    /// `=`, also written `==`: the field has the value.
    Equals,
    /// `!=`: the field has another value.
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

    /// Selects, of these objects, those whose field has this value.
    ///
    /// # Errors
    /// A field of that name cannot be written in a selector.
    pub fn eq(self, field: &str, value: &str) -> Result<Self, SelectorError> {
        self.and(field, FieldOperator::Equals, value)
    }

    /// Selects, of these objects, those whose field has another value.
    ///
    /// # Errors
    /// A field of that name cannot be written in a selector.
    pub fn ne(self, field: &str, value: &str) -> Result<Self, SelectorError> {
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
        self.requirements.push(FieldRequirement {
            field: field.into(),
            operator,
            value: value.into(),
        });
        // The order that the text of the selector would be read in.
        self.requirements.sort_by_cached_key(ToString::to_string);
        Ok(self)
    }

    /// The requirements, in the order of their texts.
    #[must_use]
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Whether there are no requirements, and so every object is selected.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The only value that a selected object can have in this field, if the selector names one.
    #[must_use]
    pub fn requires_exact_match(&self, field: &str) -> Option<&str> {
        let mut requirements = self.requirements.iter();
        let exact = requirements.find(|requirement| {
            requirement.operator == FieldOperator::Equals && requirement.field() == field
        });
        exact.map(FieldRequirement::value)
    }

    /// Whether an object is selected whose fields are these. A field that it does not have counts as
    /// the empty text.
    #[must_use]
    pub fn matches<V: AsRef<str>>(&self, mut value_of: impl FnMut(&str) -> Option<V>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = value_of(requirement.field());
            requirement.accepts(value.as_ref().map_or("", V::as_ref))
        })
    }
}

impl FieldRequirement {
    /// The name of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// How the field is compared.
    #[must_use]
    pub const fn operator(&self) -> FieldOperator {
        self.operator
    }

    /// What the field is compared with.
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

    /// Reads what `fields.ParseSelector` reads, and refuses what it refuses.
    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut terms = Vec::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..) {
            let term = first_term(rest);
            if !term.is_empty() {
                terms.push((term, parse_term(term, at)?));
            }
            at += term.len() + 1;
        }
        terms.sort_by_key(|(term, _)| *term);
        let requirements = terms.into_iter().map(|(_, requirement)| requirement);
        // Like apimachinery, which takes a requirement without any text for none.
        let has_text = |own: &FieldRequirement| !(own.field.is_empty() && own.value.is_empty());
        Ok(Self {
            requirements: requirements.filter(has_text).collect(),
        })
    }
}

/// The text up to the first comma that has no backslash before it.
fn first_term(text: &str) -> &str {
    let mut escaped = false;
    let comma = text.char_indices().find(|(_, c)| {
        let bare = !escaped;
        escaped = bare && *c == '\\';
        bare && *c == ','
    });
    let end = comma.map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Reads the term that begins at this byte of the selector.
fn parse_term(term: &str, at: usize) -> Result<FieldRequirement, SelectorError> {
    let Some((left, right)) = term.split_once('=') else {
        return Err(SelectorError::Unexpected {
            found: term.into(),
            at,
            expected: "a field, `=` or `!=`, and a value",
        });
    };
    let (field, operator, value) = match left.strip_suffix('!') {
        Some(field) => (field, FieldOperator::NotEquals, right),
        None => {
            let value = right.strip_prefix('=').unwrap_or(right);
            (left, FieldOperator::Equals, value)
        }
    };
    Ok(FieldRequirement {
        field: field.into(),
        operator,
        value: unescape(value, at + term.len() - value.len())?.into(),
    })
}

/// The value that is written so, and begins at this byte of the selector.
fn unescape(text: &str, start: usize) -> Result<String, SelectorError> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        let unexpected = |found: &str, expected| SelectorError::Unexpected {
            found: found.into(),
            at: start + at,
            expected,
        };
        match character {
            '\\' => match characters.next() {
                Some((_, escaped @ ('\\' | ',' | '='))) => value.push(escaped),
                _ => {
                    let rest = text.get(at..).unwrap_or_default();
                    return Err(unexpected(rest, r"`\\`, `\,` or `\=`"));
                }
            },
            '=' => return Err(unexpected("=", r"`\=` for a `=` in a value")),
            other => value.push(other),
        }
    }
    Ok(value)
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
