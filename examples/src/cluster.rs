//! Which cluster: the flags that say so, and the mock where there are none.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use informer::{Client, Config, Notification};
use informer_core::Resource;
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{Server, ServerConfig};

/// The flags that name a cluster; all examples have them.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Cluster")]
#[non_exhaustive]
pub struct ClusterArgs {
    /// Use a context of this kubeconfig file
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Use this context instead of the current one
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,

    /// Use the API server at this URL
    #[arg(long, value_name = "URL", value_parser = server_url, conflicts_with_all = ["kubeconfig", "context"])]
    pub server: Option<String>,

    /// Show the bearer token in this file to the server, unless it is reached by plain http
    #[arg(long, value_name = "FILE", requires = "server")]
    pub token_file: Option<PathBuf>,

    /// Trust the certificates in this file and no others
    #[arg(long, value_name = "FILE", requires = "server")]
    pub ca: Option<PathBuf>,
}

/// A URL that can be used is known before anything is done.
fn server_url(text: &str) -> Result<String, String> {
    match Config::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl ClusterArgs {
    /// Whether a flag names a cluster.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some() || self.server.is_some()
    }

    /// The cluster that the flags name; without any, the one that kubectl would use.
    ///
    /// # Errors
    /// There is none, or what names it cannot be used.
    pub fn config(&self) -> Result<Config, Box<dyn Error>> {
        if let Some(url) = &self.server {
            let mut config = Config::new(url)?;
            if let Some(file) = &self.token_file {
                config = config.with_token_file(file);
            }
            if let Some(file) = &self.ca {
                config = config.with_ca_file(file);
            }
            return Ok(config);
        }
        Ok(match (&self.kubeconfig, self.context.as_deref()) {
            (Some(file), context) => Config::from_kubeconfig(file, context)?,
            (None, Some(context)) => Config::infer_context(context)?,
            (None, None) => Config::infer()?,
        })
    }
}

/// A cluster that answers, and the mock behind it if it is one.
#[derive(Debug)]
pub struct Cluster {
    client: Client,
    mock: Option<(SharedServer, Running)>,
}

impl Cluster {
    /// The cluster that the flags name; without any, a mock API server inside this program.
    ///
    /// # Errors
    /// The cluster cannot be used, or does not answer.
    pub async fn open(args: &ClusterArgs) -> Result<Self, Box<dyn Error>> {
        if !args.is_given() {
            return Self::mock(Server::new(ServerConfig::new(42))).await;
        }
        let client = Client::new(args.config()?)?;
        // An informer would try for ever; a person at a terminal wants to know now.
        client.get("/version").await?;
        Ok(Self { client, mock: None })
    }

    /// This mock API server, on a port of its own.
    ///
    /// # Errors
    /// There is no port to be had.
    pub async fn mock(server: Server) -> Result<Self, Box<dyn Error>> {
        Self::mock_with(server, HttpConfig::new()).await
    }

    /// The same, reached in another way; with faults, for example.
    ///
    /// # Errors
    /// It cannot listen there.
    pub async fn mock_with(server: Server, http: HttpConfig) -> Result<Self, Box<dyn Error>> {
        let server = SharedServer::new(server);
        let running = serve(server.clone(), http).await?;
        let client = Client::new(Config::new(running.url())?)?;
        Ok(Self {
            client,
            mock: Some((server, running)),
        })
    }

    /// What informers connect with.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Does to the mock what its users would do. A real cluster has users of its own.
    ///
    /// # Errors
    /// What the server refuses.
    pub fn play(
        &self,
        act: impl FnOnce(&mut Server) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        self.server().map_or(Ok(()), |server| server.with(act))
    }

    /// Whether it is a mock, so that the program ends when it has shown what it is about.
    #[must_use]
    pub const fn is_mock(&self) -> bool {
        self.mock.is_some()
    }

    /// Whether this is the last thing that the demonstrations on a mock have to tell: a deletion.
    #[must_use]
    pub const fn ends_with<T: Resource>(&self, change: &Notification<T>) -> bool {
        self.is_mock() && matches!(change, Notification::Deleted { .. })
    }

    /// The mock, for whoever plays the users of the cluster; `None` if the cluster is a real one.
    #[must_use]
    pub fn server(&self) -> Option<&SharedServer> {
        self.mock.as_ref().map(|(server, _)| server)
    }
}
