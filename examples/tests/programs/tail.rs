//! A resource of the command line.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::json;

use crate::program::{example, output, run, shown};

#[test]
fn it_prints_a_line_per_change() {
    assert_eq!(output("tail"), shown("tail"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_follows_what_it_is_told_to() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let mut process = example("tail")
        .args(["Deployment", "--server", running.url()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let web = json!({"metadata": {"name": "web"}});
    server
        .with(|server| server.create("deployments", web))
        .unwrap();
    let line = lines.next().unwrap().unwrap();
    assert!(line.starts_with("added default/web ("), "{line}");
    // It does not end with a deletion, as it does on the mock server inside of it.
    for _ in 0..2 {
        server
            .with(|server| server.delete("deployments", "default/web"))
            .unwrap();
        assert_eq!(
            lines.next().unwrap().unwrap(),
            "deleted default/web (observed, watch)"
        );
        let web = json!({"metadata": {"name": "web"}});
        server
            .with(|server| server.create("deployments", web))
            .unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "added default/web (watch)");
    }
    process.kill().unwrap();
    process.wait().unwrap();
    running.stop().await;
}

#[test]
fn an_unknown_resource_is_named() {
    let ran = run(example("tail").arg("podz"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.contains("did you mean `pods`?"),
        "{}",
        ran.stderr
    );
}
