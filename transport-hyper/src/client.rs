//! One client for many informers.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use informer_core::transport::{Call, Caller, Calling, Target};
use informer_transport_http::{
    ApiResource, Budget, RequestError, ResolveError, TargetError, call, get, resolve,
};

use crate::auth::Credentials;
use crate::config::Config;
use crate::net::Pool;
use crate::runtime::Runtime;
use crate::status::ClientStatus;
use crate::tls::TlsSource;
use crate::transport::HyperTransport;

/// The largest body that [`Client::get`] reads.
const LARGEST_BODY: usize = 64 << 20;

/// A client for one API server.
///
/// Clones are cheap: they share connections, credentials and the limit on concurrent lists. A client
/// connects on the first request.
///
/// ```no_run
/// use informer_transport_hyper::{Client, Config};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Config::infer()?)?;
/// let pods = client.resolve("pods").await?;
/// assert_eq!(pods.kind, "Pod");
///
/// let transport = client.transport(&pods.target(None)?)?;
/// # let _ = transport;
/// # Ok(())
/// # }
/// ```
///
/// Connections run in the tokio runtime in which the client was created. Outside of tokio, the client starts
/// a runtime of its own on one thread, which ends when the client and its transports are dropped. You can
/// await it on any executor, and drive its transports on any thread:
///
/// ```
/// use informer_transport_hyper::{Client, Config};
///
/// // No tokio here.
/// let client = Client::new(Config::new("http://127.0.0.1:8001")?)?;
/// assert_eq!(client.config().server_url(), "http://127.0.0.1:8001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

/// Refers to a client without keeping it alive: see [`Client::downgrade`].
#[derive(Clone)]
pub struct WeakClient {
    inner: Weak<Inner>,
}

impl WeakClient {
    /// The client, if it is still there.
    #[must_use]
    pub fn upgrade(&self) -> Option<Client> {
        self.inner.upgrade().map(|inner| Client { inner })
    }
}

impl fmt::Debug for WeakClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakClient").field(&self.upgrade()).finish()
    }
}

/// The state that clones share.
pub(crate) struct Inner {
    pub(crate) config: Arc<Config>,
    pub(crate) credentials: Credentials,
    /// `None` for plain HTTP.
    pub(crate) tls: Option<TlsSource>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) budget: Budget,
    pub(crate) runtime: Runtime,
}

/// Why a client could not be created.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// No tokio runtime is active, and the client could not start one of its own.
    NoRuntime {
        /// The error of the operating system.
        reason: String,
    },
    /// A certificate or credential in the configuration cannot be used.
    Unusable {
        /// Which one, and why.
        reason: String,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime { reason } => write!(
                f,
                "cannot start a thread for the client: {reason}; raise the limits of the process for \
                 threads and files, or call `Client::new` inside a tokio runtime"
            ),
            Self::Unusable { reason } => f.write_str(reason),
        }
    }
}

impl Error for ClientError {}

/// Warns about unsafe settings, once per client.
fn warn_of_risks(config: &Config) {
    let url = config.server_url();
    if config.withholds_credentials() {
        tracing::warn!(
            server = url,
            "credentials are withheld because the server is reached without TLS; use https://, or \
             allow it with `Config::with_credentials_over_http`"
        );
    } else if config.has_credentials_in_the_clear() {
        tracing::warn!(
            server = url,
            "credentials are sent without TLS: anyone on the network path can read them; use \
             https://"
        );
    }
    if config.server.tls && config.trust.insecure {
        tracing::warn!(
            server = url,
            "the server certificate is not verified (insecure-skip-tls-verify): an impostor would \
             receive the credentials; configure a certificate authority"
        );
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("config", &self.inner.config)
            .field("pool", &self.inner.pool)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Creates a client whose connections run in the current tokio runtime, or else on a thread of its own.
    ///
    /// It does not connect yet; the first request does.
    ///
    /// # Errors
    /// The operating system refuses a thread for the client, or a certificate or file that the
    /// configuration names cannot be used.
    pub fn new(config: Config) -> Result<Self, ClientError> {
        let unusable = |reason: String| ClientError::Unusable { reason };
        let credentials = Credentials::new(&config).map_err(|error| unusable(error.message))?;
        let tls = config.server.tls.then(|| TlsSource::new(&config));
        if let Some(tls) = &tls {
            tls.current(None).map_err(|error| unusable(error.0))?;
        }
        warn_of_risks(&config);
        let runtime = Runtime::current_or_own().map_err(|error| ClientError::NoRuntime {
            reason: error.to_string(),
        })?;
        let budget = Budget::new(config.settings.max_lists);
        let config = Arc::new(config);
        let pool = Arc::new(Pool::new(Arc::clone(&config)));
        Ok(Self {
            inner: Arc::new(Inner {
                config,
                credentials,
                tls,
                pool,
                budget,
                runtime,
            }),
        })
    }

    /// Creates the transport of one informer.
    ///
    /// # Errors
    /// The target is invalid, or sets a parameter that the informer sets itself.
    pub fn transport(&self, target: &Target) -> Result<HyperTransport, TargetError> {
        HyperTransport::new(Arc::clone(&self.inner), target)
    }

    /// Sends `GET path` and returns the whole body, up to 64 MiB.
    ///
    /// The path may have a query, as in `/version?timeout=5s`.
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
    /// ```no_run
    /// # async fn run(client: informer_transport_hyper::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let deployments = client.resolve("deploy").await?;
    /// assert_eq!(deployments.to_string(), "deployments.apps");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// No such resource exists, it does not support list and watch, or the request failed.
    pub async fn resolve(&self, name: &str) -> Result<ApiResource, ResolveError> {
        resolve(&self.inner, name).await
    }

    /// What the client is doing now: its connections, and who waits for a list.
    #[must_use]
    pub fn status(&self) -> ClientStatus {
        ClientStatus::of(&self.inner)
    }

    /// Refers to this client without keeping it alive. Transports keep it alive, too.
    #[must_use]
    pub fn downgrade(&self) -> WeakClient {
        WeakClient {
            inner: Arc::downgrade(&self.inner),
        }
    }

    /// The same for all clones of this client, and for no other client while this one is there.
    #[must_use]
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    /// The configuration of this client.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }
}

/// Reads and writes single objects.
impl Caller for Client {
    fn call(&self, request: Call) -> Calling {
        call(&self.inner, request)
    }
}
