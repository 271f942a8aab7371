//! Informers that follow a server, and what they say if there is none.

use std::time::Duration;

use informer::informer_core::{Encoding, Encodings};
use informer::{InformerBuilder, LeanBody, MetadataBody, SharedInformer, Target};
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::json;

use crate::client;

const LONG: Duration = Duration::from_secs(120);

fn pod(name: &str) -> serde_json::Value {
    json!({"metadata": {"namespace": "web", "name": name, "labels": {"app": name}}})
}

/// Changes the server, and returns its version afterwards.
fn write(server: &SharedServer, change: impl FnOnce(&mut Server)) -> String {
    server.with(|server| {
        change(server);
        server.version().to_string()
    })
}

fn keys(informer: &SharedInformer<LeanBody>) -> Vec<String> {
    let mut keys: Vec<_> = informer
        .snapshot()
        .keys()
        .map(ToString::to_string)
        .collect();
    keys.sort();
    keys
}

async fn follows(tls: bool) {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    write(&server, |server| {
        server.create("pods", pod("a")).unwrap();
        server.create("pods", pod("b")).unwrap();
    });
    let mut config = HttpConfig::new();
    config.tls = tls;
    config.token = Some("let-me-in".to_owned());
    let running = serve(server.clone(), config).await.unwrap();

    // Connect with a kubeconfig, as users do.
    let client = client::from_kubeconfig(running.kubeconfig()).await;

    let target = || Target::new("", "v1", "pods");
    let all = InformerBuilder::lean_at(target()).start(&client).unwrap();
    let one = InformerBuilder::lean_at(target())
        .namespace("web")
        .labels("app=b");
    let one = one.start(&client).unwrap();
    let metadata: SharedInformer<MetadataBody> = InformerBuilder::metadata_at(target())
        .start(&client)
        .unwrap();
    all.synced(LONG).await.unwrap();
    one.synced(LONG).await.unwrap();
    metadata.synced(LONG).await.unwrap();
    assert_eq!(keys(&all), ["web/a", "web/b"]);
    assert_eq!(keys(&one), ["web/b"]);
    assert_eq!(metadata.lister().len(), 2);

    // The informer follows changes, even over a restart after which old versions are unknown.
    for round in 0..3 {
        let version = write(&server, |server| {
            server.create("pods", pod(&format!("c{round}"))).unwrap();
            server
                .delete("pods", if round == 0 { "web/a" } else { "web/c0" })
                .ok();
        });
        all.reached(&version, LONG).await.unwrap();
        server.with(Server::restart);
    }
    assert_eq!(keys(&all), ["web/b", "web/c1", "web/c2"]);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn informers_follow_a_plain_server() {
    follows(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn informers_follow_a_server_with_tls() {
    follows(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_comes_in_the_encoding_that_the_server_has() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    write(&server, |server| {
        server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
        server.create("pods", pod("a")).unwrap();
        server.create("widgets", pod("w")).unwrap();
    });
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let client = client::plain(running.url());
    let accepting = |target: Target, encodings| {
        let target = target.accepting(encodings);
        InformerBuilder::lean_at(target).start(&client).unwrap()
    };
    let widgets = || Target::new("example.com", "v1", "widgets");
    let all_pods = accepting(Target::new("", "v1", "pods"), Encodings::ProtobufOrJson);
    let all_widgets = accepting(widgets(), Encodings::ProtobufOrJson);
    all_pods.synced(LONG).await.unwrap();
    all_widgets.synced(LONG).await.unwrap();
    let read = all_pods.lister().get("web", "a").unwrap();
    assert_eq!(read.encoding(), Encoding::Protobuf);
    assert_eq!(read.labels().get("app"), Some("a"));
    let read = all_widgets.lister().get("web", "w").unwrap();
    assert_eq!(read.encoding(), Encoding::Json);

    // A list after a restart, and a watch.
    server.with(Server::restart);
    let version = write(&server, |server| {
        server.create("pods", pod("b")).unwrap();
        server.delete("pods", "web/a").unwrap();
    });
    all_pods.reached(&version, LONG).await.unwrap();
    assert_eq!(keys(&all_pods), ["web/b"]);

    // The refusal is protobuf, too.
    let only_protobuf = accepting(widgets(), Encodings::Protobuf);
    let error = only_protobuf.synced(Duration::from_millis(300)).await;
    let reason = error.unwrap_err().reason;
    assert!(
        reason.contains("only the following media types are accepted: application/json"),
        "{reason}"
    );
    running.stop().await;
}

#[tokio::test]
async fn errors_say_what_cannot_be_reached() {
    let nowhere = client::plain("http://127.0.0.1:1");
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .start(&nowhere)
        .unwrap();
    let error = pods.synced(Duration::from_millis(300)).await.unwrap_err();
    assert!(error.reason.contains("connection refused"), "{error}");

    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let running = serve(server, HttpConfig::new()).await.unwrap();
    let client = client::plain(running.url());
    let nosuch = InformerBuilder::lean_at(Target::new("example.com", "v1", "nosuch"));
    let error = nosuch
        .start(&client)
        .unwrap()
        .synced(Duration::from_millis(300))
        .await;
    let error = error.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("nosuch.v1.example.com is not synced"),
        "{error}"
    );
    assert!(
        error.reason.contains("does not serve this kind (404)"),
        "{error}"
    );
    running.stop().await;
}
