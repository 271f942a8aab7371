//! Which objects, and the URL by which the server knows them.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

use informer_core::transport::Request;

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

/// In which form the server shall send objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Form {
    /// As they are.
    #[default]
    Whole,
    /// Their metadata only (`PartialObjectMetadata`).
    Metadata,
}

impl Form {
    /// The value of the `Accept` header.
    pub(crate) fn accept(self, is_watch: bool) -> &'static str {
        match (self, is_watch) {
            (Self::Whole, _) => "application/json",
            (Self::Metadata, true) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            }
            (Self::Metadata, false) => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
            }
        }
    }
}

/// Which objects an informer is about.
///
/// ```
/// use informer_transport_hyper::{ApiResource, Reach, Selection};
///
/// let pods = ApiResource::new("", "v1", "pods", "Pod", Reach::Namespaced);
/// let selection = Selection::of(pods).in_namespace("web").with_labels("app in (a,b)");
/// assert_eq!(
///     selection.path()?,
///     "/api/v1/namespaces/web/pods?labelSelector=app%20in%20%28a%2Cb%29"
/// );
/// # Ok::<(), informer_transport_hyper::SelectionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    resource: ApiResource,
    namespace: Option<String>,
    labels: Option<String>,
    fields: Option<String>,
    parameters: Vec<(String, String)>,
    form: Form,
}

/// What a [`Selection`] cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SelectionError {
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
    /// A name that must be there is empty.
    Empty {
        /// The field of the resource.
        field: &'static str,
    },
}

impl fmt::Display for SelectionError {
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
            Self::Empty { field } => write!(f, "the {field} of the resource is empty"),
        }
    }
}

impl Error for SelectionError {}

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

impl Selection {
    /// All objects of a resource, in all namespaces.
    #[must_use]
    pub const fn of(resource: ApiResource) -> Self {
        Self {
            resource,
            namespace: None,
            labels: None,
            fields: None,
            parameters: Vec::new(),
            form: Form::Whole,
        }
    }

    /// Those of one namespace. The empty name means all of them.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into()).filter(|name| !name.is_empty());
        self
    }

    /// Those that a label selector selects.
    #[must_use]
    pub fn with_labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into()).filter(|text| !text.is_empty());
        self
    }

    /// Those that a field selector selects.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into()).filter(|text| !text.is_empty());
        self
    }

    /// With another parameter in every request.
    #[must_use]
    pub fn with_parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// In this form.
    #[must_use]
    pub const fn in_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The resource.
    #[must_use]
    pub const fn resource(&self) -> &ApiResource {
        &self.resource
    }

    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// Where these objects are, in words.
    pub(crate) fn place(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("in the namespace `{namespace}`"),
            None => "in the whole cluster".to_owned(),
        }
    }

    /// The path and the part of the query that is the same for every request.
    ///
    /// # Errors
    /// The parts do not go together.
    pub fn path(&self) -> Result<String, SelectionError> {
        let ApiResource {
            group,
            version,
            plural,
            reach,
            ..
        } = &self.resource;
        for (field, name) in [("version", version), ("plural name", plural)] {
            if name.is_empty() {
                return Err(SelectionError::Empty { field });
            }
        }
        let mut url = Url::default();
        if group.is_empty() {
            url.segment("api").segment(version);
        } else {
            url.segment("apis").segment(group).segment(version);
        }
        match (&self.namespace, reach) {
            (Some(namespace), Reach::Namespaced) => {
                url.segment("namespaces").segment(namespace);
            }
            (Some(_), Reach::Cluster) => {
                let resource = self.resource.to_string();
                return Err(SelectionError::NotNamespaced { resource });
            }
            (None, _) => {}
        }
        url.segment(plural);
        for (name, selector) in [
            ("labelSelector", &self.labels),
            ("fieldSelector", &self.fields),
        ] {
            if let Some(selector) = selector {
                url.parameter(name, selector);
            }
        }
        for (name, value) in &self.parameters {
            if RESERVED.contains(&name.as_str()) {
                let parameter = name.clone();
                return Err(SelectionError::Reserved { parameter });
            }
            url.parameter(name, value);
        }
        Ok(url.text)
    }
}

/// `path` with what `request` asks.
pub(crate) fn for_request<X: AsRef<str>>(path: &str, request: &Request<X>) -> String {
    let mut url = Url {
        has_query: path.contains('?'),
        text: path.to_owned(),
    };
    match request {
        Request::List {
            version,
            limit,
            page,
        } => {
            url.version(version.as_str());
            if let Some(limit) = limit {
                url.parameter("limit", &limit.to_string());
            }
            if let Some(page) = page {
                url.parameter("continue", page.as_ref());
            }
        }
        Request::Watch {
            version,
            timeout,
            initial_events,
        } => {
            url.parameter("watch", "true");
            url.parameter("allowWatchBookmarks", "true");
            url.version(version.as_str());
            if *initial_events {
                url.parameter("sendInitialEvents", "true");
                url.parameter("resourceVersionMatch", "NotOlderThan");
            }
            url.parameter("timeoutSeconds", &whole_seconds(*timeout).to_string());
        }
    }
    url.text
}

