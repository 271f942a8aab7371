//! Informers that stop reading in the middle of a list do not hold up others.

use std::time::Duration;

use informer::{Backlog, FirstState, InformerBuilder, InformerConfig, LeanBody, Target};
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::json;

use crate::client;

const LONG: Duration = Duration::from_secs(60);

/// As many as may list at the same time by default.
const INFORMERS: usize = 8;

fn builder(plural: &str, first_state: FirstState) -> InformerBuilder<LeanBody> {
    let mut config = InformerConfig::new();
    config.reflector.first_state = first_state;
    InformerBuilder::lean_at(Target::new("", "v1", plural)).preset(config)
}

/// Handlers of eight informers wait for the sync of a ninth, whose list must not wait for theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_may_wait_for_the_sync_of_another_informer() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    server.with(|server| {
        // More than the buffers between server and handler can hold.
        let note = "x".repeat(16 << 10);
        for number in 0..64 {
            let name = format!("pod-{number}");
            let pod = json!({"metadata": {"namespace": "web", "name": name, "annotations": {"note": note}}});
            server.create("pods", pod).unwrap();
        }
        server
            .create("nodes", json!({"metadata": {"name": "node-1"}}))
            .unwrap();
    });
    let running = serve(server, HttpConfig::new()).await.unwrap();
    for first_state in [FirstState::Listed, FirstState::Streamed] {
        let client = client::plain(running.url());
        let nodes = builder("nodes", first_state)
            .build(&client, informer::runtime::Tokio::current().unwrap())
            .unwrap();
        let mut handlers = Vec::new();
        let mut informers = Vec::new();
        for _ in 0..INFORMERS {
            let pods = builder("pods", first_state).backlog(Backlog::Stall { at: 1 });
            let pods = pods
                .build(&client, informer::runtime::Tokio::current().unwrap())
                .unwrap();
            let mut told = pods.stream().unwrap();
            pods.start().unwrap();
            informers.push(pods);
            assert!(told.next().await.is_some());
            let nodes = nodes.clone();
            handlers.push(tokio::spawn(async move {
                nodes.synced(LONG).await.unwrap();
                while told.next().await.is_some() {}
            }));
        }
        nodes.start().unwrap();
        nodes.synced(LONG).await.unwrap();
        for pods in &informers {
            pods.synced(LONG).await.unwrap();
            assert_eq!(pods.lister().len(), 64);
        }
        drop(informers);
        handlers.iter().for_each(|handler| handler.abort());
    }
    running.stop().await;
}
