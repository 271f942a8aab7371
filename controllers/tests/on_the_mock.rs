//! Runs each controller against a mock API server over HTTP, through the same life.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::Stdio;
use std::time::Duration;

use informer::{Client, Config, InformerBuilder, Notification, Notifications, Object, Target};
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Far longer than any of them takes.
const LATE: Duration = Duration::from_secs(60);

/// What the controllers write, as it becomes visible.
struct Secrets {
    changes: Notifications<Value>,
}

impl Secrets {
    /// Waits for a Secret with this data.
    async fn wait_for(&mut self, key: &str, data: &Value) -> Object<Value> {
        self.wait_until(key, |secret| secret.get("data") == Some(data))
            .await
    }

    async fn wait_for_key(&mut self, key: &str) -> Object<Value> {
        self.wait_until(key, |_| true).await
    }

    async fn wait_until(&mut self, key: &str, wanted: impl Fn(&Value) -> bool) -> Object<Value> {
        let found = timeout(LATE, async {
            loop {
                let change = self.changes.next().await.unwrap();
                if let Notification::Added { object, .. }
                | Notification::Updated { new: object, .. } = change
                    && object.key().as_str() == key
                    && wanted(&object)
                {
                    return object;
                }
            }
        });
        found
            .await
            .unwrap_or_else(|_| panic!("no such Secret: {key}"))
    }
}

fn config_map(name: &str, value: &str) -> Value {
    json!({
        "metadata": {"namespace": "web", "name": name, "labels": {"copy-to": "secret"}},
        "data": {"colour": value},
    })
}

/// `blue`, `red` and `green` as a Secret has them.
fn encoded(colour: &str) -> Value {
    let base64 = match colour {
        "blue" => "Ymx1ZQ==",
        "red" => "cmVk",
        "green" => "Z3JlZW4=",
        other => panic!("{other}"),
    };
    json!({"colour": base64})
}

async fn check(program: &str) {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, running.kubeconfig()).unwrap();
    let client = Client::new(Config::new(running.url()).unwrap()).unwrap();
    let watched = InformerBuilder::dynamic_at(Target::new("", "v1", "secrets"))
        .start(&client)
        .unwrap();
    let mut secrets = Secrets {
        changes: watched.stream().unwrap(),
    };

    // One before it starts, and one that is not to be copied.
    let other =
        json!({"metadata": {"namespace": "web", "name": "other"}, "data": {"colour": "blue"}});
    server.with(|server| {
        server
            .create("configmaps", config_map("first", "blue"))
            .unwrap();
        server.create("configmaps", other).unwrap();
    });
    let mut controller = start(program, &kubeconfig);
    let first = secrets.wait_for("web/first", &encoded("blue")).await;
    let owner = first.controller().unwrap();
    assert_eq!(
        (owner.group(), &*owner.kind, &*owner.name),
        ("", "ConfigMap", "first")
    );

    // One more, a change, and a Secret that somebody changes or deletes.
    server.with(|server| {
        server
            .create("configmaps", config_map("second", "blue"))
            .unwrap()
    });
    secrets.wait_for("web/second", &encoded("blue")).await;
    server.with(|server| {
        server
            .update("configmaps", config_map("second", "red"))
            .unwrap()
    });
    secrets.wait_for("web/second", &encoded("red")).await;
    let meddled = json!({"data": {"colour": "Z3JlZW4="}});
    server.with(|server| server.patch("secrets", "web/second", meddled).unwrap());
    secrets.wait_for("web/second", &encoded("green")).await;
    secrets.wait_for("web/second", &encoded("red")).await;
    server.with(|server| server.delete("secrets", "web/first").unwrap());
    secrets.wait_for("web/first", &encoded("blue")).await;

    // A Secret of somebody else is in the way until it is deleted. Nothing but a retry notices.
    let foreign =
        json!({"metadata": {"namespace": "web", "name": "third"}, "data": {"colour": "Z3JlZW4="}});
    server.with(|server| {
        server.create("secrets", foreign).unwrap();
        server
            .create("configmaps", config_map("third", "blue"))
            .unwrap();
    });
    secrets.wait_for("web/third", &encoded("green")).await;
    server.with(|server| server.delete("secrets", "web/third").unwrap());
    secrets.wait_for("web/third", &encoded("blue")).await;
    assert_eq!(
        watched.lister().len(),
        3,
        "the other ConfigMap is not copied"
    );

    // A ConfigMap without data gives a Secret without data, once.
    let empty =
        json!({"metadata": {"namespace": "web", "name": "empty", "labels": {"copy-to": "secret"}}});
    server.with(|server| server.create("configmaps", empty).unwrap());
    let first = secrets.wait_for_key("web/empty").await;
    server.with(|server| {
        server
            .create("configmaps", config_map("last", "red"))
            .unwrap()
    });
    secrets.wait_for("web/last", &encoded("red")).await;
    let now = watched.lister().get("web", "empty").unwrap();
    assert_eq!(now.version(), first.version(), "it was written again");

    // It ends in good order.
    let id = Pid::from_raw(controller.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    let ended = timeout(LATE, controller.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "{program}: {ended}");
    running.stop().await;
}

fn start(program: &str, kubeconfig: &std::path::Path) -> Child {
    Command::new(program)
        .env("KUBECONFIG", kubeconfig)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

#[tokio::test]
async fn the_controller_with_informer() {
    check(env!("CARGO_BIN_EXE_with_informer")).await;
}

#[tokio::test]
async fn the_controller_with_kube_rs() {
    check(env!("CARGO_BIN_EXE_with_kube_rs")).await;
}

/// `controllers/run` builds it and names it in the environment, if there is a Go compiler.
#[tokio::test]
async fn the_controller_with_client_go() {
    match std::env::var("CONTROLLER_WITH_CLIENT_GO") {
        Ok(program) => check(&program).await,
        Err(_) => {
            eprintln!("skipped: CONTROLLER_WITH_CLIENT_GO is not set; controllers/run sets it")
        }
    }
}
