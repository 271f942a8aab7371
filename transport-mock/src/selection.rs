//! The objects that a list or a watch covers.

use informer_indexers::selector::{FieldSelector, LabelSelector};

use crate::api::ApiKind;
use crate::options::Options;
use crate::status::ApiError;
use crate::store::object::StoredObject;

/// A namespace, a label selector and a field selector.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// The prefix of matching keys: `namespace/`, or empty.
    pub(crate) prefix: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    pub(crate) fn new(
        kind: &ApiKind,
        namespace: Option<&str>,
        options: &Options,
    ) -> Result<Self, ApiError> {
        let labels: LabelSelector = options
            .label_selector
            .parse()
            .map_err(|wrong| ApiError::bad_request(format!("{wrong}")))?;
        let fields: FieldSelector = options
            .field_selector
            .parse()
            .map_err(|wrong| ApiError::bad_request(format!("{wrong}")))?;
        let unknown = fields
            .requirements()
            .iter()
            .map(|requirement| requirement.field())
            .find(|field| !kind.is_selectable(field));
        match unknown {
            Some(field) if kind.has_own_fields() || kind.is_custom() => Err(ApiError::bad_request(
                format!("field label not supported: {field}"),
            )),
            Some(field) => Err(ApiError::bad_request(format!(
                "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            ))),
            None => Ok(Self {
                prefix: namespace.map_or_else(String::new, |namespace| format!("{namespace}/")),
                labels,
                fields,
            }),
        }
    }

    /// Whether it covers every object of its namespace.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Whether the selectors match `object`. Its key must have the prefix.
    pub(crate) fn matches(&self, object: &StoredObject) -> bool {
        // A selector without a list of requirements matches nothing.
        let labels = self.labels.requirements().is_some_and(|requirements| {
            requirements
                .iter()
                .all(|requirement| requirement.accepts(object.label(requirement.key())))
        });
        labels && self.fields.matches(|field| Some(object.field(field)))
    }

    /// Whether it covers an object of any namespace.
    pub(crate) fn covers(&self, object: &StoredObject) -> bool {
        object.key().starts_with(&self.prefix) && self.matches(object)
    }
}
