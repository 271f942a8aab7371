//! A kube client with limits.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use informer_core::Failure;
use informer_core::transport::{Call, Caller, Calling, Target};
use informer_transport_http::{
    ApiResource, Budget, Failed, HttpTransport, Limits, Purpose, Question, RequestError,
    ResolveError, Sender, TargetError, call, get, resolve,
};
use tokio::runtime::Handle;

use crate::answer::KubeAnswer;
use crate::failure::unanswered;
use crate::transport::KubeTransport;

/// Must not look like a browser or curl: for those the server pretty-prints.
const USER_AGENT: &str = concat!("informer/", env!("CARGO_PKG_VERSION"));

/// The largest body that [`KubeClient::get`] reads.
const LARGEST_BODY: usize = 64 << 20;

/// The slots of all clients without settings of their own. A [`kube::Client`] does not say which server it is
/// for, or whether two of them are for the same, so they share.
static SHARED: LazyLock<Budget> = LazyLock::new(|| Budget::new(Settings::new().max_lists));

/// A [`kube::Client`], and limits for what informers ask of it.
///
/// You need it for [`Settings`] of your own, and for [`resolve`](Self::resolve). Clones are cheap and share the
/// limits.
#[derive(Clone)]
pub struct KubeClient {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    client: kube::Client,
    limits: Limits,
    budget: Budget,
    runtime: Handle,
}

/// Limits for lists. The defaults suit API servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Settings {
    /// The most lists to read at the same time; further lists wait. Default 8.
    ///
    /// Watches that start with the full state count as lists. The limit prevents a storm of lists after
    /// a server restart. A list that waits for a slow handler does not count.
    pub max_lists: NonZeroUsize,
    /// The time limit for the first byte of an answer to a list, with the time to connect. Default 90 s.
    ///
    /// It also applies to watches that start with the full state.
    pub head_timeout: Duration,
    /// The time limit for a list, from the first to the last byte of its answer. Default 10 minutes.
    ///
    /// The time that handlers take does not count.
    pub list_timeout: Duration,
    /// The size limit for the answer to a list, in bytes after decompression. Default 4 GiB.
    ///
    /// With pages, the limit applies to each page.
    pub max_list_bytes: u64,
}

impl Settings {
    /// The default settings.
    #[must_use]
    pub const fn new() -> Self {
        let limits = Limits::new();
        Self {
            max_lists: NonZeroUsize::MIN.saturating_add(7),
            head_timeout: limits.head_timeout,
            list_timeout: limits.list_timeout,
            max_list_bytes: limits.max_list_bytes,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

/// No tokio runtime is active, so there is no place for the requests of an informer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NoRuntime;

impl fmt::Display for NoRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "cannot use a kube client: no tokio runtime is active; call this inside the runtime of the \
             client, or enter it with `Handle::enter`",
        )
    }
}

impl Error for NoRuntime {}

impl KubeClient {
    /// Takes a client. Its requests are sent in the current tokio runtime.
    ///
    /// All clients made by this function share one limit on lists; see [`with_settings`](Self::with_settings).
    ///
    /// # Errors
    /// No tokio runtime is active.
    pub fn new(client: kube::Client) -> Result<Self, NoRuntime> {
        let inner = Inner {
            client,
            limits: Limits::new(),
            budget: SHARED.clone(),
            runtime: Handle::try_current().map_err(|_| NoRuntime)?,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Sets limits that only this client and its clones share.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        let inner = Inner {
            client: self.inner.client.clone(),
            limits: Limits {
                head_timeout: settings.head_timeout,
                list_timeout: settings.list_timeout,
                max_list_bytes: settings.max_list_bytes,
            },
            budget: Budget::new(settings.max_lists),
            runtime: self.inner.runtime.clone(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Creates the transport of one informer.
    ///
    /// # Errors
    /// The target is invalid, or sets a parameter that the informer sets itself.
    pub fn transport(&self, target: &Target) -> Result<KubeTransport, TargetError> {
        let transport = HttpTransport::new(Arc::clone(&self.inner), target)?;
        Ok(KubeTransport(transport))
    }

    /// Sends `GET path` and returns the whole body, up to 64 MiB.
    ///
    /// # Errors
    /// The request failed, or the server did not answer with 200.
    pub async fn get(&self, path: &str) -> Result<Bytes, RequestError> {
        get(&self.inner, path, "application/json", LARGEST_BODY).await
    }

    /// Finds a resource by name, as kubectl does.
    ///
    /// The name is a plural or singular name, a kind or a short name. It may be followed by a group
    /// (`deployments.apps`) or by a version and a group (`deployments.v1.apps`).
    ///
    /// # Errors
    /// No such resource exists, it does not support list and watch, or the request failed.
    pub async fn resolve(&self, name: &str) -> Result<ApiResource, ResolveError> {
        resolve(&self.inner, name).await
    }
}

impl fmt::Debug for KubeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeClient")
            .field("limits", &self.inner.limits)
            .finish_non_exhaustive()
    }
}

impl Sender for Inner {
    type Answer = KubeAnswer;

    async fn send(&self, question: Question<'_>) -> Result<KubeAnswer, Failed> {
        let mut request = Request::builder()
            .method(question.http_method())
            .uri(question.path)
            .header(header::ACCEPT, question.accept)
            .header(header::USER_AGENT, USER_AGENT);
        if !question.content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, question.content_type);
        }
        if question.purpose == Purpose::Watch {
            // A server ends a gzip member at every flush, and kube's decompression ends with the first one.
            request = request.header(header::ACCEPT_ENCODING, "identity");
        }
        let request = request
            .body(question.body.clone().into())
            .map_err(|error| {
                let about = format_args!("`{}` is not a path: {error}", question.path);
                Failed::new(Failure::Invalid, about)
            })?;
        match self.client.send(request).await {
            Ok(answer) => Ok(answer.into()),
            Err(error) => Err(unanswered(&error)),
        }
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

/// Reads and writes single objects.
impl Caller for KubeClient {
    fn call(&self, request: Call) -> Calling {
        call(&self.inner, request)
    }
}
