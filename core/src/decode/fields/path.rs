//! The path to a field.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

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
    pub(super) steps: Box<[Step]>,
    /// The same path in protobuf, if it is known.
    pub(super) numbers: Option<(Box<[u32]>, Leaf)>,
}

/// The type of a field in protobuf, which a message does not state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Leaf {
    /// A text.
    Text,
    /// An integer.
    Integer,
    /// `true` or `false`
    Bool,
}

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::decode) enum Step {
    /// Enters the member with this name.
    Member(Box<str>),
    /// Enters each element.
    Each,
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
            numbers: None,
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
            numbers: None,
        }
    }

    /// The same path, which also finds the field in objects that are kept in protobuf: `numbers` are those of
    /// the messages on the way and of the field itself, as `generated.proto` of Kubernetes states them.
    ///
    /// Lists need nothing special. A struct that is embedded in Go is a message of its own, and has a number.
    /// For usual fields there are [constants](crate::decode::known).
    ///
    /// ```
    /// use informer_core::decode::{FieldPath, Fields, Leaf, Lean, protobuf};
    ///
    /// let path: FieldPath = "spec.priority".parse()?;
    /// let path = path.with_numbers(&[2, 25], Leaf::Integer);
    ///
    /// let pod = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x0a\x0a\x03\x0a\x01a\x12\x03\xc8\x01\x05";
    /// let pod = protobuf::decode_object(&mut Lean, pod)?;
    /// let mut found = None;
    /// pod.each_field(&path, &mut |priority| found = priority.as_text().map(str::to_owned));
    /// assert_eq!(found.as_deref(), Some("5"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_numbers(self, numbers: &[u32], leaf: Leaf) -> Self {
        Self {
            numbers: Some((numbers.into(), leaf)),
            ..self
        }
    }

    /// Whether the path finds its field in objects that are kept in protobuf: it has
    /// [numbers](Self::with_numbers), or starts with `metadata`.
    #[must_use]
    pub fn reads_protobuf(&self) -> bool {
        self.numbers.is_some() || self.is_in_metadata()
    }

    pub(super) fn is_in_metadata(&self) -> bool {
        matches!(&*self.steps, [Step::Member(first), ..] if **first == *"metadata")
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
