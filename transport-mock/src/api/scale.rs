//! Where a scale subresource finds its fields.

/// The fields of an object behind its scale subresource, as dotted paths.
#[derive(Clone, Debug)]
pub(crate) struct ScaleFields {
    pub(crate) spec_replicas: String,
    pub(crate) status_replicas: String,
    pub(crate) selector: ScaleSelector,
}

/// What a scale shows as its selector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ScaleSelector {
    /// `spec.selector`, with `matchLabels` and `matchExpressions`.
    Selector,
    /// `spec.selector`, as labels.
    Labels,
    /// The text at this path, if there is one.
    Text(Option<String>),
}

impl ScaleFields {
    /// The fields of built-in kinds.
    pub(super) fn builtin(selector: ScaleSelector) -> Self {
        Self {
            spec_replicas: "spec.replicas".to_owned(),
            status_replicas: "status.replicas".to_owned(),
            selector,
        }
    }
}
