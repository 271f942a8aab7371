//! Where the cluster is, which certificates to trust and which credentials to use.

// What to write in place of an `auth-provider`.
mod auth_provider;

// The variables and files that `infer` looks at.
mod environment;

// Why a configuration cannot be used.
mod error;

// The service account of a pod.
mod in_cluster;

// The model of kubeconfig files, and how they are merged.
mod kubeconfig;

// The servers that `NO_PROXY` exempts.
mod no_proxy;

// Proxies on the way to the server.
mod proxy;

// From a kubeconfig context to a configuration.
mod resolve;

// Addresses of servers.
mod server;

// HTTP version, limits and timeouts.
mod settings;

use std::path::{Path, PathBuf};

pub use environment::Environment;
pub use error::ConfigError;
pub(crate) use proxy::{Login, Proxy, ProxyKind};
pub(crate) use server::Server;
pub use settings::{HttpVersion, Settings};

use crate::auth::{Authentication, Impersonation};
use crate::secret::Secret;
use crate::tls::Trust;
use kubeconfig::Kubeconfig;

/// Everything needed to reach a cluster: its address, trusted certificates, credentials and
/// connection settings.
///
/// Most programs call [`infer`](Self::infer), which finds what kubectl would use. To name a file or
/// context, use [`from_kubeconfig`](Self::from_kubeconfig). To configure by hand, start with
/// [`new`](Self::new):
///
/// ```
/// use informer_transport_hyper::{Config, Secret};
///
/// let config = Config::new("https://10.0.0.1:6443")?
///     .with_token(Secret::from("s3cret"))
///     .with_ca_file("/etc/cluster/ca.crt");
/// assert_eq!(config.server_url(), "https://10.0.0.1:6443");
/// assert_eq!(config.default_namespace(), "default");
/// assert!(!format!("{config:?}").contains("s3cret"));
/// # Ok::<(), informer_transport_hyper::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) server: Server,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) trust: Trust,
    pub(crate) compression: bool,
    pub(crate) identity: Option<Identity>,
    pub(crate) authentication: Authentication,
    /// Whether credentials may be sent over plain HTTP.
    pub(crate) plain_http: bool,
    pub(crate) impersonation: Option<Impersonation>,
    pub(crate) namespace: String,
    pub(crate) settings: Settings,
}

/// PEM text, either given or in a file that may be replaced at any time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Pem {
    File(PathBuf),
    Text(Secret),
}

/// A client certificate and its key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: Pem,
    pub(crate) key: Pem,
}

impl Config {
    /// Configures a server by URL, with the system's certificate authorities, no credentials and no proxy.
    ///
    /// # Errors
    /// The URL is not a valid server address.
    pub fn new(url: &str) -> Result<Self, ConfigError> {
        Ok(Self::of_server(Server::parse(url, &"the given server")?))
    }

    pub(crate) fn of_server(server: Server) -> Self {
        Self {
            server,
            proxy: None,
            trust: Trust::default(),
            compression: true,
            identity: None,
            authentication: Authentication::None,
            plain_http: false,
            impersonation: None,
            namespace: "default".to_owned(),
            settings: Settings::new(),
        }
    }

    /// Finds the configuration that kubectl would use.
    ///
    /// It tries the files named by `KUBECONFIG`, then `~/.kube/config`, then, inside a pod, the
    /// service account. A proxy is the `proxy-url` of the kubeconfig, or else what
    /// [`with_proxy_from`](Self::with_proxy_from) finds in the environment.
    ///
    /// # Errors
    /// None of these exists, or the one found cannot be used.
    pub fn infer() -> Result<Self, ConfigError> {
        Self::infer_from(&Environment::current())
    }

    /// Like [`infer`](Self::infer), in the given environment.
    ///
    /// # Errors
    /// The same as [`infer`](Self::infer).
    pub fn infer_from(environment: &Environment) -> Result<Self, ConfigError> {
        let mut tried = Vec::new();
        if let Some(files) = environment.kubeconfig_files(&mut tried) {
            return Self::read(&files, None, environment);
        }
        let config = in_cluster::config(environment, &mut tried)?;
        let config = config.ok_or(ConfigError::NotFound { tried })?;
        config.with_proxy_from(environment)
    }

