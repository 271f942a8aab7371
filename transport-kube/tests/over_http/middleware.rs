//! Layers of the service stack see every request of an informer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::informer_transport_kube::{KubeClient, kube};
use informer::{InformerBuilder, Target};
use kube::Config;
use kube::client::{Body, ClientBuilder};
use serde_json::json;
use tower::util::MapRequestLayer;

use crate::client;

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_layer_sees_lists_watches_and_discovery() {
    let (server, running) = client::server().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let layer = MapRequestLayer::new(move |request: http::Request<Body>| {
        note.lock().unwrap().push(request.uri().to_string());
        request
    });
    let config = Config::new(running.url().parse().unwrap());
    let builder = ClientBuilder::try_from(config).unwrap();
    let client = builder.with_layer(&layer).build();

    let mut listed = informer::InformerConfig::new();
    listed.reflector.first_state = informer::FirstState::Listed;
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).preset(listed);
    let pods = pods.start(&client).unwrap();
    pods.synced(LONG).await.unwrap();
    let version = server.with(|server| {
        let pod = json!({"metadata": {"namespace": "web", "name": "a"}});
        server.create("pods", pod).unwrap();
        server.version().to_string()
    });
    pods.reached(&version, LONG).await.unwrap();
    let client = KubeClient::new(client).unwrap();
    client.resolve("po").await.unwrap();

    let seen = seen.lock().unwrap().clone();
    let has = |part: &str| seen.iter().any(|uri| uri.contains(part));
    assert!(has("/api/v1/pods?limit="), "{seen:#?}");
    assert!(has("/api/v1/pods?allowWatchBookmarks=true"), "{seen:#?}");
    assert!(has("/apis"), "{seen:#?}");
    running.stop().await;
}
