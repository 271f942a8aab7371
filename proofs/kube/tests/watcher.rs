//! kube-rs's watcher with both of its strategies, against the mock API server over HTTP.

use std::collections::BTreeSet;
use std::pin::pin;

use futures_util::{Stream, StreamExt as _};
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use k8s_openapi::api::core::v1::Pod;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Config, ResourceExt as _};
use serde_json::{Value, json};

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": []}})
}

async fn start(config: HttpConfig) -> (SharedServer, Running, Api<Pod>) {
    let mut server = Server::new(ServerConfig::new(7));
    for name in ["a", "b", "c"] {
        server.create("pods", pod(name)).unwrap();
    }
    let server = SharedServer::new(server);
    let running = serve(server.clone(), config).await.unwrap();
    let kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    (server, running, Api::all(client))
}

/// A page size of two, so that there is more than one page.
fn strategies() -> [watcher::Config; 2] {
    [
        watcher::Config::default().page_size(2),
        watcher::Config::default().streaming_lists(),
    ]
}

/// A summary of the next event. The watcher retries by itself after an error.
async fn next(events: &mut (impl Stream<Item = watcher::Result<Event<Pod>>> + Unpin)) -> String {
    loop {
        match events.next().await.expect("a watcher never ends") {
            Ok(Event::Init) => return "init".to_owned(),
            Ok(Event::InitApply(pod)) => return format!("init {}", pod.name_any()),
            Ok(Event::InitDone) => return "synced".to_owned(),
            Ok(Event::Apply(pod)) => return format!("apply {}", pod.name_any()),
            Ok(Event::Delete(pod)) => return format!("delete {}", pod.name_any()),
            Err(_) => {}
        }
    }
}

async fn expect(
    events: &mut (impl Stream<Item = watcher::Result<Event<Pod>>> + Unpin),
    expected: &[&str],
) {
    for expected in expected {
        assert_eq!(next(events).await, *expected);
    }
}

#[tokio::test]
async fn it_syncs_and_follows_changes() {
    for tls in [false, true] {
        for strategy in strategies() {
            let mut config = HttpConfig::new();
            config.tls = tls;
            config.token = Some("secret".to_owned());
            let (server, _running, pods) = start(config).await;
            let mut events = pin!(watcher(pods, strategy));
            expect(
                &mut events,
                &["init", "init a", "init b", "init c", "synced"],
            )
            .await;

            server
                .with(|server| server.create("pods", pod("d")))
                .unwrap();
            expect(&mut events, &["apply d"]).await;
            let label = json!({"metadata": {"labels": {"app": "db"}}});
            server
                .with(|server| server.patch("pods", "a", label))
                .unwrap();
            server.with(|server| server.delete("pods", "b")).unwrap();
            expect(&mut events, &["apply a", "delete b"]).await;
        }
    }
}

#[tokio::test]
async fn a_selector_turns_changes_into_deletions() {
    for strategy in strategies() {
        let (server, _running, pods) = start(HttpConfig::new()).await;
        let mut events = pin!(watcher(pods, strategy.labels("app=web")));
        expect(
            &mut events,
            &["init", "init a", "init b", "init c", "synced"],
        )
        .await;
        let label = json!({"metadata": {"labels": {"app": "db"}}});
        server
            .with(|server| server.patch("pods", "a", label))
            .unwrap();
        expect(&mut events, &["delete a"]).await;
    }
}

/// After a restart without history, the watcher lists again.
#[tokio::test]
async fn it_recovers_from_a_restart() {
    for strategy in strategies() {
        let (server, _running, pods) = start(HttpConfig::new()).await;
        let mut events = pin!(watcher(pods, strategy));
        expect(
            &mut events,
            &["init", "init a", "init b", "init c", "synced"],
        )
        .await;
        server.with(|server| {
            server.restart();
            server.delete("pods", "a").unwrap();
            server.create("pods", pod("d")).unwrap();
            server.forget_changes();
        });
        assert_eq!(next(&mut events).await, "init");
        let mut names = BTreeSet::new();
        loop {
            match next(&mut events).await.as_str() {
                "synced" => break,
                "init" => names.clear(),
                event => {
                    names.insert(event.to_owned());
                }
            }
        }
        assert_eq!(
            names,
            ["init b", "init c", "init d"].map(str::to_owned).into()
        );
    }
}
