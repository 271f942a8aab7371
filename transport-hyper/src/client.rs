//! One client for many informers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use informer_core::Failure;
use informer_core::transport::Target;
use tokio::runtime::Handle;

use crate::auth::Credentials;
use crate::budget::Budget;
use crate::config::Config;
use crate::exchange::{self, Failed};
use crate::net::Pool;
use crate::resource::TargetError;
use crate::tls::TlsSource;
use crate::transport::HyperTransport;

/// The largest body that [`Client::get`] reads.
const LARGEST_BODY: usize = 64 << 20;

/// A client of one API server. Clones share connections, credentials and the budget for lists.
///
/// ```no_run
/// use informer_transport_hyper::{Client, Config};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Config::infer()?)?;
/// let pods = client.resolve("pods").await?;
/// assert_eq!(pods.kind, "Pod");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

/// What clones share.
pub(crate) struct Inner {
    pub(crate) config: Arc<Config>,
    pub(crate) credentials: Credentials,
    /// `None` for a server that is reached without TLS.
    pub(crate) tls: Option<TlsSource>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) budget: Budget,
    pub(crate) runtime: Handle,
}

/// Why there is no client.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// It was made outside of a tokio runtime.
    NoRuntime,
    /// The certificates or the credentials of the configuration cannot be used.
    Unusable {
        /// Which, and why.
        reason: String,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => f.write_str(
                "a client needs a tokio runtime; make it in one, or enter one with `Handle::enter`",
            ),
            Self::Unusable { reason } => f.write_str(reason),
        }
    }
}

impl Error for ClientError {}

/// Why a request failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RequestError {
    /// The class of the failure.
    pub failure: Failure,
    /// What a person needs to know.
    pub message: String,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failure, message } = self;
        match failure {
            // A server says no more than this one word.
            Failure::Unauthorized => write!(f, "{failure} ({message})"),
            _ => f.write_str(message),
        }
    }
}

impl Error for RequestError {}

impl From<Failed> for RequestError {
    fn from(Failed { failure, message }: Failed) -> Self {
        Self { failure, message }
    }
}

impl Inner {
    /// Says why a server may not know who we are.
    pub(crate) fn explain(&self, failed: Failed) -> Failed {
        match self.credentials.withheld() {
            Some(why) if failed.failure == Failure::Unauthorized => Failed {
                message: format!("{}; {why}", failed.message),
                ..failed
            },
            _ => failed,
        }
    }
}

/// Says once for a client what is less safe than it looks.
fn warn_of_risks(config: &Config) {
    let url = config.server_url();
    if config.withholds_credentials() {
        tracing::warn!(
            server = url,
            "credentials are withheld from a server that is reached without TLS; use https://, or \
             allow it with `Config::with_credentials_over_http`"
        );
    } else if config.has_credentials_in_the_clear() {
        tracing::warn!(
            server = url,
            "credentials are sent without TLS: everybody on the way can read them"
        );
    }
    if config.server.tls && config.trust.insecure {
        tracing::warn!(
            server = url,
            "the certificate of the server is not checked (insecure-skip-tls-verify): whoever \
             answers is shown the credentials; name a certificate authority"
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
    /// A client whose connections live in the present tokio runtime. It connects when it must.
    ///
    /// # Errors
    /// There is no runtime, or a certificate or a file that the configuration names cannot be used.
    pub fn new(config: Config) -> Result<Self, ClientError> {
        let runtime = Handle::try_current().map_err(|_| ClientError::NoRuntime)?;
        let unusable = |reason: String| ClientError::Unusable { reason };
        let credentials = Credentials::new(&config).map_err(|error| unusable(error.message))?;
        let tls = config.server.tls.then(|| TlsSource::new(&config));
        if let Some(tls) = &tls {
            tls.current(None).map_err(|error| unusable(error.0))?;
        }
        warn_of_risks(&config);
        let budget = Budget::new(config.settings.max_lists.get());
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

    /// A transport for one informer.
    ///
    /// # Errors
    /// The parts of the target do not go together.
    pub fn transport(&self, target: &Target) -> Result<HyperTransport, TargetError> {
        HyperTransport::new(Arc::clone(&self.inner), target)
    }

    /// The body that the server answers to `GET path`; a path with its query, such as `/version`. It
    /// is read whole, up to 64 MiB.
    ///
    /// # Errors
    /// There is no successful answer.
    pub async fn get(&self, path: &str) -> Result<Bytes, RequestError> {
        self.get_as(path, "application/json", LARGEST_BODY).await
    }

    /// The same with a given `Accept` header, up to `largest` bytes.
    pub(crate) async fn get_as(
        &self,
        path: &str,
        accept: &'static str,
        largest: usize,
    ) -> Result<Bytes, RequestError> {
        let (inner, path) = (Arc::clone(&self.inner), path.to_owned());
        // Whoever waits for it may be in another runtime, or in none.
        let task = async move {
            inner.credentials.prepare().await;
            exchange::get(&inner, &path, accept, largest).await
        };
        match self.inner.runtime.spawn(task).await {
            Ok(answer) => Ok(answer.map_err(|failed| self.inner.explain(failed))?),
            Err(_) => Err(Failed::runtime_ended().into()),
        }
    }

    /// What it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }
}
