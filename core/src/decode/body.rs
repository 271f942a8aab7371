//! Bodies that keep the JSON text from the server and are decoded on demand.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;

use super::form::{Lean, MetadataOnly};
use super::json::header::Pairs;

/// The JSON text that the form `F` keeps of an object. See [`LeanBody`] and [`MetadataBody`].
#[derive(Clone, PartialEq, Eq)]
pub struct TextBody<F> {
    json: Box<str>,
    form: PhantomData<F>,
}

/// The text of an object without `managedFields`. An object from a list has neither `kind` nor
/// `apiVersion`.
pub type LeanBody = TextBody<Lean>;

/// The text of an object's `metadata` without `managedFields`.
pub type MetadataBody = TextBody<MetadataOnly>;

impl<F> TextBody<F> {
    pub(super) const fn new(json: Box<str>) -> Self {
        Self {
            json,
            form: PhantomData,
        }
    }

    /// The kept text, as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// Decodes the kept text into a value.
    ///
    /// # Errors
    ///
    /// The text does not fit the type.
    #[cfg(feature = "json")]
    pub fn decode<'a, K: serde::Deserialize<'a>>(&'a self) -> Result<K, serde_json::Error> {
        serde_json::from_str(&self.json)
    }
}

impl MetadataBody {
    /// The annotations, in the order of the text. If a key is repeated, the last value counts.
    #[must_use]
    pub fn annotations(&self) -> Pairs<'_> {
        Pairs::of_member(self.json.as_bytes(), "annotations")
    }

    /// The value of the annotation `name`, if it is set.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<Cow<'_, str>> {
        let named = self.annotations().filter(|(key, _)| key.eq_str(name));
        named.last().map(|(_, value)| value.to_cow())
    }
}

impl<F> fmt::Debug for TextBody<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}