    /// Finds the named context in the kubeconfig files that kubectl would use.
    ///
    /// # Errors
    /// No kubeconfig exists, or a file or the context cannot be used.
    pub fn infer_context(context: &str) -> Result<Self, ConfigError> {
        Self::infer_context_from(&Environment::current(), context)
    }

    /// Like [`infer_context`](Self::infer_context), in the given environment.
    ///
    /// # Errors
    /// The same as [`infer_context`](Self::infer_context).
    pub fn infer_context_from(
        environment: &Environment,
        context: &str,
    ) -> Result<Self, ConfigError> {
        let mut tried = Vec::new();
        // A service account has no contexts, so there is no fallback.
        match environment.kubeconfig_files(&mut tried) {
            Some(files) => Self::read(&files, Some(context), environment),
            None => Err(ConfigError::NotFound { tried }),
        }
    }

    /// Reads a context from a kubeconfig file; `None` means its `current-context`.
    ///
    /// Without a `proxy-url`, the proxy of the process's environment is used, if there is one.
    ///
    /// # Errors
    /// The file or the context cannot be used.
    pub fn from_kubeconfig(
        file: impl AsRef<Path>,
        context: Option<&str>,
    ) -> Result<Self, ConfigError> {
        Self::from_kubeconfigs(&[file.as_ref().to_owned()], context)
    }

    /// Reads a context from several kubeconfig files, merged as kubectl merges them.
    ///
    /// If two files define the same name, the earlier file wins. `None` means the `current-context`.
    ///
    /// # Errors
    /// A file or the context cannot be used.
    pub fn from_kubeconfigs(files: &[PathBuf], context: Option<&str>) -> Result<Self, ConfigError> {
        Self::read(files, context, &Environment::current())
    }

    fn read(
        files: &[PathBuf],
        context: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let mut merged = Kubeconfig::default();
        for file in files {
            merged.merge(Kubeconfig::read(file)?);
        }
        resolve::config(&merged, context)?.with_proxy_from(environment)
    }

    /// Uses the service account of the pod that this process runs in.
    ///
    /// # Errors
    /// The process does not run in a pod, or the files of the service account cannot be used.
    pub fn in_cluster() -> Result<Self, ConfigError> {
        let (environment, mut tried) = (Environment::current(), Vec::new());
        let config = in_cluster::config(&environment, &mut tried)?;
        let config = config.ok_or(ConfigError::NotFound { tried })?;
        config.with_proxy_from(&environment)
    }

    /// Authenticates with this bearer token.
    ///
    /// The token is not sent over plain `http://` unless
    /// [`with_credentials_over_http`](Self::with_credentials_over_http) allows it.
    #[must_use]
    pub fn with_token(mut self, token: Secret) -> Self {
        self.authentication = Authentication::Token(token);
        self
    }

