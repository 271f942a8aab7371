//! API resources and the targets they give.

use std::error::Error;
use std::fmt;

use informer_core::transport::{InvalidTarget, Target};

/// A resource of the Kubernetes API, such as `deployments.apps`.
///
/// [`resolve`](crate::resolve) looks one up by name; [`new`](Self::new) builds one
/// without asking a server.
///
/// ```
/// use informer_transport_http::{ApiResource, Reach};
///
/// let pods = ApiResource::new("", "v1", "pods", "Pod", Reach::Namespaced);
/// assert_eq!(pods.to_string(), "pods");
/// let deployments = ApiResource::new("apps", "v1", "deployments", "Deployment", Reach::Namespaced);
/// assert_eq!(deployments.to_string(), "deployments.apps");
/// assert_eq!(
///     deployments.target(Some("web"))?.path(),
///     "/apis/apps/v1/namespaces/web/deployments"
/// );
/// # Ok::<(), informer_transport_http::TargetError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct ApiResource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// The name in URLs, such as `pods`.
    pub plural: String,
    /// The name in objects, such as `Pod`.
    pub kind: String,
    /// Whether its objects are namespaced.
    pub reach: Reach,
}

/// The scope of a resource: namespaced or cluster-wide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "Kubernetes has only these two scopes"
)]
pub enum Reach {
    /// Every object belongs to a namespace.
    Namespaced,
    /// Objects belong to no namespace.
    Cluster,
}

impl ApiResource {
    /// Creates a resource from its names, without asking a server.
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

    /// The target for the objects of one namespace, or for all objects if `namespace` is `None`.
    ///
    /// ```
    /// use informer_transport_http::{ApiResource, Reach};
    ///
    /// let nodes = ApiResource::new("", "v1", "nodes", "Node", Reach::Cluster);
    /// assert_eq!(nodes.target(None)?.path(), "/api/v1/nodes");
    /// assert_eq!(
    ///     nodes.target(Some("web")).unwrap_err().to_string(),
    ///     "nodes are cluster-scoped; leave the namespace out"
    /// );
    /// # Ok::<(), informer_transport_http::TargetError>(())
    /// ```
    ///
    /// # Errors
    /// A namespace is given for a cluster-scoped resource, or a name is not valid in Kubernetes.
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

/// Why a target cannot be requested.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TargetError {
    /// A namespace was given for a cluster-scoped resource.
    NotNamespaced {
        /// The resource.
        resource: String,
    },
    /// The target sets a query parameter that the informer sets itself.
    Reserved {
        /// The parameter.
        parameter: String,
    },
    /// A name is not valid in Kubernetes.
    Invalid(InvalidTarget),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNamespaced { resource } => {
                write!(f, "{resource} are cluster-scoped; leave the namespace out")
            }
            Self::Reserved { parameter } => {
                write!(
                    f,
                    "the informer sets the parameter `{parameter}` itself; leave it out"
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

/// Query parameters that the informer sets and users must not.
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

/// Checks that a target can be requested.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_targets_are_refused() {
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
