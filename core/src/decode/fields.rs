//! Fields by path, for index functions and field selectors on objects of any kind.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::body::{TextBody, TextForm};
use super::json::fields::each_in_text;
use crate::decoded::Object;
use crate::invariant::cannot_happen;

/// The path to a field: `spec.nodeName`, `spec.containers[*].image` or
/// `metadata.annotations['example.com/team']`.
///
/// Dots separate the names of members. A name that contains a dot or a bracket is written in
/// brackets and quotes. `[*]` stands for each element of a list. A leading dot is allowed, as in
/// `kubectl`.
///
/// ```
/// use informer_core::decode::FieldPath;
///
/// let path: FieldPath = ".metadata.annotations['example.com/team']".parse()?;
/// assert_eq!(path.to_string(), ".metadata.annotations['example.com/team']");
/// let error = "spec.containers[0]".parse::<FieldPath>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"cannot parse the field path "spec.containers[0]" at "[0]": expected [*] or ['name']"#
/// );
/// # Ok::<(), informer_core::decode::ParseFieldPathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldPath {
    text: Box<str>,
    steps: Box<[Step]>,
}

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Enters the member with this name.
    Member(Box<str>),
    /// Enters each element.
    Each,
}

/// A field that is neither a list nor an object.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these kinds")]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written in the JSON text.
    Number(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    /// The value as text, as field selectors and indexes of texts use it. `null` counts as missing.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Null => None,
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Number(text) | Self::Text(text) => Some(text),
        }
    }
}

/// Gives access to fields by path.
///
/// Bodies that keep the text or all fields of an object implement this. So do objects with such
/// bodies, and pointers to them.
///
/// ```
/// use informer_core::decode::{FieldPath, Fields, Lean, decode_object};
///
/// let json = br#"{"metadata":{"name":"a"},"spec":{"containers":[{"image":"x"},{"image":"y"}]}}"#;
/// let object = decode_object(&mut Lean, json).unwrap();
/// let path: FieldPath = "spec.containers[*].image".parse()?;
/// let mut images = Vec::new();
/// object.each_field(&path, &mut |image| images.extend(image.as_text().map(str::to_owned)));
/// assert_eq!(images, ["x", "y"]);
/// # Ok::<(), informer_core::decode::ParseFieldPathError>(())
/// ```
pub trait Fields {
    /// Calls `visit` with every scalar at the end of the path. It is not called if there is no such
    /// field.
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>));
}

impl core::str::FromStr for FieldPath {
    type Err = ParseFieldPathError;

    fn from_str(text: &str) -> Result<Self, ParseFieldPathError> {
        let error = |rest: &str, expected| ParseFieldPathError {
            text: text.into(),
            rest: rest.into(),
            expected,
        };
        let mut steps = Vec::new();
        let mut rest = text.strip_prefix('.').unwrap_or(text);
        let mut wants_name = true;
        while wants_name || !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("[*]") {
                steps.push(Step::Each);
                rest = after;
            } else if let Some(quoted) = rest.strip_prefix("['") {
                let Some((name, after)) = quoted.split_once("']") else {
                    return Err(error(rest, "']"));
                };
                steps.push(Step::Member(name.into()));
                rest = after;
            } else if rest.starts_with('[') {
                return Err(error(rest, "[*] or ['name']"));
            } else {
                let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
                let split = rest.split_at_checked(end);
                let (name, after) =
                    split.unwrap_or_else(|| cannot_happen("a name beyond its path", (rest, "")));
                if name.is_empty() {
                    return Err(error(rest, "the name of a member"));
                }
                steps.push(Step::Member(name.into()));
                rest = after;
            }
            wants_name = false;
            if let Some(after) = rest.strip_prefix('.') {
                rest = after;
                wants_name = true;
            } else if !rest.is_empty() && !rest.starts_with('[') {
                return Err(error(rest, ". or ["));
            }
        }
        Ok(Self {
            text: text.into(),
            steps: steps.into(),
        })
    }
}

impl FieldPath {
    /// The path through members with these names, which may contain any characters.
    ///
    /// ```
    /// use informer_core::decode::FieldPath;
    ///
    /// let team = FieldPath::from_members(["metadata", "annotations", "example.com/team"]);
    /// assert_eq!(team, "metadata.annotations['example.com/team']".parse()?);
    /// let owners = FieldPath::from_members(["metadata", "ownerReferences"]).each("uid");
    /// assert_eq!(owners, "metadata.ownerReferences[*].uid".parse()?);
    /// # Ok::<(), informer_core::decode::ParseFieldPathError>(())
    /// ```
    #[must_use]
    pub fn from_members<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let steps = names.into_iter().map(|name| Step::Member(name.into()));
        Self::from_steps(steps.collect())
    }

    /// Extends the path to the member `name` of each element of a list.
    #[must_use]
    pub fn each(self, name: &str) -> Self {
        let mut steps = self.steps.into_vec();
        steps.extend([Step::Each, Step::Member(name.into())]);
        Self::from_steps(steps)
    }

    fn from_steps(steps: Vec<Step>) -> Self {
        let mut text = String::new();
        for step in &steps {
            match step {
                Step::Each => text.push_str("[*]"),
                Step::Member(name) if name.is_empty() || name.contains(['.', '[', ']']) => {
                    text.extend(["['", name, "']"]);
                }
                Step::Member(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
            }
        }
        Self {
            text: text.into(),
            steps: steps.into(),
        }
    }

    /// The path as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text is not a field path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseFieldPathError {
    text: String,
    rest: String,
    expected: &'static str,
}

impl fmt::Display for ParseFieldPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot parse the field path {:?} at {:?}: expected {}",
            self.text, self.rest, self.expected
        )
    }
}

impl core::error::Error for ParseFieldPathError {}

impl<F: TextForm, K> Fields for Object<TextBody<F, K>> {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        let steps = match (F::ROOT, &*path.steps) {
            (None, steps) => steps,
            (Some(root), [Step::Member(first), steps @ ..]) if **first == *root => steps,
            (Some(_), _) => return,
        };
        each_in_text(&self.json(), steps, visit);
    }
}

impl<K: Fields> Fields for Object<K> {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        self.body().each_field(path, visit);
    }
}

macro_rules! fields_through_pointer {
    ($($pointer:ty),*) => {$(
        impl<F: Fields + ?Sized> Fields for $pointer {
            fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
                (**self).each_field(path, visit);
            }
        }
    )*};
}

fields_through_pointer!(&F, Box<F>, Rc<F>, Arc<F>);

#[cfg(feature = "json")]
impl Fields for serde_json::Value {
    fn each_field(&self, path: &FieldPath, visit: &mut dyn FnMut(Scalar<'_>)) {
        in_value(self, &path.steps, visit);
    }
}

#[cfg(feature = "json")]
fn in_value(value: &serde_json::Value, steps: &[Step], visit: &mut dyn FnMut(Scalar<'_>)) {
    use alloc::string::ToString;
    use serde_json::Value;

    match (steps, value) {
        ([], Value::Null) => visit(Scalar::Null),
        ([], Value::Bool(bool)) => visit(Scalar::Bool(*bool)),
        ([], Value::Number(number)) => visit(Scalar::Number(number.to_string().into())),
        ([], Value::String(text)) => visit(Scalar::Text(text.into())),
        ([Step::Member(name), steps @ ..], Value::Object(members)) => {
            if let Some(value) = members.get(&**name) {
                in_value(value, steps, visit);
            }
        }
        ([Step::Each, steps @ ..], Value::Array(elements)) => {
            for element in elements {
                in_value(element, steps, visit);
            }
        }
        _ => {}
    }
}
