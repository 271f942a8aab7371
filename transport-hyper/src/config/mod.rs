//! Where the cluster is, whom to trust and who we are.

// Where programs look for their configuration.
mod environment;

// What can be wrong.
mod error;

// What a pod is told about its cluster.
mod in_cluster;

// The files called kubeconfig.
mod kubeconfig;

// A context of a kubeconfig becomes a configuration.
mod resolve;

// Addresses.
mod server;

// How connections are made and kept.
mod settings;

use std::path::{Path, PathBuf};

pub use environment::Environment;
pub use error::ConfigError;
pub(crate) use server::{Proxy, Server};
pub use settings::{HttpVersion, Settings};

use crate::auth::{Authentication, Impersonation};
use crate::secret::Secret;
use crate::tls::Trust;
use kubeconfig::Kubeconfig;

/// Where the cluster is, whom to trust, who we are, and how to connect.
///
/// ```
/// use informer_transport_hyper::{Config, Secret};
///
/// let config = Config::new("https://10.0.0.1:6443")?
///     .with_token(Secret::from("s3cret".to_owned()))
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
    /// Whether credentials may go to a server that is reached without TLS.
    pub(crate) plain_http: bool,
    pub(crate) impersonation: Option<Impersonation>,
    pub(crate) namespace: String,
    pub(crate) settings: Settings,
}

/// PEM text: in a file, which may be replaced at any time, or given.
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
    /// A server by its URL, trusted by the roots of the system and with no credentials.
    ///
    /// # Errors
    /// The URL cannot be used.
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

    /// What kubectl would use: the files named by `KUBECONFIG`, else `~/.kube/config`, else, in a
    /// pod, the service account.
    ///
    /// # Errors
    /// There is nothing at any of these places, or it cannot be used.
    pub fn infer() -> Result<Self, ConfigError> {
        Self::infer_from(&Environment::of_process())
    }

    /// The same as [`infer`](Self::infer) in an environment of your choice.
    ///
    /// # Errors
    /// As for [`infer`](Self::infer).
    pub fn infer_from(environment: &Environment) -> Result<Self, ConfigError> {
        let mut tried = Vec::new();
        if let Some(files) = environment.kubeconfig_files(&mut tried) {
            return Self::from_kubeconfigs(&files, None);
        }
        in_cluster::config(environment, &mut tried)?.ok_or(ConfigError::NotFound { tried })
    }

    /// The context of this name in the files that kubectl would use.
    ///
    /// # Errors
    /// There are no such files, or they or the context cannot be used.
    pub fn infer_context(context: &str) -> Result<Self, ConfigError> {
        Self::infer_context_from(&Environment::of_process(), context)
    }

    /// The same as [`infer_context`](Self::infer_context) in an environment of your choice.
    ///
    /// # Errors
    /// As for [`infer_context`](Self::infer_context).
    pub fn infer_context_from(
        environment: &Environment,
        context: &str,
    ) -> Result<Self, ConfigError> {
        let mut tried = Vec::new();
        // A pod knows no contexts: there is nothing to fall back to.
        match environment.kubeconfig_files(&mut tried) {
            Some(files) => Self::from_kubeconfigs(&files, Some(context)),
            None => Err(ConfigError::NotFound { tried }),
        }
    }

    /// A context of a kubeconfig file; `None` for its current one.
    ///
    /// # Errors
    /// The file or the context cannot be used.
    pub fn from_kubeconfig(
        file: impl AsRef<Path>,
        context: Option<&str>,
    ) -> Result<Self, ConfigError> {
        Self::from_kubeconfigs(&[file.as_ref().to_owned()], context)
    }

    /// A context of several kubeconfig files, merged as kubectl merges them: what an earlier file says
    /// about a name counts. `None` for the current context.
    ///
    /// # Errors
    /// A file or the context cannot be used.
    pub fn from_kubeconfigs(files: &[PathBuf], context: Option<&str>) -> Result<Self, ConfigError> {
        let mut merged = Kubeconfig::default();
        for file in files {
            merged.merge(Kubeconfig::read(file)?);
        }
        resolve::config(&merged, context)
    }

    /// The service account of the pod we run in.
    ///
    /// # Errors
    /// We do not run in a pod, or its files cannot be used.
    pub fn in_cluster() -> Result<Self, ConfigError> {
        let mut tried = Vec::new();
        in_cluster::config(&Environment::of_process(), &mut tried)?
            .ok_or(ConfigError::NotFound { tried })
    }

    /// With this bearer token. It is withheld from a server that is reached by plain `http://`, unless
    /// [`with_credentials_over_http`](Self::with_credentials_over_http) allows it.
    #[must_use]
    pub fn with_token(mut self, token: Secret) -> Self {
        self.authentication = Authentication::Token(token);
        self
    }

    /// With the bearer token in this file, which is read again for every request.
    #[must_use]
    pub fn with_token_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.authentication = Authentication::TokenFile {
            file: file.into(),
            fallback: None,
        };
        self
    }

    /// With credentials also for a server that is reached by plain `http://`, where everybody on the
    /// way can read them. By default they are withheld from it, as kubectl does; a [`Client`] warns
    /// either way.
    ///
    /// A kubeconfig allows the same with an extension of its cluster:
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
    /// This is about tokens, passwords and exec plugins. An impersonation is no secret and is always
    /// sent.
    ///
    /// [`Client`]: crate::Client
    #[must_use]
    pub const fn with_credentials_over_http(mut self) -> Self {
        self.plain_http = true;
        self
    }

    /// Trusting the certificates in this file and no others. It is read again for every connection.
    #[must_use]
    pub fn with_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.trust.ca = Some(Pem::File(file.into()));
        self
    }

    /// Showing this certificate, with its key. The files are read again for every connection.
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

    /// With other settings for connections.
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

    /// The namespace that the context or the service account names; else `default`.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        &self.namespace
    }

    /// Whether there are credentials that the server is not shown, as it is reached without TLS.
    pub(crate) const fn withholds_credentials(&self) -> bool {
        self.has_credentials_in_the_clear() && !self.plain_http
    }

    /// Whether there are credentials for a server that is reached without TLS.
    pub(crate) const fn has_credentials_in_the_clear(&self) -> bool {
        !self.server.tls && !matches!(self.authentication, Authentication::None)
    }

    /// How connections are made and kept.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}
