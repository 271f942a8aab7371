//! Caches compared with the server over HTTP.

use std::time::Duration;

use informer::{Failure, InformerBuilder, NotVerified, Target};
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::json;

use crate::client;

const LONG: Duration = Duration::from_secs(120);

/// More than two pages.
const PODS: usize = 1_100;

#[tokio::test]
async fn a_cache_equals_its_server() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let pod = |name: String| json!({"metadata": {"namespace": "web", "name": name}});
    server.with(|server| {
        for number in 0..PODS {
            let pod = pod(format!("pod-{number}"));
            server.create("pods", pod).unwrap();
        }
    });
    let mut config = HttpConfig::new();
    config.token = Some("let-me-in".to_owned());
    let running = serve(server.clone(), config).await.unwrap();
    let client = client::from_kubeconfig(running.kubeconfig()).await;
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .start(&client)
        .unwrap();
    let verified = pods.verify(&client, LONG).await.unwrap();
    assert!(verified.is_consistent(), "{verified}");
    assert_eq!(verified.objects, PODS);

    // A server of the same age with one pod less, at other versions.
    let other = SharedServer::new(Server::new(ServerConfig::new(1)));
    other.with(|server| {
        server
            .create("nodes", json!({"metadata": {"name": "node-1"}}))
            .unwrap();
        for number in 1..PODS {
            let pod = pod(format!("pod-{number}"));
            server.create("pods", pod).unwrap();
        }
    });
    let running_other = serve(other, HttpConfig::new()).await.unwrap();
    let elsewhere = client::plain(running_other.url());
    let verified = pods.verify(&elsewhere, LONG).await.unwrap();
    assert_eq!(
        (verified.missing, verified.extra, verified.differing),
        (0, 1, 0),
        "{verified}"
    );
    assert_eq!(verified.differences.len(), 1);
    assert!(
        verified.to_string().contains("web/pod-0 is extra"),
        "{verified}"
    );

    // Without the token.
    let stranger = client::plain(running.url());
    let error = pods.verify(&stranger, LONG).await.unwrap_err();
    assert!(
        matches!(
            error,
            NotVerified::Failed {
                failure: Failure::Unauthorized,
                ..
            }
        ),
        "{error}"
    );
    running_other.stop().await;
    running.stop().await;
}
