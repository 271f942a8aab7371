//! The hello world of the README, with a `kube::Client` in the place of ours.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::client;

const README: &str = include_str!("../../../README.md");
const HELLO: &str = include_str!("../../examples/hello.rs");

const LONG: Duration = Duration::from_secs(60);

#[test]
fn only_the_client_differs() {
    let (_, shown) = README.split_once("```rust,no_run\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let other = |line: &&str| !line.contains("Client") && !line.starts_with("use informer::");
    let shown: Vec<_> = shown.lines().filter(other).collect();
    let (_, here) = HELLO.split_once("\n\n").unwrap();
    let here: Vec<_> = here.lines().filter(other).collect();
    assert_eq!(here, shown);
}

#[tokio::test]
async fn it_follows_a_server() {
    let (server, running) = client::server().await;
    let pod = |name: &str| json!({"metadata": {"namespace": "web", "name": name}});
    server
        .with(|server| server.create("pods", pod("a")))
        .unwrap();
    let kubeconfig = std::env::temp_dir().join(format!("informer-hello-{}", std::process::id()));
    std::fs::write(&kubeconfig, running.kubeconfig()).unwrap();

    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/hello");
    let mut program = Command::new(program)
        .env("KUBECONFIG", &kubeconfig)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("`cargo test` builds the example, `cargo test --test over_http` does not");
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    let until = async {
        while said.last().is_none_or(|line: &String| line != "1 pods") {
            said.push(lines.next_line().await.unwrap().unwrap());
        }
        server
            .with(|server| server.create("pods", pod("b")))
            .unwrap();
        while said
            .last()
            .is_none_or(|line: &String| !line.contains("web/b"))
        {
            said.push(lines.next_line().await.unwrap().unwrap());
        }
    };
    let ended = tokio::time::timeout(LONG, until).await;
    std::fs::remove_file(&kubeconfig).unwrap();
    assert!(ended.is_ok(), "{said:#?}");
    running.stop().await;
}