/// No server takes less than one.
fn whole_seconds(timeout: Duration) -> u64 {
    timeout.as_secs().max(1)
}

/// A URL that grows from left to right.
#[derive(Default)]
struct Url {
    text: String,
    has_query: bool,
}

impl Url {
    fn segment(&mut self, name: &str) -> &mut Self {
        self.text.push('/');
        self.encode(name);
        self
    }

    fn parameter(&mut self, name: &str, value: &str) {
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        self.encode(name);
        self.text.push('=');
        self.encode(value);
    }

    fn version(&mut self, version: &str) {
        if !version.is_empty() {
            self.parameter("resourceVersion", version);
        }
    }

    /// `%XX` for everything that could mean something in a URL.
    fn encode(&mut self, text: &str) {
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                self.text.push(char::from(byte));
            } else {
                // Writing to a text does not fail.
                let _ = write!(self.text, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use informer_core::transport::At;

    fn pods() -> Selection {
        Selection::of(ApiResource::new("", "v1", "pods", "Pod", Reach::Namespaced))
    }

    fn nodes() -> Selection {
        Selection::of(ApiResource::new("", "v1", "nodes", "Node", Reach::Cluster))
    }

    fn widgets() -> Selection {
        let group = "acme.example.org";
        Selection::of(ApiResource::new(
            group,
            "v1beta1",
            "widgets",
            "Widget",
            Reach::Namespaced,
        ))
    }

    #[test]
    fn paths() {
        assert_eq!(pods().path().unwrap(), "/api/v1/pods");
        assert_eq!(pods().in_namespace("").path().unwrap(), "/api/v1/pods");
        assert_eq!(
            pods().in_namespace("kube-system").path().unwrap(),
            "/api/v1/namespaces/kube-system/pods"
        );
        assert_eq!(nodes().path().unwrap(), "/api/v1/nodes");
        assert_eq!(
            widgets().in_namespace("a/b?c").path().unwrap(),
            "/apis/acme.example.org/v1beta1/namespaces/a%2Fb%3Fc/widgets"
        );
    }

    #[test]
    fn selectors_and_parameters_are_encoded() {
        let path = pods()
            .with_labels("a=b,c!=d,e in (f, g),!h")
            .with_fields("spec.nodeName=n&1")
            .with_parameter(
                "shardSelector",
                "shardRange(object.metadata.uid, '0x0', 'é+')",
            )
            .path()
            .unwrap();
        assert_eq!(
            path,
            "/api/v1/pods?labelSelector=a%3Db%2Cc%21%3Dd%2Ce%20in%20%28f%2C%20g%29%2C%21h\
             &fieldSelector=spec.nodeName%3Dn%261\
             &shardSelector=shardRange%28object.metadata.uid%2C%20%270x0%27%2C%20%27%C3%A9%2B%27%29"
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert_eq!(
            nodes().in_namespace("x").path().unwrap_err().to_string(),
            "nodes live in no namespace; leave the namespace out"
        );
        for parameter in RESERVED {
            let selection = pods().with_parameter(parameter, "1");
            assert!(matches!(
                selection.path(),
                Err(SelectionError::Reserved { .. })
            ));
        }
        let nameless = ApiResource::new("", "v1", "", "Pod", Reach::Namespaced);
        assert!(Selection::of(nameless).path().is_err());
    }

    #[test]
    fn requests() {
        let list = |version, limit, page| {
            for_request(
                "/p",
                &Request::List::<&str> {
                    version,
                    limit,
                    page,
                },
            )
        };
        assert_eq!(list(At::Latest, None, None), "/p");
        assert_eq!(list(At::Any, None, None), "/p?resourceVersion=0");
        assert_eq!(
            list(At::Latest, Some(500), Some("a+b=")),
            "/p?limit=500&continue=a%2Bb%3D"
        );
        let watch = |version, initial_events| {
            let timeout = Duration::from_millis(301_900);
            let request = Request::Watch {
                version,
                timeout,
                initial_events,
            };
            for_request("/p?x=1", &request)
        };
        assert_eq!(
            watch(At::Version("7"), false),
            "/p?x=1&watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=301"
        );
        assert_eq!(
            watch(At::Latest, true),
            "/p?x=1&watch=true&allowWatchBookmarks=true&sendInitialEvents=true\
             &resourceVersionMatch=NotOlderThan&timeoutSeconds=301"
        );
    }
}
