//! `verify`.

use informer_transport_mock::http::HttpConfig;
use serde_json::{Value, json};

use crate::cluster::{cluster, cluster_with, create};
use crate::program::{Ran, fails, is_refused, program, run};
use crate::server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cache_that_is_the_same_ends_with_0() {
    let (server, running) = cluster().await;
    create(&server, "deployments", "web/d");
    let flags = ["verify", "pods", "deploy", "-A", "--server", running.url()];
    let ran = run(&mut program(&flags));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "pods.v1 at version 5: 3 objects, the same as on the server",
            "deployments.v1.apps at version 5: 1 object, the same as on the server",
        ]
    );
    let flags = ["verify", "pods", "-n", "web", "-l", "app=a", "-o", "json"];
    let ran = run(program(&flags).args(["--server", running.url()]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        answer,
        json!({
            "consistent": true, "name": "pods.v1 in web with labels app=a", "version": "5",
            "objects": 1, "missing": 0, "extra": 0, "differing": 0, "explained": 0,
            "differences": [],
        })
    );
    running.stop().await;
}

fn pod(name: &str, version: &str) -> Value {
    json!({"namespace": "web", "name": name, "uid": name, "resourceVersion": version})
}

/// A server whose watch shows the pods `a` and `c`, and whose list shows `a` and `b`, at `version`.
fn split_brain(version: &'static str) -> String {
    server::serve(move |path| {
        if path.contains("resourceVersionMatch=Exact") {
            return server::list(version, &[pod("a", "6"), pod("b", "5")]);
        }
        if !path.contains("watch=true") {
            return server::list("7", &[pod("a", "6"), pod("c", "4")]);
        }
        if !path.contains("sendInitialEvents=true") {
            return String::new();
        }
        let event = |what: &str, metadata: Value| {
            let object = json!({"kind": "Pod", "apiVersion": "v1", "metadata": metadata});
            json!({"type": what, "object": object}).to_string()
        };
        let end = json!({
            "resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"},
        });
        let events = [
            ("ADDED", pod("a", "6")),
            ("ADDED", pod("c", "4")),
            ("BOOKMARK", end),
        ];
        events
            .map(|(what, metadata)| event(what, metadata))
            .join("\n")
    })
}

fn verify(flags: &[&str], url: &str) -> Ran {
    run(program(&["verify", "pods", "-A", "--server", url]).args(flags))
}

#[test]
fn a_difference_ends_with_1_and_is_named() {
    let url = split_brain("7");
    let ran = verify(&[], &url);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(1), ""));
    for said in ["1 missing, 1 extra", "web/b is missing", "web/c is extra"] {
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);

    let ran = verify(&["-o", "json"], &url);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(1), ""));
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["consistent"], false);
    assert_eq!(answer["differences"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_checked_ends_with_2() {
    // It does not answer with the version that it was asked for.
    let url = split_brain("8");
    let ran = verify(&[], &url);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(
        ran.stderr.starts_with("error: pods.v1 cannot be"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);

    // Nothing is worse than not to know.
    let both = run(&mut program(&[
        "verify", "pods", "pods", "-A", "--server", &url,
    ]));
    assert_eq!((both.status, both.stderr.lines().count()), (Some(2), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_say_what_is_wrong() {
    let mut config = HttpConfig::new();
    config.faults = "after 0 requests refuse 9 403".parse().unwrap();
    let (_, running) = cluster_with(config).await;
    let url = running.url();
    let missing = ["missing permission to list pods in namespace `web`"];
    fails(&["verify", "pods", "-n", "web", "--server", url], &missing);
    running.stop().await;
    is_refused(&["verify"], "RESOURCE");
    is_refused(&["verify", "pods", "--timeout", "soon"], "--timeout");
    let nowhere = "http://127.0.0.1:1";
    fails(
        &["verify", "pods", "--server", nowhere],
        &["127.0.0.1:1", "refused"],
    );
}
