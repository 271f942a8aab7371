//! Which objects to list and watch, and how much of each.

// Checks of the names in a target.
mod check;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{At, Request};
use crate::encoding::{Encoding, Encodings};

pub use check::{InvalidTarget, check_namespace};

/// The objects to list and watch: the part of every request that never changes.
///
/// You can write any names here. [`check`](Self::check) finds those that no server accepts.
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
#[expect(clippy::exhaustive_structs, reason = "users set the public fields")]
pub struct Target {
    /// The API group; empty for the core group.
    pub group: String,
    /// The API version.
    pub version: String,
    /// The plural name of the resource, as in URLs.
    pub plural: String,
    /// The namespace; `None` for all namespaces and for cluster-scoped resources.
    pub namespace: Option<String>,
    /// The label selector; empty for all objects.
    pub labels: String,
    /// The field selector; empty for all objects.
    pub fields: String,
    /// More query parameters, not yet percent-encoded.
    pub parameters: Vec<(String, String)>,
    /// How much of each object the server sends.
    pub content: Content,
    /// How the server may encode what it sends.
    pub encodings: Encodings,
}

/// How much of each object the server sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Content {
    /// The whole object.
    #[default]
    Object,
    /// Only its metadata (`PartialObjectMetadata`).
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
            content: Content::Object,
            encodings: Encodings::Json,
        }
    }

    /// Selects one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Selects by labels. Takes a text, or a selector that displays as one.
    #[must_use]
    pub fn with_labels(mut self, selector: impl fmt::Display) -> Self {
        self.labels = selector.to_string();
        self
    }

    /// Selects by fields. Takes a text, or a selector that displays as one.
    #[must_use]
    pub fn with_fields(mut self, selector: impl fmt::Display) -> Self {
        self.fields = selector.to_string();
        self
    }

    /// Sets how much of each object the server sends.
    #[must_use]
    pub fn with_content(self, content: Content) -> Self {
        Self { content, ..self }
    }

    /// Sets how the server may encode what it sends. The default is JSON.
    ///
    /// What decodes the answers must be able to read all of these encodings.
    #[must_use]
    pub fn accepting(self, encodings: Encodings) -> Self {
        Self { encodings, ..self }
    }

    /// The `Accept` header of a request.
    ///
    /// ```
    /// use informer_core::Encodings;
    /// use informer_core::transport::{At, Request, Target};
    ///
    /// let pods = Target::new("", "v1", "pods").accepting(Encodings::ProtobufOrJson);
    /// let request = Request::List { version: At::Any, limit: None, page: None };
    /// assert_eq!(
    ///     pods.accept(request),
    ///     "application/vnd.kubernetes.protobuf,application/json"
    /// );
    /// ```
    #[must_use]
    pub fn accept(&self, request: Request<'_>) -> String {
        let is_list = matches!(request, Request::List { .. });
        let media_type = |encoding: &Encoding| match (self.content, is_list) {
            (Content::Object, true) => encoding.media_type(),
            (Content::Object, false) => encoding.watch_type(),
            (Content::Metadata, true) => encoding.metadata_list_type(),
            (Content::Metadata, false) => encoding.metadata_type(),
        };
        let types: Vec<&str> = self.encodings.in_order().iter().map(media_type).collect();
        types.join(",")
    }

    /// The path and query of a request, relative to the address of the server. Query parameters are
    /// sorted by name, as in client-go.
    ///
    /// ```
    /// use informer_core::transport::{At, Request, Target};
    ///
    /// let pods = Target::new("", "v1", "pods").with_labels("app in (a,b)");
    /// let request = Request::List { version: At::Any, limit: Some(500), page: None };
    /// assert_eq!(
    ///     pods.request(request),
    ///     "/api/v1/pods?labelSelector=app%20in%20%28a%2Cb%29&limit=500&resourceVersion=0"
    /// );
    /// ```
    #[must_use]
    pub fn request(&self, request: Request<'_>) -> String {
        let text = |value: &str| value.to_string();
        let mut pairs: Vec<(String, String)> = self.parameters.clone();
        let mut add = |name: &str, value: String| pairs.push((text(name), value));
        add("labelSelector", self.labels.clone());
        add("fieldSelector", self.fields.clone());
        let version = match request {
            Request::List {
                version,
                limit,
                page,
            } => {
                match version {
                    At::Exact(_) => add("resourceVersionMatch", text("Exact")),
                    // Without this, the server returns exactly that version.
                    At::Version(_) if limit.is_some() => {
                        add("resourceVersionMatch", text("NotOlderThan"));
                    }
                    At::Version(_) | At::Any | At::Latest => {}
                }
                let limit = limit.map_or(String::new(), |limit| limit.to_string());
                add("limit", limit);
                add("continue", text(page.unwrap_or_default()));
                version
            }
            Request::Watch {
                version,
                timeout,
                initial_events,
            } => {
                add("watch", text("true"));
                add("allowWatchBookmarks", text("true"));
                // Servers accept no less than one second.
                add("timeoutSeconds", timeout.as_secs().max(1).to_string());
                if initial_events {
                    add("sendInitialEvents", text("true"));
                    add("resourceVersionMatch", text("NotOlderThan"));
                }
                version
            }
        };
        add("resourceVersion", text(version.as_str()));
        with_query(self.path(), pairs)
    }

    /// The path and query of a request for one object, or for a part of it such as `status`. An empty name is
    /// that of an object to be created.
    ///
    /// ```
    /// use informer_core::transport::Target;
    ///
    /// let pods = Target::new("", "v1", "pods").in_namespace("web");
    /// assert_eq!(
    ///     pods.object("shop-1", "status", [("dryRun", "All")]),
    ///     "/api/v1/namespaces/web/pods/shop-1/status?dryRun=All"
    /// );
    /// assert_eq!(pods.object("", "", []), "/api/v1/namespaces/web/pods");
    /// ```
    #[must_use]
    pub fn object<'a>(
        &self,
        name: &str,
        subresource: &str,
        parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> String {
        let mut path = self.path();
        for segment in [name, subresource] {
            if !segment.is_empty() {
                path.push('/');
                encode(segment, &mut path);
            }
        }
        let pairs = parameters.into_iter();
        with_query(
            path,
            pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// The path of the resource, relative to the address of the server.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::new();
        let mut add = |segment: &str| {
            path.push('/');
            encode(segment, &mut path);
        };
        if self.group.is_empty() {
            add("api");
        } else {
            add("apis");
            add(&self.group);
        }
        add(&self.version);
        if let Some(namespace) = &self.namespace {
            add("namespaces");
            add(namespace);
        }
        add(&self.plural);
        path
    }
}

