//! The program itself, against the mock over HTTP. A thread of the test acts as the load server's
//! control interface.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::thread;

use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::{Value, json};

/// The keys that the other programs print.
const KEYS: [&str; 28] = [
    "contender",
    "allocator",
    "strategy",
    "handlers",
    "n",
    "sync_ms",
    "store_ready_ms",
    "sync_cpu_ms",
    "rss_baseline",
    "rss_after_sync",
    "rss_peak",
    "rss_settled",
    "heap_live",
    "rss_end",
    "rss_peak_end",
    "churn_events",
    "churn_seen",
    "churn_ms",
    "churn_events_per_s",
    "churn_cpu_us_per_event",
    "lat_p50_us",
    "lat_p99_us",
    "lat_max_us",
    "lat_cpu_us_per_event",
    "get_ops_s",
    "list_all_us",
    "list_ns_us",
    "index_app_us",
];

fn pod(name: &str, round: u32) -> Value {
    json!({
        "metadata": {
            "namespace": "bench-07",
            "name": name,
            "labels": {"app.kubernetes.io/name": "shop"},
            "annotations": {"round": round.to_string(), "bench.example/sent-ns": "1"},
        },
    })
}

/// Answers each of `asked` requests after two pods and the marker have changed.
fn load_server(server: SharedServer, asked: u32) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let work = move || {
        let mut targets = Vec::new();
        for round in 1..=asked {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            let head = String::from_utf8(head).unwrap();
            targets.push(head.split(' ').nth(1).unwrap().to_owned());
            server.with(|server| {
                for name in ["a", "b", "zz-bench-marker"] {
                    server.update("pods", pod(name, round)).unwrap();
                }
            });
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        }
        targets
    };
    (address, thread::spawn(work))
}

async fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-informer"));
    command.args(arguments);
    let running = tokio::task::spawn_blocking(move || command.output());
    running.await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_form_is_measured_by_either_strategy() {
    let mut forms = vec!["lean", "lean-protobuf", "packed-protobuf", "metadata"];
    if cfg!(feature = "typed") {
        forms.push("typed");
    }
    for form in forms {
        for strategy in ["listwatch", "streaming"] {
            let server = SharedServer::new(Server::new(ServerConfig::new(1)));
            server.with(|server| {
                for name in ["a", "b", "zz-bench-marker"] {
                    server.create("pods", pod(name, 0)).unwrap();
                }
            });
            let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
            let (control, asked) = load_server(server, 2);
            let output = run(&[
                "--url",
                running.url(),
                "--control",
                &control,
                "--form",
                form,
                "--strategy",
                strategy,
                "--handlers",
                "2",
                "--churn",
                "2",
                "--lat-events",
                "2",
                "--lat-rate",
                "50",
            ])
            .await;
            let text = String::from_utf8(output.stdout).unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{form}, {strategy}: {said}");
            assert_eq!(text.lines().count(), 1);
            let report: Value = serde_json::from_str(&text).unwrap();
            for key in KEYS {
                assert!(!report[key].is_null(), "{form}, {strategy}: {key}");
            }
            assert_eq!(report["form"], form);
            assert_eq!(report["strategy"], strategy);
            assert_eq!(report["n"], 3);
            assert_eq!(report["churn_seen"], 3, "the marker counts");
            // All were sent in 1970.
            assert!(report["lat_p50_us"].as_f64() > Some(1e12));
            for above_zero in ["sync_cpu_ms", "rss_baseline", "get_ops_s", "churn_ms"] {
                assert!(report[above_zero].as_f64() > Some(0.0), "{above_zero}");
            }
            assert_eq!(
                asked.join().unwrap(),
                [
                    "/bench/churn?events=2&rate=0&kind=modify",
                    "/bench/churn?events=2&rate=50",
                ]
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_only_received_is_counted_in_bytes() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    server.with(|server| {
        for number in 0..450 {
            server
                .create("pods", pod(&format!("pod-{number}"), 0))
                .unwrap();
        }
    });
    let running = serve(server, HttpConfig::new()).await.unwrap();
    let url = ["--url", running.url()];
    let mut bytes = Vec::new();
    for form in ["received", "received-protobuf"] {
        for strategy in ["listwatch", "streaming"] {
            let how = ["--form", form, "--strategy", strategy];
            let output = run(&[url.as_slice(), &how].concat()).await;
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{form}, {strategy}: {said}");
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            for key in KEYS.iter().filter(|key| **key != "n") {
                assert!(!report[*key].is_null(), "{form}, {strategy}: {key}");
            }
            assert!(report["n"].is_null(), "nothing counts pods");
            bytes.push(report["answer_bytes"].as_u64().unwrap());
        }
    }
    assert!(bytes.iter().all(|bytes| *bytes > 50_000), "{bytes:?}");
    assert!(
        bytes[2] < bytes[0] && bytes[3] < bytes[1],
        "protobuf is shorter: {bytes:?}"
    );

    let output = run(&[url.as_slice(), &["--form", "received", "--churn", "1"]].concat()).await;
    assert_eq!(output.status.code(), Some(1), "there are no changes to see");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_reported_in_one_sentence() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let running = serve(server, HttpConfig::new()).await.unwrap();
    // The mock has no control interface.
    let output = run(&["--url", running.url(), "--churn", "1"]).await;
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("to POST /bench/churn?events=1"), "{said}");
    assert_eq!(said.lines().count(), 1);

    let output = run(&["--url", running.url(), "--form", "fat"]).await;
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kubeconfig_is_enough() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    server.with(|server| server.create("pods", pod("a", 0)).unwrap());
    let running = serve(server, HttpConfig::new()).await.unwrap();
    let name = format!("bench-informer-{}.kubeconfig", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, running.kubeconfig()).unwrap();
    let output = run(&["--kubeconfig", file.to_str().unwrap(), "--reads", "0"]).await;
    std::fs::remove_file(file).unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["n"], 1);

    let output = run(&["--reads", "0"]).await;
    assert_eq!(output.status.code(), Some(2), "nothing to follow");
}
