//! Lines for programs.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, serve};
use serde_json::{Value, json};

use super::running::{Tail, tail};
use crate::cluster::{cluster, create, delete, objects, touch};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_a_line() {
    let (server, running) = cluster().await;
    let uids: BTreeMap<String, String> = server.with(|server| {
        let pods = server.objects("pods");
        pods.map(|pod| (pod.key().to_owned(), pod.uid().to_owned()))
            .collect()
    });
    let (a, b) = (&uids["web/a"], &uids["web/b"]);
    let tail = Tail::json(running.url(), &["pods", "-n", "web"]);
    assert_eq!(
        [tail.told(), tail.told(), tail.told()],
        [
            format!(
                r#"{{"on":"add","key":"web/a","uid":"{a}","rv":"2","initial":true,"cause":"relist"}}"#
            ),
            format!(
                r#"{{"on":"add","key":"web/b","uid":"{b}","rv":"3","initial":true,"cause":"relist"}}"#
            ),
            r#"{"on":"synced","count":2}"#.to_owned(),
        ]
    );

    let (uid, rv) = create(&server, "pods", "web/d");
    assert_eq!(
        tail.told(),
        format!(
            r#"{{"on":"add","key":"web/d","uid":"{uid}","rv":"{rv}","initial":false,"cause":"watch"}}"#
        )
    );
    let (old, new) = touch(&server, "web/a");
    assert_eq!(
        tail.told(),
        format!(
            r#"{{"on":"update","key":"web/a","uid":"{a}","old_rv":"{old}","rv":"{new}","cause":"watch"}}"#
        )
    );
    let gone = delete(&server, "web/b");
    assert_eq!(
        tail.told(),
        format!(
            r#"{{"on":"delete","key":"web/b","uid":"{b}","rv":"{gone}","certainty":"observed","cause":"watch"}}"#
        )
    );

    let ran = tail.stop("-INT");
    assert_eq!(
        ran.stdout,
        format!(r#"{{"on":"store","rv":"{gone}","objects":{{"web/a":"{new}","web/d":"{rv}"}}}}"#)
            + "\n"
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_is_printed_with_its_cause() {
    let (server, running) = cluster().await;
    let tail = Tail::json(running.url(), &["pods", "-n", "web"]);
    tail.synced();
    touch(&server, "web/a");
    assert!(tail.told().contains(r#""on":"update""#));

    // While there is no watch, an object is deleted, and the server loses its history.
    let mut config = HttpConfig::new();
    config.address = running.address();
    running.stop().await;
    let lost = tail.phase("waiting");
    for status in &lost {
        assert!(status["cause"].is_string(), "{lost:?}");
    }
    let cause = lost.last().unwrap()["cause"].as_str().unwrap();
    assert!(cause.starts_with("connection refused"), "{cause}");
    let b = server.with(|server| server.get("pods", "web/b").unwrap().uid().to_owned());
    delete(&server, "web/b");
    server.with(Server::restart);
    let running = serve(server.clone(), config).await.unwrap();

    assert_eq!(
        tail.told(),
        format!(
            r#"{{"on":"delete","key":"web/b","uid":"{b}","rv":"3","certainty":"inferred","cause":"relist"}}"#
        )
    );
    let followed = tail.phase("watching");
    assert_eq!(
        followed.last(),
        Some(&json!({"on": "status", "phase": "watching", "cause": null}))
    );
    let ran = tail.stop("-TERM");
    let store: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(store["objects"], objects(&server, "web"));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    running.stop().await;
}

#[cfg(feature = "k8s-openapi")]
const FORMS: &[&str] = &["lean", "metadata", "typed"];
#[cfg(not(feature = "k8s-openapi"))]
const FORMS: &[&str] = &["lean", "metadata"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_strategies_queues_and_forms_print_the_same() {
    let (server, running) = cluster().await;
    let mut rounds = 0;
    for strategy in ["streaming", "listwatch"] {
        for queue in ["delta", "inorder"] {
            for &form in FORMS {
                let way = ["--strategy", strategy, "--queue", queue, "--form", form];
                let tail = Tail::json(running.url(), &[&["pods", "-A"], &way[..]].concat());
                let first = tail.line();
                let begun = match strategy {
                    "listwatch" => r#"{"on":"status","phase":"listing","cause":null}"#,
                    _ => r#"{"on":"status","phase":"streaming","cause":null}"#,
                };
                assert_eq!(first, begun);
                assert_eq!(tail.synced().len(), 3, "{way:?}");
                let (old, new) = touch(&server, "db/c");
                let line: Value = serde_json::from_str(&tail.told()).unwrap();
                assert_eq!(
                    (&line["on"], &line["key"]),
                    (&"update".into(), &"db/c".into())
                );
                assert_eq!((&line["old_rv"], &line["rv"]), (&old.into(), &new.into()));
                let ran = tail.stop("-INT");
                let store: Value = serde_json::from_str(&ran.stdout).unwrap();
                assert_eq!(store["objects"], objects(&server, ""), "{way:?}");
                rounds += 1;
            }
        }
    }
    assert_eq!(rounds, 4 * FORMS.len());
    running.stop().await;
}

#[cfg(feature = "k8s-openapi")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_does_not_fit_its_type_is_left_out_with_a_warning() {
    let (server, running) = cluster().await;
    server.with(|server| {
        let odd =
            json!({"metadata": {"namespace": "web", "name": "odd"}, "spec": {"containers": 7}});
        server.create("pods", odd).unwrap();
    });
    let tail = Tail::json(running.url(), &["pods", "-n", "web", "--form", "typed"]);
    assert_eq!(tail.synced().len(), 2);
    let ran = tail.stop("-INT");
    assert_eq!(ran.status, Some(0));
    assert!(
        ran.stderr.starts_with("warning: web/odd is left out: "),
        "{}",
        ran.stderr
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_pipe_ends_it_quietly() {
    let (server, running) = cluster().await;
    let mut child = tail(&["pods", "-A", "-o", "json", "--server", running.url()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let synced = lines
        .map(Result::unwrap)
        .find(|line| line == r#"{"on":"synced","count":3}"#);
    // The reader closes the pipe, as `head` does.
    assert!(synced.is_some());
    create(&server, "pods", "web/d");
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    running.stop().await;
}

#[test]
fn it_can_be_stopped_while_the_server_does_not_answer() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let tail = Tail::json(&url, &["pods"]);
    // The program is connected and waits for an answer.
    let connection = silent.accept().unwrap();
    let ran = tail.stop("-TERM");
    assert_eq!(
        ran.stdout,
        "{\"on\":\"store\",\"rv\":\"\",\"objects\":{}}\n"
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    drop(connection);
}
