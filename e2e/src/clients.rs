//! Clients over hyper.

use std::path::Path;
use std::time::Duration;

pub(crate) use informer::Client;
use informer::Config;
use informer_e2e::Outcome;
use informer_transport_hyper::Settings;

use crate::scenarios::Scenario;

/// The most connections that two hundred watches take: this server allows at least a hundred streams on one.
pub(crate) const CONNECTIONS: usize = 3;

/// The client of a user.
pub(crate) async fn of(kubeconfig: &Path, user: &str) -> Outcome<Client> {
    Ok(Client::new(Config::from_kubeconfig(
        kubeconfig,
        Some(user),
    )?)?)
}

/// A client that notices faults soon.
pub(crate) async fn watchful(kubeconfig: &Path, user: &str) -> Outcome<Client> {
    let mut settings = Settings::new();
    settings.keep_alive_interval = Duration::from_secs(3);
    settings.keep_alive_timeout = Duration::from_secs(2);
    settings.connect_timeout = Duration::from_secs(5);
    let config = Config::from_kubeconfig(kubeconfig, Some(user))?;
    Ok(Client::new(config.with_settings(settings))?)
}

/// Scenarios for these clients alone.
pub(crate) const OWN: &[(&str, Scenario)] = &[];
