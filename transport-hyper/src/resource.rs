//! Resources of the API, and what can be asked of them.

use std::error::Error;
use std::fmt;

use informer_core::transport::{Content, InvalidTarget, Target};

/// A resource of the API: where its objects are found.
///
/// ```
/// use informer_transport_hyper::{ApiResource, Reach};
///
/// let pods = ApiResource::new("", "v1", "pods", "Pod", Reach::Namespaced);
/// assert_eq!(pods.to_string(), "pods");
/// let deployments = ApiResource::new("apps", "v1", "deployments", "Deployment", Reach::Namespaced);
/// assert_eq!(deployments.to_string(), "deployments.apps");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ApiResource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The name in URLs, such as `pods`.
    pub plural: String,
    /// The name in objects, such as `Pod`.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub reach: Reach,
}

/// Where the objects of a resource live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the API knows these two")]
pub enum Reach {
    /// In namespaces.
    Namespaced,
    /// Beside them.
    Cluster,
}

impl ApiResource {
    /// A resource by its names.
    #[must_use]
    pub fn new(group: &str, version: &str, plural: &str, kind: &str, reach: Reach) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            reach,
        }
    }

    /// Its objects: those of one namespace, or all of them.
    ///
    /// ```
    /// use informer_transport_hyper::{ApiResource, Reach};
    ///
    /// let nodes = ApiResource::new("", "v1", "nodes", "Node", Reach::Cluster);
    /// assert_eq!(nodes.target(None)?.path(), "/api/v1/nodes");
    /// assert_eq!(
    ///     nodes.target(Some("web")).unwrap_err().to_string(),
    ///     "nodes live in no namespace; leave the namespace out"
    /// );
    /// # Ok::<(), informer_transport_hyper::TargetError>(())
    /// ```
    ///
    /// # Errors
    /// A namespace is named, and the objects live in none; or a name is one that no server can have.
    pub fn target(&self, namespace: Option<&str>) -> Result<Target, TargetError> {
        let all = Target::new(&self.group, &self.version, &self.plural);
        let target = match (namespace, self.reach) {
            (None, _) => all,
            (Some(namespace), Reach::Namespaced) => all.in_namespace(namespace),
            (Some(_), Reach::Cluster) => {
                return Err(TargetError::NotNamespaced {
                    resource: self.to_string(),
                });
            }
        };
        target.check()?;
        Ok(target)
    }
}

impl fmt::Display for ApiResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plural)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// What cannot be asked of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TargetError {
    /// A namespace was named for a resource that lives in none.
    NotNamespaced {
        /// The resource.
        resource: String,
    },
    /// A parameter was set that every request sets itself.
    Reserved {
        /// The parameter.
        parameter: String,
    },
    /// A name is one that no server can have.
    Invalid(InvalidTarget),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNamespaced { resource } => {
                write!(
                    f,
                    "{resource} live in no namespace; leave the namespace out"
                )
            }
            Self::Reserved { parameter } => {
                write!(
                    f,
                    "`{parameter}` is set by the informer itself; leave it out"
                )
            }
            Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl Error for TargetError {}

impl From<InvalidTarget> for TargetError {
    fn from(error: InvalidTarget) -> Self {
        Self::Invalid(error)
    }
}

/// What a request sets, and a user may not.
const RESERVED: [&str; 11] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeout",
    "timeoutSeconds",
    "watch",
];

/// Whether a target can be asked for.
pub(crate) fn check(target: &Target) -> Result<(), TargetError> {
    target.check()?;
    let mut parameters = target.parameters.iter();
    match parameters.find(|(name, _)| RESERVED.contains(&name.as_str())) {
        Some((parameter, _)) => Err(TargetError::Reserved {
            parameter: parameter.clone(),
        }),
        None => Ok(()),
    }
}

/// The value of the `Accept` header.
pub(crate) const fn accept(content: Content, is_watch: bool) -> &'static str {
    match (content, is_watch) {
        (Content::Metadata, true) => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        (Content::Metadata, false) => {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        }
        _ => "application/json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_refused() {
        let pods = || Target::new("", "v1", "pods");
        assert_eq!(check(&pods().in_namespace("web")), Ok(()));
        for parameter in RESERVED {
            let mut target = pods();
            target
                .parameters
                .push((parameter.to_owned(), "1".to_owned()));
            assert!(matches!(check(&target), Err(TargetError::Reserved { .. })));
        }
        for target in [
            Target::new("", "v1", ""),
            Target::new("", "", "pods"),
            pods().in_namespace(""),
            pods().in_namespace(".."),
            Target::new("core", "v1", "pods"),
            Target::new("apps", "apps/v1", "deployments"),
        ] {
            assert!(matches!(check(&target), Err(TargetError::Invalid(_))));
        }
        let pods = ApiResource::new("", "v1", "pods", "Pod", Reach::Namespaced);
        let error = pods.target(Some("a/b")).unwrap_err().to_string();
        assert!(error.contains("cannot be a namespace"), "{error}");
    }
}
