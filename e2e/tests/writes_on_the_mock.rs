//! The mock is asked what the real server is asked about writes: in memory and over HTTP.
#![allow(clippy::unwrap_used, reason = "tests")]

use informer::informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer::informer_transport_mock::{MockServer, Server, ServerConfig, VirtualClock};
use informer::{Calls, Client, Config, Connect};
use informer_e2e::{kit, writes::writes};
use serde_json::json;

async fn all(client: &(impl Calls + Connect)) {
    writes(client, "writes").await.unwrap();
    kit::finalizers(client, "finalizers").await.unwrap();
    kit::events(client, "events").await.unwrap();
}

fn create_namespaces(server: &mut Server) {
    for name in ["writes", "finalizers", "events"] {
        let namespace = json!({"metadata": {"name": name}});
        server.create("namespaces", namespace).unwrap();
    }
}

#[tokio::test]
async fn in_memory() {
    let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    server.with(create_namespaces);
    all(&server).await;
}

#[tokio::test]
async fn over_http() {
    let mut server = Server::new(ServerConfig::new(1));
    create_namespaces(&mut server);
    let running = serve(SharedServer::new(server), HttpConfig::new())
        .await
        .unwrap();
    all(&Client::new(Config::new(running.url()).unwrap()).unwrap()).await;
    running.stop().await;
}
