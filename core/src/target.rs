//! What a transport is made for: which objects, and in which encoding.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The part of every request that never changes: a transport value is made for one of these.
///
/// ```
/// use informer_core::transport::Target;
///
/// let pods = Target::new("", "v1", "pods").in_namespace("web");
/// assert_eq!(pods.path(), "/api/v1/namespaces/web/pods");
/// let deployments = Target::new("apps", "v1", "deployments");
/// assert_eq!(deployments.path(), "/apis/apps/v1/deployments");
/// assert_eq!(deployments.to_string(), "deployments.v1.apps");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Target {
    /// The group of the resource; empty for the core group.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The plural name of the resource, as it stands in URLs.
    pub plural: String,
    /// The namespace; `None` for all of them, and for resources without.
    pub namespace: Option<String>,
    /// `labelSelector`; empty for all.
    pub labels: String,
    /// `fieldSelector`; empty for all.
    pub fields: String,
    /// Further parameters of the query, as they are before encoding.
    pub parameters: Vec<(String, String)>,
    /// What the server shall send.
    pub encoding: Encoding,
}

/// What the server shall send of each object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Encoding {
    /// The whole object, as JSON.
    #[default]
    Object,
    /// Its metadata only (`PartialObjectMetadata`), as JSON.
    Metadata,
}

impl Target {
    /// All objects of a resource.
    #[must_use]
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            namespace: None,
            labels: String::new(),
            fields: String::new(),
            parameters: Vec::new(),
            encoding: Encoding::Object,
        }
    }

    /// Only those in one namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        Self {
            namespace: Some(namespace.into()),
            ..self
        }
    }

    /// The path of the resource below the address of the server. Names of resources and namespaces
    /// need no encoding; what a user gives as one must be checked before.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::from("/");
        if self.group.is_empty() {
            path.push_str("api");
        } else {
            path.extend(["apis/", &self.group]);
        }
        path.extend(["/", &self.version]);
        if let Some(namespace) = &self.namespace {
            path.extend(["/namespaces/", namespace]);
        }
        path.extend(["/", &self.plural]);
        path
    }
}

/// As `kubectl` names a resource in full: `plural.version.group`; then the namespace and the selectors,
/// where there are any.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.plural, self.version)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in {namespace}")?;
        }
        for (name, selector) in [("labels", &self.labels), ("fields", &self.fields)] {
            if !selector.is_empty() {
                write!(f, " with {name} {selector}")?;
            }
        }
        Ok(())
    }
}
