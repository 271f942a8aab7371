//! The server itself: kinds, objects, a clock, and the handling of requests.

use std::sync::Arc;
use std::time::Duration;

use informer_core::Instant;
use serde_json::{Map, Value};

use crate::answer::{Answer, AnswerBody};
use crate::api::{ApiKind, KindId, Registry};
use crate::config::{ExpiredWatch, ServerConfig};
use crate::definitions::Definitions;
use crate::delete_options::delete_options;
use crate::list::{List, version};
use crate::representation::{Representation, Shown};
use crate::request::{ApiRequest, PatchType, Subresource, Verb};
use crate::selection::Selection;
use crate::status::{self, ApiError, Reason};
use crate::store::Store;
use crate::store::object::{StoredObject, key};
use crate::store::write::{Author, Deletion, Part, Target};
use crate::store::{patch, scale};
use crate::timestamp::Timestamp;
use crate::watch::{Opening, PATIENCE, Watch};

/// A Kubernetes API server in memory. Lists and watches behave as on a real one.
///
/// It is a state machine. You pass the time in, all randomness comes from the seed in its
/// [configuration](ServerConfig), and the same calls give the same bytes.
///
/// For a server that tests, transports and a clock share, see [`MockServer`](crate::MockServer).
///
/// ```
/// use informer_core::Instant;
/// use informer_transport_mock::answer::AnswerBody;
/// use informer_transport_mock::request::{ApiRequest, Headers};
/// use informer_transport_mock::watch::Polled;
/// use informer_transport_mock::{Server, ServerConfig};
/// use serde_json::json;
///
/// let now = Instant::from_micros(0);
/// let mut server = Server::new(ServerConfig::new(42));
/// server.create("pods", json!({"metadata": {"name": "web"}}))?;
///
/// let request = ApiRequest::parse("GET", "/api/v1/pods", "watch=true", Headers::default())?;
/// let AnswerBody::Watch(mut watch) = server.handle(&request, b"", now).body else { panic!() };
/// let Polled::Frame(frame) = watch.poll(&server, now) else { panic!() };
/// assert!(frame.to_bytes().starts_with(br#"{"type":"ADDED","object":{"kind":"Pod","#));
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    registry: Registry,
    store: Store,
    config: ServerConfig,
    now: Instant,
    /// Counts restarts. A watch from before a restart is cut.
    incarnation: u64,
    next_compaction: Instant,
    /// The newest version at the last compaction: the next compaction goes up to here.
    compact_to: u64,
    definitions: Definitions,
}

impl Server {
    /// Creates a server with the built-in kinds and no objects.
    #[must_use]
    pub fn new(config: ServerConfig) -> Self {
        let registry = Registry::with_builtins();
        // 0 means "any version" to clients, so no server is ever at 0.
        let version = config.first_version.max(1);
        let mut store = Store::new(
            version,
            config.watch_window,
            config.seed,
            config.managed_fields,
        );
        for _ in registry.iter() {
            store.add_table();
        }
        Self {
            next_compaction: Instant::default().after(config.compact_every),
            compact_to: version,
            definitions: Definitions::new(&registry),
            registry,
            store,
            config,
            now: Instant::default(),
            incarnation: 0,
        }
    }

    /// Adds a kind. A kind that is already served under the same path is
    /// [removed](Self::remove_kind) first.
    pub fn register(&mut self, kind: ApiKind) {
        if let Some((id, _)) = self
            .registry
            .at_path(kind.group(), kind.version(), kind.plural())
        {
            self.remove(id);
        }
        self.registry.register(kind);
        self.store.add_table();
    }

    /// Stops serving a kind, as deleting its CustomResourceDefinition does. Its objects are
    /// deleted, its watches send these deletions and end, and its path answers 404.
    ///
    /// # Errors
    ///
    /// 404 if there is no such kind.
    pub fn remove_kind(&mut self, name: &str) -> Result<(), ApiError> {
        let (id, _) = self.find(name)?;
        self.remove(id);
        Ok(())
    }

    /// Serves the versions of a kind from one table: a given one, or a new one.
    pub(crate) fn serve_kinds(&mut self, table: Option<KindId>, kinds: Vec<ApiKind>) -> KindId {
        let table = match table {
            Some(table) => {
                self.registry.remove(table);
                table
            }
            None => {
                self.store.add_table();
                self.registry.new_table()
            }
        };
        for kind in kinds {
            if let Some((id, _)) =
                self.registry
                    .at_path(kind.group(), kind.version(), kind.plural())
            {
                self.remove(id);
            }
            self.registry.register_in(table, kind);
        }
        table
    }

