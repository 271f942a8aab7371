//! Clients of kube-rs.

use std::net::SocketAddr;

use informer::informer_transport_kube::kube;
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// A client without credentials.
pub(crate) fn plain(url: &str) -> Client {
    Client::try_from(Config::new(url.parse().unwrap())).unwrap()
}

/// A client as a kubeconfig describes it.
pub(crate) async fn from_kubeconfig(text: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(text).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Client::try_from(config.unwrap()).unwrap()
}

/// A running server, and its state.
pub(crate) async fn server() -> (SharedServer, Running) {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    (server, running)
}

/// A client for a server that a test plays itself.
pub(crate) fn at(address: SocketAddr) -> Client {
    plain(&format!("http://{address}"))
}
