//! Requests: a verb, a kind, a name, options.

pub use crate::accept::Accept;
use crate::api::ApiKind;
pub use crate::form::ObjectForm;
use crate::options::MANAGER_LENGTH;
pub use crate::options::Options;
use crate::query::percent_decoded;
use crate::status::ApiError;
pub use crate::store::patch::PatchType;

/// The operation that a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read a collection.
    List,
    /// Watch a collection.
    Watch,
    /// Create an object.
    Create,
    /// Replace an object.
    Update,
    /// Patch an object.
    Patch(PatchType),
    /// Delete an object.
    Delete,
    /// Delete a collection.
    DeleteCollection,
}

/// A part of an object with a path of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Subresource {
    /// `…/status`
    Status,
    /// `…/scale`
    Scale,
    /// Any other, which no kind of this server has.
    Other,
}

/// The headers that affect the meaning of a request.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers must pass both headers")]
pub struct Headers<'a> {
    /// The header `Accept`.
    pub accept: Option<&'a str>,
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
}

/// A parsed request, without its body.
///
/// ```
/// use informer_transport_mock::request::{ApiRequest, Headers, Verb};
///
/// let request = ApiRequest::parse(
///     "GET",
///     "/api/v1/namespaces/default/pods",
///     "watch=true&resourceVersion=7",
///     Headers::default(),
/// )?;
/// assert_eq!(request.verb, Verb::Watch);
/// assert_eq!(request.namespace.as_deref(), Some("default"));
/// assert_eq!(request.options.resource_version, "7");
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ApiRequest {
    /// The operation.
    pub verb: Verb,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// The plural name of the kind.
    pub plural: String,
    /// The namespace in the path.
    pub namespace: Option<String>,
    /// The name in the path.
    pub name: Option<String>,
    /// The subresource at the end of the path.
    pub subresource: Option<Subresource>,
    /// The query parameters.
    pub options: Options,
    /// How the client wants objects.
    pub accept: Accept,
    /// The header `User-Agent`. Its first part is the field manager of a write that names none.
    pub user_agent: String,
}

impl ApiRequest {
    /// Creates a request for objects of `kind` in all namespaces.
    #[must_use]
    pub fn new(verb: Verb, kind: &ApiKind) -> Self {
        Self {
            verb,
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            plural: kind.plural().to_owned(),
            namespace: None,
            name: None,
            subresource: None,
            options: Options::default(),
            accept: Accept::default(),
            user_agent: String::new(),
        }
    }

    /// Limits the request to a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Names one object.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Asks for the status subresource.
    #[must_use]
    pub const fn of_status(mut self) -> Self {
        self.subresource = Some(Subresource::Status);
        self
    }

    /// Asks for the scale subresource.
    #[must_use]
    pub const fn of_scale(mut self) -> Self {
        self.subresource = Some(Subresource::Scale);
        self
    }