    pub(crate) const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    pub(crate) const fn definitions_mut(&mut self) -> &mut Definitions {
        &mut self.definitions
    }

    pub(crate) fn remove(&mut self, id: KindId) {
        self.store.clear(id);
        self.registry.remove(id);
    }

    /// The kinds that the server serves.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The version of the newest write.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.store.version()
    }

    /// Moves the server's time forward to `now`. An earlier `now` has no effect.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if self.now >= self.next_compaction {
            self.store.compact(self.compact_to);
            self.compact_to = self.store.version();
            self.next_compaction = self.now.after(self.config.compact_every);
        }
    }

    /// Compacts the history up to `version`. Lists at an older version, and the remaining pages of
    /// older lists, expire. Watches are not affected, as on a real server.
    pub fn compact(&mut self, version: u64) {
        self.store.compact(version);
    }

    /// Empties the watch window. No watch can start from an older version, and watches that have
    /// not sent all changes yet fail with an ERROR event.
    pub fn forget_changes(&mut self) {
        self.store.forget_changes();
    }

    /// Restarts the server: cuts all watches and empties the watch window.
    pub fn restart(&mut self) {
        self.incarnation += 1;
        self.store.forget_changes();
    }

    /// Raises the version without writing to any served kind, as a write to another resource does.
    pub fn skip_version(&mut self) {
        self.store.next_version();
    }

    pub(crate) const fn incarnation(&self) -> u64 {
        self.incarnation
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// The wall-clock time that the server writes into objects.
    #[must_use]
    pub fn wall_clock(&self) -> Timestamp {
        self.config.epoch.after(self.now.since(Instant::default()))
    }

    /// Handles one request at `now`.
    pub fn handle(&mut self, request: &ApiRequest, body: &[u8], now: Instant) -> Answer {
        self.advance(now);
        let answer = self.answer(request, body);
        self.follow_definitions();
        match answer {
            Ok(answer) => answer,
            Err(refused) => {
                let is_early = refused.reason() == Reason::Timeout;
                Answer {
                    delay: if is_early { PATIENCE } else { Duration::ZERO },
                    ..Answer::refused(&refused, request.accept.for_errors())
                }
            }
        }
    }

    fn answer(&mut self, request: &ApiRequest, body: &[u8]) -> Result<Answer, ApiError> {
        let (id, kind) = self.resolve(request)?;
        let target = Target {
            id,
            kind: &kind,
            namespace: request.namespace.as_deref(),
        };
        let representation = request.accept.choose(&kind)?;
        representation.form.check(&kind, request.verb)?;
        let name = request.name.as_deref().unwrap_or_default();
        let part = match request.subresource {
            Some(Subresource::Scale) => {
                return self.scale(target, name, request, body, representation);
            }
            Some(_) => Part::Status,
            None => Part::Main,
        };
        match request.verb {
            Verb::Get => {
                let object = self.read(target, name, request)?;
                self.object(200, &kind, &object, representation)
            }
            Verb::List => {
                request.options.check_list()?;
                let selection = Selection::new(&kind, target.namespace, &request.options)?;
                let list = List {
                    id,
                    selection: &selection,
                    options: &request.options,
                };
                let (objects, page) = list.page(&self.store)?;
                let bytes = representation.list(&kind, &objects, &page, self.wall_clock())?;
                Ok(complete(200, representation, bytes))
            }
            Verb::Watch => self.watch(id, &kind, request, representation),
            Verb::Create => {
                let author = self.author_of(request)?;
                let object = self.store.create(target, parsed(&kind, body)?, author)?;
                self.object(201, &kind, &object, representation)
            }
            Verb::Update => {
                let author = self.author_of(request)?;
                let object = parsed(&kind, body)?;
                let object = self.store.update(target, name, object, part, author)?;
                self.object(200, &kind, &object, representation)
            }
            Verb::Patch(how) => {
                let author = self.author_of(request)?;
                if how == PatchType::Apply {
                    let config = patch::config(body)?;
                    let force = request.options.force == Some(true);
                    let (object, is_new) = self
                        .store
                        .apply(target, name, &config, part, author, force)?;
                    let status = if is_new { 201 } else { 200 };
                    return self.object(status, &kind, &object, representation);
                }
                let change = |object: &mut _| patch::apply(how, object, body);
                let object = self.store.patch(target, name, part, author, change)?;
                self.object(200, &kind, &object, representation)
            }
            Verb::Delete => {
                let options = delete_options(&request.options, body)?;
                let author = self.author("", options.is_dry_run);
                let deletion = self
                    .store
                    .delete(target, name, &options.preconditions, author)?;
                self.deleted(&kind, &deletion, representation)
            }
            Verb::DeleteCollection => self.delete_collection(target, request, body, representation),
        }
    }

    /// Answers a request for the scale of an object.
    fn scale(
        &mut self,
        target: Target<'_>,
        name: &str,
        request: &ApiRequest,
        body: &[u8],
        representation: Representation,
    ) -> Result<Answer, ApiError> {
        let scale = match request.verb {
            Verb::Update => {
                let author = self.author_of(request)?;
                let scale = parsed(scale::kind(), body)?;
                self.store.update_scale(target, name, scale, author)?
            }
            Verb::Patch(how) => {
                let author = self.author_of(request)?;
                let change = |scale: &mut _| patch::apply(how, scale, body);
                self.store.patch_scale(target, name, author, change)?
            }
            _ => scale::of(target.kind, &*self.read(target, name, request)?)?,
        };
        self.object(200, scale::kind(), &scale, representation)
    }

    /// The kind that the request's path names, if the path is valid for that kind.
    fn resolve(&self, request: &ApiRequest) -> Result<(KindId, Arc<ApiKind>), ApiError> {
        let (id, kind) = self
            .registry
            .at_path(&request.group, &request.version, &request.plural)
            .ok_or_else(|| self.nothing_there(request))?;
        let is_whole_cluster = request.namespace.is_none() && kind.is_namespaced();
        let is_reading_many = matches!(request.verb, Verb::List | Verb::Watch);
        if request.namespace.is_some() && !kind.is_namespaced()
            || is_whole_cluster && request.name.is_some()
        {
            return Err(self.nothing_there(request));
        }
        let has_subresource = match request.subresource {
            Some(Subresource::Status) => kind.has_status(),
            Some(Subresource::Scale) => kind.scale().is_some(),
            Some(Subresource::Other) => false,
            None => true,
        };
        if !has_subresource {
            return Err(match kind.is_custom() {
                true => ApiError::not_found(kind, request.name.as_deref().unwrap_or_default()),
                false => ApiError::resource_not_found(),
            });
        }
        if request.subresource.is_some() && request.verb == Verb::Delete {
            return Err(match kind.is_custom() {
                true => ApiError::not_supported(kind, "delete"),
                false => ApiError::method_not_allowed(),
            });
        }
        if is_whole_cluster && !is_reading_many {
            return Err(ApiError::method_not_allowed());
        }
        if request.verb == Verb::Patch(PatchType::Strategic) && kind.is_custom() {
            return Err(ApiError::unsupported_media_type(&[
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/apply-patch+yaml",
            ]));
        }
        Ok((id, Arc::clone(kind)))
    }

    /// The 404 for an unknown path. Built-in groups send a Status; other paths a plain text.
    fn nothing_there(&self, request: &ApiRequest) -> ApiError {
        let mut kinds = self.registry.iter();
        match kinds.any(|kind| kind.group() == request.group && !kind.is_custom()) {
            true => ApiError::resource_not_found(),
            false => ApiError::page_not_found(),
        }
    }

    fn read(
        &self,
        target: Target<'_>,
        name: &str,
        request: &ApiRequest,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let asked = &request.options.resource_version;
        // The real server answers 500 here, although the client is at fault.
        let asked = version(asked).map_err(|wrong| ApiError::new(Reason::Unknown, wrong))?;
        if asked > self.version() {
            return Err(ApiError::too_large_version(asked, self.version()));
        }
        self.store
            .get(target.id, &key(target.namespace, name))
            .cloned()
            .ok_or_else(|| ApiError::not_found(target.kind, name))
    }

    fn watch(
        &self,
        id: KindId,
        kind: &Arc<ApiKind>,
        request: &ApiRequest,
        representation: Representation,
    ) -> Result<Answer, ApiError> {
        let options = &request.options;
        let initial_events = options.check_watch()?;
        let selection = Selection::new(kind, request.namespace.as_deref(), options)?;
        let version = version(&options.resource_version)
            .map_err(|wrong| ApiError::new(Reason::Unknown, wrong))?;
        let timeout = options.timeout_seconds.filter(|seconds| *seconds > 0);
        let watch = Watch::open(
            Opening {
                id,
                kind: Arc::clone(kind),
                selection,
                representation,
                version,
                initial_events,
                has_bookmarks: options.allow_watch_bookmarks,
                timeout: timeout.map_or(self.config.watch_timeout, Duration::from_secs),
            },
            self,
            self.now,
        );
        match watch.refusal() {
            Some(refused) if self.config.expired_watch == ExpiredWatch::Status => {
                Err(refused.clone())
            }
            _ => {
                let body = AnswerBody::Watch(Box::new(watch));
                Ok(Answer::new(200, representation.encoding, body))
            }
        }
    }

    fn delete_collection(
        &mut self,
        target: Target<'_>,
        request: &ApiRequest,
        body: &[u8],
        representation: Representation,
    ) -> Result<Answer, ApiError> {
        request.options.check_list()?;
        let options = delete_options(&request.options, body)?;
        let author = self.author("", options.is_dry_run);
        let selection = Selection::new(target.kind, target.namespace, &request.options)?;
        let list = List {
            id: target.id,
            selection: &selection,
            options: &request.options,
        };
        let (objects, page) = list.page(&self.store)?;
        let bytes = representation.list(target.kind, &objects, &page, self.wall_clock())?;
        let objects: Vec<_> = objects.into_iter().cloned().collect();
        for object in objects {
            let target = Target {
                namespace: object.namespace(),
                ..target
            };
            self.store
                .delete(target, object.name(), &options.preconditions, author)?;
        }
        Ok(complete(200, representation, bytes))
    }

    fn deleted(
        &self,
        kind: &ApiKind,
        deletion: &Deletion,
        representation: Representation,
    ) -> Result<Answer, ApiError> {
        let bytes = match deletion {
            Deletion::Pending(object) => return self.object(200, kind, object, representation),
            Deletion::Done { last, version } if kind.returns_deleted() => {
                let shown = Shown {
                    version: *version,
                    ..Shown::whole(last)
                };
                representation.body(kind, shown, self.wall_clock())?
            }
            Deletion::Done { last, .. } => {
                status::deleted(kind, last.name(), last.uid(), representation.encoding)
            }
        };
        Ok(complete(200, representation, bytes))
    }

    fn object(
        &self,
        status: u16,
        kind: &ApiKind,
        object: &StoredObject,
        representation: Representation,
    ) -> Result<Answer, ApiError> {
        let bytes = representation.body(kind, Shown::whole(object), self.wall_clock())?;
        Ok(complete(status, representation, bytes))
    }

    /// The author of a request, if its options are right.
    fn author_of<'a>(&self, request: &'a ApiRequest) -> Result<Author<'a>, ApiError> {
        Ok(Author {
            is_dry_run: request.options.check_write(request.verb)?,
            subresource: match request.subresource {
                Some(Subresource::Status) => "status",
                Some(Subresource::Scale) => "scale",
                Some(Subresource::Other) | None => "",
            },
            ..self.author(request.field_manager(), false)
        })
    }

    /// A field manager that writes now.
    pub(crate) fn author<'a>(&self, manager: &'a str, is_dry_run: bool) -> Author<'a> {
        Author {
            manager,
            subresource: "",
            now: self.wall_clock(),
            is_dry_run,
        }
    }

    pub(crate) fn find(&self, name: &str) -> Result<(KindId, Arc<ApiKind>), ApiError> {
        match self.registry.find(name) {
            Some((id, kind)) => Ok((id, Arc::clone(kind))),
            None => Err(ApiError::page_not_found()),
        }
    }

    pub(crate) const fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

fn complete(status: u16, representation: Representation, bytes: Vec<u8>) -> Answer {
    Answer::new(status, representation.encoding, AnswerBody::Complete(bytes))
}

/// Parses the body of a write.
fn parsed(kind: &ApiKind, body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    let unrecognized = |why: &str| {
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): {why}",
            kind.kind()
        ))
    };
    // Go reads null as an object without fields.
    let object: Option<Map<String, Value>> = serde_json::from_slice(body).map_err(|error| {
        unrecognized(&format!(
            "couldn't get version/kind; json parse error: {error}"
        ))
    })?;
    let object = object.unwrap_or_default();
    if kind.is_custom() && !object.contains_key("kind") {
        let body = String::from_utf8_lossy(body);
        let short: String = body.chars().take(30).collect();
        let short = if short == body { short } else { short + " ..." };
        return Err(unrecognized(&format!(
            "Object 'Kind' is missing in '{body}' ({short})"
        )));
    }
    Ok(object)
}
