//! Clients of kube-rs.

use std::path::Path;
use std::time::Duration;

use informer_e2e::Outcome;
pub(crate) use kube::Client;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::derived::derived_kind;
use crate::scenarios::Scenario;

/// The most connections that two hundred watches take: one for each over HTTP/1.1, and those that lists have left.
pub(crate) const CONNECTIONS: usize = 220;

/// The client of a user.
pub(crate) async fn of(kubeconfig: &Path, user: &str) -> Outcome<Client> {
    Ok(Client::try_from(config(kubeconfig, user).await?)?)
}

/// A client that notices faults soon.
pub(crate) async fn watchful(kubeconfig: &Path, user: &str) -> Outcome<Client> {
    let mut config = config(kubeconfig, user).await?;
    config.connect_timeout = Some(Duration::from_secs(5));
    Ok(Client::try_from(config)?)
}

async fn config(kubeconfig: &Path, user: &str) -> Outcome<Config> {
    let options = KubeConfigOptions {
        context: Some(user.to_owned()),
        ..KubeConfigOptions::default()
    };
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &options).await?)
}

/// Scenarios for these clients alone.
pub(crate) const OWN: &[(&str, Scenario)] =
    &[("derived_kind", |world| Box::pin(derived_kind(world)))];
