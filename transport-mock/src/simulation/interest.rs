//! The objects that an informer follows.

use crate::StoredObject;
use informer_core::transport::{Content, Target};

/// The objects that an informer follows. The oracle evaluates this without selectors; the server
/// gets it as selectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Interest {
    #[default]
    Everything,
    /// The metadata of everything.
    Metadata,
    Namespace(&'static str),
    App(&'static str),
    Node(&'static str),
    /// A namespace and an app.
    AppIn(&'static str, &'static str),
}

impl Interest {
    /// What the only source of an informer may follow.
    pub(super) const ALL: [Self; 5] = [
        Self::Everything,
        Self::Metadata,
        Self::Namespace("a"),
        Self::App("web"),
        Self::Node("n1"),
    ];

    pub(super) fn target(self) -> Target {
        let pods = Target::new("", "v1", "pods");
        match self {
            Self::Everything => pods,
            Self::Metadata => pods.with_content(Content::Metadata),
            Self::Namespace(name) => pods.in_namespace(name),
            Self::App(app) => pods.with_labels(format_args!("app={app}")),
            Self::Node(node) => pods.with_fields(format_args!("spec.nodeName={node}")),
            Self::AppIn(name, app) => pods
                .in_namespace(name)
                .with_labels(format_args!("app={app}")),
        }
    }

    pub(super) fn covers(self, object: &StoredObject) -> bool {
        match self {
            Self::Everything | Self::Metadata => true,
            Self::Namespace(name) => object.namespace() == Some(name),
            Self::App(app) => object.label("app") == Some(app),
            Self::Node(node) => object.field("spec.nodeName") == node,
            Self::AppIn(name, app) => {
                Self::Namespace(name).covers(object) && Self::App(app).covers(object)
            }
        }
    }

    /// Whether its objects are whole.
    pub(super) const fn is_whole(self) -> bool {
        !matches!(self, Self::Metadata)
    }
}
