//! The flags that select a cluster.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use informer::Config;
use informer::informer_transport_hyper::Environment;

/// Without these flags, it is the cluster that kubectl would use.
#[derive(Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// Use this kubeconfig file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Use this context instead of the current one
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Use the API server at this URL
    #[arg(long, value_name = "URL", value_parser = server_url, conflicts_with_all = ["kubeconfig", "context"])]
    server: Option<String>,

    /// Send the bearer token in this file, but never over plain http
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,

    /// Trust only the certificate authorities in this file
    #[arg(long, value_name = "FILE", requires = "server")]
    ca: Option<PathBuf>,
}

/// Checks the URL while the flags are parsed.
fn server_url(text: &str) -> Result<String, String> {
    match Config::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl ClusterArgs {
    pub(crate) fn config(&self) -> Result<Config, Box<dyn Error>> {
        let Some(url) = &self.server else {
            return Ok(match (&self.kubeconfig, self.context.as_deref()) {
                (Some(file), context) => Config::from_kubeconfig(file, context)?,
                (None, Some(context)) => Config::infer_context(context)?,
                (None, None) => Config::infer()?,
            });
        };
        let mut config = Config::new(url)?.with_proxy_from(&Environment::current())?;
        if let Some(file) = &self.token_file {
            config = config.with_token_file(file);
        }
        if let Some(file) = &self.ca {
            config = config.with_ca_file(file);
        }
        Ok(config)
    }
}