    /// Sets the query parameters.
    #[must_use]
    pub fn with(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets the form of the returned objects.
    #[must_use]
    pub fn in_form(mut self, form: ObjectForm) -> Self {
        self.accept = form.into();
        self
    }

    /// Sets the header `User-Agent`.
    #[must_use]
    pub fn by_agent(mut self, user_agent: &str) -> Self {
        user_agent.clone_into(&mut self.user_agent);
        self
    }

    /// The field manager of a write: the parameter, or the first part of the user agent.
    pub(crate) fn field_manager(&self) -> &str {
        let agent = self.user_agent.split('/').next().unwrap_or_default();
        let mut ends = (0..=agent.len().min(MANAGER_LENGTH)).rev();
        let agent = ends.find_map(|end| agent.get(..end)).unwrap_or_default();
        match (self.options.field_manager.as_str(), agent) {
            ("", "") => "unknown",
            ("", agent) => agent,
            (manager, _) => manager,
        }
    }

    /// Parses an HTTP request.
    ///
    /// # Errors
    ///
    /// The refusal that the real server sends: 404 for a path outside the object API, 405 for a
    /// method that the path does not support, 406 for an unsupported response type, 415 for an
    /// unsupported body type, 400 for a query that cannot be parsed.
    pub fn parse(
        method: &str,
        path: &str,
        query: &str,
        headers: Headers<'_>,
    ) -> Result<Self, ApiError> {
        let place = Place::parse(path)?;
        let options = Options::parse(query)?;
        let verb = match (method, place.name.is_some()) {
            ("GET", true) => Verb::Get,
            ("GET", false) if options.watch => Verb::Watch,
            ("GET", false) => Verb::List,
            ("POST", false) => Verb::Create,
            ("PUT", true) => Verb::Update,
            ("PATCH", true) => Verb::Patch(patch_type(headers.content_type)?),
            ("DELETE", true) => Verb::Delete,
            ("DELETE", false) => Verb::DeleteCollection,
            _ => return Err(ApiError::method_not_allowed()),
        };
        if !matches!(verb, Verb::Get | Verb::List | Verb::Watch | Verb::Patch(_)) {
            check_body_type(headers.content_type)?;
        }
        Ok(Self {
            verb,
            group: place.group,
            version: place.version,
            plural: place.plural,
            namespace: place.namespace,
            name: place.name,
            subresource: place.subresource,
            options,
            accept: Accept::parse(headers.accept),
            user_agent: String::new(),
        })
    }

    /// The path of the request.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        let namespace = self.namespace.iter().flat_map(|name| ["namespaces", name]);
        let subresource = self.subresource.map(|subresource| match subresource {
            Subresource::Status => "status",
            Subresource::Scale => "scale",
            Subresource::Other => "other",
        });
        let parts = namespace
            .chain([self.plural.as_str()])
            .chain(self.name.as_deref())
            .chain(subresource);
        for part in parts {
            path.push('/');
            path.push_str(part);
        }
        path
    }
}

/// The parts of a path.
struct Place {
    group: String,
    version: String,
    plural: String,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<Subresource>,
}

impl Place {
    fn parse(path: &str) -> Result<Self, ApiError> {
        // A trailing slash changes nothing.
        let parts: Vec<String> = path
            .trim_matches('/')
            .split('/')
            .map(|part| percent_decoded(part, false))
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Err(ApiError::page_not_found()),
        };
        let (namespace, rest) = match rest {
            // The status of a namespace, not objects named "status" in it.
            ["namespaces", _, "status"] => (None, rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            _ => (None, rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, None, None),
            [plural, name] => (*plural, Some(*name), None),
            [plural, name, subresource] => {
                let subresource = match *subresource {
                    "status" => Subresource::Status,
                    "scale" => Subresource::Scale,
                    _ => Subresource::Other,
                };
                (*plural, Some(*name), Some(subresource))
            }
            _ if group.is_empty() => return Err(ApiError::resource_not_found()),
            _ => return Err(ApiError::page_not_found()),
        };
        if plural.is_empty() || name == Some("") {
            return Err(ApiError::page_not_found());
        }
        // An empty namespace means all namespaces.
        let namespace = namespace.filter(|name| !name.is_empty());
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
            subresource,
        })
    }
}

/// A media type without its parameters.
fn media_type(header: &str) -> &str {
    header.split(';').next().unwrap_or_default().trim()
}

fn check_body_type(content_type: Option<&str>) -> Result<(), ApiError> {
    match content_type.map(media_type) {
        None | Some("" | "application/json") => Ok(()),
        Some(_) => Err(ApiError::unsupported_media_type(&["application/json"])),
    }
}

fn patch_type(content_type: Option<&str>) -> Result<PatchType, ApiError> {
    match content_type.map(media_type) {
        Some("application/json-patch+json") => Ok(PatchType::Json),
        Some("application/merge-patch+json") => Ok(PatchType::Merge),
        Some("application/strategic-merge-patch+json") => Ok(PatchType::Strategic),
        Some("application/apply-patch+yaml") => Ok(PatchType::Apply),
        _ => Err(ApiError::no_such_patch()),
    }
}
