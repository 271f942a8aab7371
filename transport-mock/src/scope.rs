//! What a transport lists and watches, and the requests that say so.

use std::fmt::Write as _;

use informer_core::transport::Request;

use crate::form::Form;
use crate::request::Headers;

/// What a transport is made for: a kind, perhaps a namespace, selectors, a form.
///
/// ```
/// use informer_core::transport::{At, Request};
/// use informer_transport_mock::transport::Scope;
///
/// let scope = Scope::new("", "v1", "pods").in_namespace("web").with_labels("app=a");
/// let request = Request::List { version: At::<String>::Any, limit: Some(500), page: None };
/// assert_eq!(
///     scope.target(&request),
///     "/api/v1/namespaces/web/pods?labelSelector=app%3Da&limit=500&resourceVersion=0"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    path: String,
    plural: String,
    label_selector: String,
    field_selector: String,
    form: Form,
}

impl Scope {
    /// All objects of a kind: its group (empty for the core group), version and plural.
    #[must_use]
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        let path = match group {
            "" => format!("/api/{version}"),
            _ => format!("/apis/{group}/{version}"),
        };
        Self {
            path,
            plural: plural.to_owned(),
            label_selector: String::new(),
            field_selector: String::new(),
            form: Form::Object,
        }
    }

    /// In one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.path = format!("{}/namespaces/{namespace}", self.path);
        self
    }

    /// With this label selector.
    #[must_use]
    pub fn with_labels(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.label_selector);
        self
    }

    /// With this field selector.
    #[must_use]
    pub fn with_fields(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.field_selector);
        self
    }

    /// With objects in this form.
    #[must_use]
    pub const fn in_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The path of every request.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.path, self.plural)
    }

    /// Path and query of a request, the parameters in alphabetical order as Go has them.
    pub fn target<X: AsRef<str>>(&self, request: &Request<X>) -> String {
        let (version, mut pairs) = match request {
            Request::List {
                version,
                limit,
                page,
            } => {
                let limit = limit.map(|limit| limit.to_string()).unwrap_or_default();
                let page = page.as_ref().map_or("", AsRef::as_ref).to_owned();
                (version, vec![("continue", page), ("limit", limit)])
            }
            Request::Watch {
                version,
                timeout,
                initial_events,
            } => {
                let mut pairs = vec![
                    ("allowWatchBookmarks", "true".to_owned()),
                    ("timeoutSeconds", timeout.as_secs().to_string()),
                    ("watch", "true".to_owned()),
                ];
                if *initial_events {
                    pairs.push(("resourceVersionMatch", "NotOlderThan".to_owned()));
                    pairs.push(("sendInitialEvents", "true".to_owned()));
                }
                (version, pairs)
            }
        };
        pairs.push(("resourceVersion", version.as_str().to_owned()));
        pairs.push(("labelSelector", self.label_selector.clone()));
        pairs.push(("fieldSelector", self.field_selector.clone()));
        pairs.retain(|(_, value)| !value.is_empty());
        pairs.sort();
        let mut target = self.path();
        for (n, (key, value)) in pairs.iter().enumerate() {
            target.push(if n == 0 { '?' } else { '&' });
            target.push_str(key);
            target.push('=');
            encode(value, &mut target);
        }
        target
    }

    /// The headers of every request.
    pub(crate) const fn headers(&self) -> Headers<'static> {
        Headers {
            accept: Some(match self.form {
                Form::Object => "application/json",
                Form::Metadata => {
                    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
                }
                Form::Table => "application/json;as=Table;g=meta.k8s.io;v=v1",
            }),
            content_type: None,
        }
    }
}

/// Appends `value` as it stands in a query.
fn encode(value: &str, out: &mut String) {
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use informer_core::transport::At;

    use super::*;
    use crate::request::ApiRequest;

    #[test]
    fn the_server_reads_what_the_scope_writes() {
        let scope = Scope::new("apps", "v1", "deployments")
            .in_namespace("web")
            .with_labels("app in (a,b),tier!=x y")
            .with_fields("metadata.name=a");
        let request = Request::Watch {
            version: At::Version("7".to_owned()),
            timeout: Duration::from_secs(330),
            initial_events: true,
        };
        let target = scope.target(&request);
        let (path, query) = target.split_once('?').unwrap();
        let request = ApiRequest::parse("GET", path, query, scope.headers()).unwrap();
        assert_eq!(request.path(), "/apis/apps/v1/namespaces/web/deployments");
        let options = request.options;
        assert_eq!(options.label_selector, "app in (a,b),tier!=x y");
        assert_eq!(options.field_selector, "metadata.name=a");
        assert_eq!(options.send_initial_events, Some(true));
        assert_eq!(options.timeout_seconds, Some(330));
        assert_eq!(options.resource_version, "7");
        assert!(options.watch && options.allow_watch_bookmarks);
    }
}
