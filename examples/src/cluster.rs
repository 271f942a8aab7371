//! The cluster to use: flags for a real one, or a mock server by default.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use informer::informer_transport_hyper::Environment;
use informer::{Client, Config};
use informer_transport_mock::http::{HttpConfig, Running, ServeError, SharedServer, serve};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{Server, ServerConfig};

/// The flags that select a cluster, shared by all examples.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Cluster")]
#[non_exhaustive]
pub struct ClusterArgs {
    /// Use this kubeconfig file
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Use this context instead of the current one
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,

    /// Use the API server at this URL
    #[arg(long, value_name = "URL", value_parser = server_url, conflicts_with_all = ["kubeconfig", "context"])]
    pub server: Option<String>,
}

/// Checks the URL while the flags are parsed.
fn server_url(text: &str) -> Result<String, String> {
    match Config::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl ClusterArgs {
    /// Whether a flag selects a cluster.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some() || self.server.is_some()
    }

    /// Returns the cluster of the flags, or the one that kubectl would use.
    ///
    /// # Errors
    /// There is no configuration, or it is invalid.
    pub fn config(&self) -> Result<Config, Box<dyn Error>> {
        if let Some(url) = &self.server {
            return Ok(Config::new(url)?.with_proxy_from(&Environment::current())?);
        }
        Ok(match (&self.kubeconfig, self.context.as_deref()) {
            (Some(file), context) => Config::from_kubeconfig(file, context)?,
            (None, Some(context)) => Config::infer_context(context)?,
            (None, None) => Config::infer()?,
        })
    }
}

/// A cluster that answers, real or mock.
#[derive(Debug)]
pub struct Cluster {
    client: Client,
    mock: Option<Mock>,
}

#[derive(Debug)]
struct Mock {
    server: SharedServer,
    address: SocketAddr,
    /// `None` while it is stopped.
    running: Option<Running>,
}

impl Cluster {
    /// Opens the cluster of the flags, or a mock API server inside this program.
    ///
    /// # Errors
    /// The configuration is invalid, or the cluster does not answer.
    pub async fn open(args: &ClusterArgs) -> Result<Self, Box<dyn Error>> {
        if !args.is_given() {
            return Self::mock(Server::new(ServerConfig::new(42))).await;
        }
        let client = Client::new(args.config()?)?;
        // An informer would retry for ever, but a user at a terminal wants an error now.
        client.get("/version").await?;
        Ok(Self { client, mock: None })
    }

    /// Serves a mock API server on a free port.
    ///
    /// # Errors
    /// There is no free port.
    pub async fn mock(server: Server) -> Result<Self, Box<dyn Error>> {
        Self::mock_with(server, HttpConfig::new()).await
    }

    /// Serves a mock API server with these HTTP settings, for example with faults.
    ///
    /// # Errors
    /// It cannot listen on the address.
    pub async fn mock_with(server: Server, http: HttpConfig) -> Result<Self, Box<dyn Error>> {
        let server = SharedServer::new(server);
        let running = serve(server.clone(), http).await?;
        let client = Client::new(Config::new(running.url())?)?;
        let mock = Mock {
            server,
            address: running.address(),
            running: Some(running),
        };
        Ok(Self {
            client,
            mock: Some(mock),
        })
    }

    /// Breaks all connections to the mock server, and lets it refuse new ones.
    pub async fn stop(&mut self) {
        if let Some(running) = self.mock.as_mut().and_then(|mock| mock.running.take()) {
            running.stop().await;
        }
    }

    /// Starts a stopped mock server again. It has all objects, but no watch can go on where it was cut.
    ///
    /// # Errors
    /// It cannot listen on its address again.
    pub async fn serve_again(&mut self) -> Result<(), ServeError> {
        if let Some(mock) = &mut self.mock
            && mock.running.is_none()
        {
            mock.server.with(Server::restart);
            let mut http = HttpConfig::new();
            http.address = mock.address;
            mock.running = Some(serve(mock.server.clone(), http).await?);
        }
        Ok(())
    }

    /// The client for informers.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Changes the mock server, in place of its users. Does nothing to a real cluster.
    ///
    /// # Errors
    /// The server refuses the change.
    pub fn play(
        &self,
        act: impl FnOnce(&mut Server) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        self.server().map_or(Ok(()), |server| server.with(act))
    }

    /// Whether this is a mock server. The program then ends by itself.
    #[must_use]
    pub const fn is_mock(&self) -> bool {
        self.mock.is_some()
    }

    /// The mock server; `None` for a real cluster.
    #[must_use]
    pub fn server(&self) -> Option<&SharedServer> {
        self.mock.as_ref().map(|mock| &mock.server)
    }
}