/// Adds the query parameters that have a value, sorted by name.
fn with_query(mut line: String, mut pairs: Vec<(String, String)>) -> String {
    pairs.retain(|(_, value)| !value.is_empty());
    pairs.sort();
    for (at, (name, value)) in pairs.iter().enumerate() {
        line.push(if at == 0 { '?' } else { '&' });
        encode(name, &mut line);
        line.push('=');
        encode(value, &mut line);
    }
    line
}

/// Appends text, and percent-encodes everything that is special in a path or a query.
fn encode(text: &str, line: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                line.push(char::from(byte));
            }
            _ => line.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// Like `kubectl`: `plural.version.group`, then the namespace and the selectors, if there are any.
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

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn names_and_selectors_are_percent_encoded() {
        let target = Target::new("acme.example.org", "v1beta1", "widgets")
            .in_namespace("a/b?c")
            .with_labels("a=b,c!=d,e in (f, g),!h")
            .with_fields("spec.nodeName=n&1");
        let request = Request::List {
            version: At::Latest,
            limit: None,
            page: None,
        };
        assert_eq!(
            target.request(request),
            "/apis/acme.example.org/v1beta1/namespaces/a%2Fb%3Fc/widgets\
             ?fieldSelector=spec.nodeName%3Dn%261\
             &labelSelector=a%3Db%2Cc%21%3Dd%2Ce%20in%20%28f%2C%20g%29%2C%21h"
        );
    }

    #[test]
    fn accepted_media_types() {
        let accept = |content, encodings| {
            let target = Target::new("", "v1", "pods").with_content(content);
            let target = target.accepting(encodings);
            let list = Request::List {
                version: At::Any,
                limit: None,
                page: None,
            };
            let watch = Request::Watch {
                version: At::Any,
                timeout: Duration::ZERO,
                initial_events: true,
            };
            [target.accept(list), target.accept(watch)]
        };
        assert_eq!(
            accept(Content::Object, Encodings::Json),
            ["application/json", "application/json"]
        );
        assert_eq!(
            accept(Content::Object, Encodings::ProtobufOrJson),
            [
                "application/vnd.kubernetes.protobuf,application/json",
                "application/vnd.kubernetes.protobuf;stream=watch,application/json",
            ]
        );
        assert_eq!(
            accept(Content::Metadata, Encodings::Protobuf),
            [
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            ]
        );
        assert_eq!(
            accept(Content::Metadata, Encodings::Json),
            [
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            ]
        );
    }

    #[test]
    fn requests() {
        let mut target = Target::new("", "v1", "pods");
        let list = |version, limit, page| {
            let request = Request::List {
                version,
                limit,
                page,
            };
            Target::new("", "v1", "pods").request(request)
        };
        assert_eq!(list(At::Latest, None, None), "/api/v1/pods");
        assert_eq!(list(At::Any, None, None), "/api/v1/pods?resourceVersion=0");
        assert_eq!(
            list(At::Latest, Some(500), Some("a+b=")),
            "/api/v1/pods?continue=a%2Bb%3D&limit=500"
        );
        assert_eq!(
            list(At::Version("7"), Some(500), None),
            "/api/v1/pods?limit=500&resourceVersion=7&resourceVersionMatch=NotOlderThan"
        );
        assert_eq!(
            list(At::Version("7"), None, None),
            "/api/v1/pods?resourceVersion=7"
        );
        assert_eq!(
            list(At::Exact("7"), Some(500), None),
            "/api/v1/pods?limit=500&resourceVersion=7&resourceVersionMatch=Exact"
        );
        assert_eq!(
            list(At::Exact("7"), None, None),
            "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact"
        );
        target.parameters.push(("x".into(), "é+".into()));
        let watch = |version, millis, initial_events| {
            let request = Request::Watch {
                version,
                timeout: Duration::from_millis(millis),
                initial_events,
            };
            target.request(request)
        };
        assert_eq!(
            watch(At::Version("7"), 301_900, false),
            "/api/v1/pods?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=301&watch=true&x=%C3%A9%2B"
        );
        assert_eq!(
            watch(At::Exact("7"), 301_900, false),
            watch(At::Version("7"), 301_900, false)
        );
        assert_eq!(
            watch(At::Latest, 1, true),
            "/api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan\
             &sendInitialEvents=true&timeoutSeconds=1&watch=true&x=%C3%A9%2B"
        );
    }
}
