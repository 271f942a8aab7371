//! A client and informers without an async runtime of the user's: real sockets, plain threads.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::mpsc;
use std::time::Duration;

use informer::runtime::block_on;
use informer::{Client, Config, InformerBuilder, LeanBody, Notification, Object, Target};
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::json;
use tokio::runtime::{Handle, Runtime};

/// In real time, far longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

fn pods() -> Target {
    Target::new("", "v1", "pods")
}

/// An API server in a runtime that is not the program's.
struct Cluster {
    state: SharedServer,
    running: Running,
    runtime: Runtime,
}

impl Cluster {
    fn new(tls: bool) -> Self {
        let runtime = Runtime::new().unwrap();
        let state = SharedServer::new(Server::new(ServerConfig::new(1)));
        let mut config = HttpConfig::new();
        config.tls = tls;
        let running = runtime.block_on(serve(state.clone(), config)).unwrap();
        Self {
            state,
            running,
            runtime,
        }
    }

    /// Changes the server, and returns its version afterwards.
    fn write(&self, change: impl FnOnce(&mut Server)) -> String {
        self.state.with(|server| {
            change(server);
            server.version().to_string()
        })
    }

    /// A client that is created where no runtime is.
    fn client(&self) -> Client {
        assert!(Handle::try_current().is_err());
        let name = format!(
            "informer-threads-{}-{}",
            std::process::id(),
            self.running.address().port()
        );
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, self.running.kubeconfig()).unwrap();
        let config = Config::from_kubeconfig(&file, None).unwrap();
        std::fs::remove_file(file).unwrap();
        Client::new(config).unwrap()
    }
}

fn pod(name: &str) -> serde_json::Value {
    json!({"metadata": {"namespace": "web", "name": name}})
}

fn follows(tls: bool) {
    let cluster = Cluster::new(tls);
    cluster.write(|server| server.create("pods", pod("a")).map(drop).unwrap());
    let client = cluster.client();
    assert_eq!(block_on(client.resolve("po")).unwrap().kind, "Pod");

    let informer = InformerBuilder::lean_at(pods())
        .start_blocking(&client)
        .unwrap();
    informer.wait_synced(LONG).unwrap();
    assert_eq!(informer.lister().len(), 1);
    let (tell, told) = mpsc::channel();
    let handler = move |change: Notification<Object<LeanBody>>| {
        assert!(Handle::try_current().is_err(), "a plain thread");
        tell.send(change.to_string()).unwrap();
    };
    informer.on(handler).unwrap();
    assert_eq!(told.recv().unwrap(), "added web/a (initial, replay)");

    cluster.write(|server| server.create("pods", pod("b")).map(drop).unwrap());
    assert_eq!(told.recv().unwrap(), "added web/b (watch)");
    // Old versions are unknown after a restart, so the state is read again.
    let version = cluster.write(|server| {
        server.restart();
        server.delete("pods", "web/a").map(drop).unwrap();
    });
    block_on(informer.reached(&version, LONG)).unwrap();
    assert!(told.recv().unwrap().starts_with("deleted web/a "));

    informer.stop();
    block_on(informer.join());
    cluster.runtime.block_on(cluster.running.stop());
}

#[test]
fn a_plain_program_follows_a_plain_server() {
    follows(false);
}

#[test]
fn a_plain_program_follows_a_server_with_tls() {
    follows(true);
}

#[test]
fn a_plain_program_is_told_what_cannot_be_reached() {
    let client = Client::new(Config::new("http://127.0.0.1:1").unwrap()).unwrap();
    let informer = InformerBuilder::lean_at(pods())
        .start_blocking(&client)
        .unwrap();
    let error = informer
        .wait_synced(Duration::from_millis(300))
        .unwrap_err();
    assert!(error.reason.contains("connection refused"), "{error}");
}