    /// Authenticates with the bearer token in this file, which is read again for every request.
    #[must_use]
    pub fn with_token_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.authentication = Authentication::TokenFile {
            file: file.into(),
            fallback: None,
        };
        self
    }

    /// Allows credentials over plain `http://`, where anyone on the network path can read them.
    ///
    /// By default they are withheld, as kubectl does. A [`Client`] logs a warning either way.
    ///
    /// In a kubeconfig, an extension of the cluster does the same:
    ///
    /// ```yaml
    /// clusters:
    /// - name: mock
    ///   cluster:
    ///     server: http://127.0.0.1:8001
    ///     extensions:
    ///     - name: informer/credentials-over-http
    ///       extension: {allow: true}
    /// ```
    ///
    /// This applies to tokens, passwords and exec plugins. Impersonation headers are not secret and are
    /// always sent.
    ///
    /// [`Client`]: crate::Client
    #[must_use]
    pub const fn with_credentials_over_http(mut self) -> Self {
        self.plain_http = true;
        self
    }

    /// Trusts only the certificate authorities in this file, which is read again for every connection.
    #[must_use]
    pub fn with_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.trust.ca = Some(Pem::File(file.into()));
        self
    }

    /// Authenticates with this client certificate and key, which are read again for every connection.
    #[must_use]
    pub fn with_client_certificate_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.identity = Some(Identity {
            certificate: Pem::File(certificate.into()),
            key: Pem::File(key.into()),
        });
        self
    }

    /// Reaches the server through this proxy: `http://`, `https://`, `socks5://` or `socks5h://`.
    ///
    /// The URL may have a user and a password, which are never printed. The certificate of an `https://`
    /// proxy must be valid for its host, by the authorities of the system or of the cluster. A socks5
    /// proxy looks up the name of the server.
    ///
    /// ```
    /// use informer_transport_hyper::Config;
    ///
    /// let config = Config::new("https://10.0.0.1:6443")?.with_proxy("socks5://me:s3cret@bastion:1080")?;
    /// assert_eq!(config.proxy_url().as_deref(), Some("socks5://bastion:1080"));
    /// assert!(!format!("{config:?}").contains("s3cret"));
    /// # Ok::<(), informer_transport_hyper::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The URL is not that of a proxy.
    pub fn with_proxy(mut self, url: &str) -> Result<Self, ConfigError> {
        self.proxy = Some(Proxy::parse(url, &"the given proxy", "with_proxy")?);
        Ok(self)
    }

    /// Reaches the server through the proxy that this environment names, unless there is one already.
    ///
    /// As in kubectl and client-go, `HTTPS_PROXY` applies to servers at `https://`, `HTTP_PROXY` to those
    /// at `http://`, and neither to localhost, loopback addresses, and what `NO_PROXY` exempts.
    ///
    /// ```
    /// use informer_transport_hyper::{Config, Environment};
    ///
    /// let mut environment = Environment::default();
    /// environment.https_proxy = Some("http://me:s3cret@proxy:3128".into());
    /// environment.no_proxy = Some("10.0.0.0/8,.internal".to_owned());
    ///
    /// let proxy_to = |url: &str| Config::new(url)?.with_proxy_from(&environment);
    /// let config = proxy_to("https://kube.example.org:6443")?;
    /// assert_eq!(config.proxy_url().as_deref(), Some("http://proxy:3128"));
    /// assert_eq!(proxy_to("https://10.0.0.1:6443")?.proxy_url(), None);
    /// # Ok::<(), informer_transport_hyper::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The variable that applies to this server does not contain the URL of a proxy.
    pub fn with_proxy_from(mut self, environment: &Environment) -> Result<Self, ConfigError> {
        if self.proxy.is_none() {
            self.proxy = Proxy::of_environment(environment, &self.server)?;
        }
        Ok(self)
    }

    /// Reaches the server without a proxy, whatever the kubeconfig and the environment say.
    #[must_use]
    pub fn without_proxy(mut self) -> Self {
        self.proxy = None;
        self
    }

    /// Replaces the connection settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The URL of the API server.
    #[must_use]
    pub fn server_url(&self) -> String {
        self.server.url()
    }

    /// The URL of the proxy, without its credentials.
    #[must_use]
    pub fn proxy_url(&self) -> Option<String> {
        self.proxy.as_ref().map(Proxy::url)
    }

    /// The server and the way to it, for messages.
    pub(crate) fn route(&self) -> String {
        let url = self.server.url();
        match &self.proxy {
            Some(proxy) => format!("{url} (through the proxy {})", proxy.authority()),
            None => url,
        }
    }

    /// The proxy that is sent the requests themselves: over plain HTTP there is nothing to hide from it, and
    /// many allow tunnels only to port 443. HTTP/2 without TLS works only in a tunnel.
    pub(crate) fn forwarder(&self) -> Option<&Proxy> {
        let is_plain = !self.server.tls && self.settings.http != HttpVersion::Http2;
        let proxy = self.proxy.as_ref().filter(|_| is_plain)?;
        (proxy.kind != ProxyKind::Socks5).then_some(proxy)
    }

    /// The namespace of the context or service account, or `default`.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        &self.namespace
    }

    /// Whether there are credentials that are not sent because the server is reached without TLS.
    pub(crate) const fn withholds_credentials(&self) -> bool {
        self.has_credentials_in_the_clear() && !self.plain_http
    }

    /// Whether there are credentials for a server that is reached without TLS.
    pub(crate) const fn has_credentials_in_the_clear(&self) -> bool {
        !self.server.tls && !matches!(self.authentication, Authentication::None)
    }

    /// The connection settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}
